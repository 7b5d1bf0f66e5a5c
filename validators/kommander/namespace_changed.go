package kommander

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// NamespaceChanged is kommander-namespace-changed.
var NamespaceChanged = rule.Rule{
	ID:       "kommander-namespace-changed",
	Title:    "a new namespace for an existing workspace or project",
	Severity: finding.Error,
	Why: `The namespaceName of a Workspace or Project is immutable. A change is refused, and with it the whole
Kustomization.

The rule checks a change since a revision: validate --changed-since REV.`,
	Fix: `Revert the change, or create a workspace or project with a new name.`,
	Run: func(p *rule.Pass) {
		for change := range platform.Changes(p, workspacesGroup) {
			was, is := change.Was.Text("spec", "namespaceName"), change.Is.Text("spec", "namespaceName")
			if kind := change.Is.Kind; kind != workspace && kind != project || was == "" || is == "" || was == is || platform.Unknown(was+is) {
				continue
			}
			p.ReportBuilt(change.Is, finding.Finding{
				Message: fmt.Sprintf("%s has namespace %q, which cannot be changed to %q", change.Is, was, is),
				Hint:    "revert the change, or also rename the object",
			}, "spec", "namespaceName")
		}
	},
}
