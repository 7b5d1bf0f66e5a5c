package k0rdent

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	kubescheme "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// TemplateEdited is k0rdent-template-edited.
var TemplateEdited = rule.Rule{
	ID:       "k0rdent-template-edited",
	Title:    "a change to an immutable field",
	Severity: finding.Error,
	Why: `The spec of a template or chain, and some fields of other kinds such as a Credential's region, are immutable: a
validation rule of the CRD refuses the update, and with it the whole Kustomization. New content needs a new
object with a new name, which is why names contain versions. kcm's webhook also refuses to add a dataSource to a
ClusterDeployment, or to remove it.

The rule checks a change since a revision: validate --changed-since REV. It evaluates the rules of the kind's
schema, with the defaults of the schema and of kcm's webhooks. Therefore an explicit default is not a change,
nor is a duration in another notation.`,
	Fix: `Revert the change, and add an object with a new name: a template with its new version, a chain that supports it,
and a rule of the AccessManagement that names the new chain.`,
	Run: func(p *rule.Pass) {
		for change := range platform.Changes(p, group) {
			edit(p, change.Was, change.Is)
			if change.Is.Kind == clusterKind {
				sourceEdited(p, change.Was, change.Is)
			}
		}
	},
}

// edit reports changes to immutable fields of an object.
func edit(p *rule.Pass, was, o *reconcile.Object) {
	s, known := schemas.Lookup(kubescheme.FromAPIVersionAndKind(o.APIVersion, o.Kind))
	if !known {
		return
	}
	before, after := schemas.Admitted(was.Value), schemas.Admitted(o.Value)
	for _, problem := range s.Transition(before, after) {
		at := changedAt(before, after, problem.Path)
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("%s is changed in %s, which the API server refuses: %s", o, schemas.Field(at), problem.Message),
			Hint:    "revert the change, and add an object with a new name",
		}, at...)
	}
}

// sourceEdited reports a cluster to which a data source is added, or from which it is removed.
func sourceEdited(p *rule.Pass, was, o *reconcile.Object) {
	had, has := was.Text("spec", "dataSource") != "", o.Text("spec", "dataSource") != ""
	if had == has {
		return
	}
	what := map[bool]string{true: "now has a dataSource", false: "no longer has a dataSource"}[has]
	p.ReportBuilt(o, finding.Finding{
		Message: fmt.Sprintf("%s %s, which is refused: it cannot be added or removed later", o, what),
		Hint:    "revert the change, and create another cluster",
	}, "spec", "dataSource")
}

// changedAt returns the path of the first field below a path whose value differs.
func changedAt(old, fresh map[string]any, path []any) []any {
	was, is := valueAt(old, path), valueAt(fresh, path)
	a, ok := was.(map[string]any)
	b, both := is.(map[string]any)
	if ok && both {
		for _, key := range slices.Sorted(maps.Keys(b)) {
			if !reflect.DeepEqual(a[key], b[key]) {
				return changedAt(old, fresh, append(path[:len(path):len(path)], key))
			}
		}
	}
	return path
}
