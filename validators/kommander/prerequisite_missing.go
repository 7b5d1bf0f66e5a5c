package kommander

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PrerequisiteMissing is kommander-prerequisite-missing.
var PrerequisiteMissing = rule.Rule{
	ID:       "kommander-prerequisite-missing",
	Title:    "a Kommander installation without its CRDs, or without cert-manager",
	Severity: finding.Warning,
	Why: `A repository that installs Kommander step by step needs two things which the steps only use: cert-manager for the
certificate authority, and for workspaces, projects, groups and attached clusters the application kommander, whose chart
defines those kinds. Without them the Kustomization that applies the first such object is never ready, and what waits for it
is never applied.

Looked at are clusters whose controller of AppDeployments (the chart kommander-appmanagement) is a HelmRelease in Git.
Where an installer has made the cluster there is none, and Kommander and cert-manager are there. Told is where nothing in the
repository brings them: no HelmRelease, AppDeployment or definition, and no script, bootstrap or text that speaks of
cert-manager or of an installer (konvoy, dkp, nkp).`,
	Fix: `Add a HelmRelease of cert-manager that comes before (an Addon of the specification); add the application kommander
(spec.definitions and spec.applications of the Kommander). Where they are installed in another way, say so: ignore the rule
with that reason in .fleetwright.yaml.`,
	Run: func(p *rule.Pass) {
		for _, w := range worlds(p) {
			if slices.ContainsFunc(w.Objects, func(o *reconcile.Object) bool { return w.Chart(o) == appManagementChart }) {
				w.lacking(p, platform.CertManager, "cert-manager", "an Addon with the chart cert-manager")
				w.lacking(p, kommander, "Kommander", "the application kommander to spec.definitions and spec.applications")
			}
		}
	},
}

// appManagementChart is the controller of AppDeployments.
const appManagementChart = "kommander-appmanagement"

// kommander is Kommander itself, as an application of the management cluster or otherwise.
var kommander = platform.Prerequisite{
	Groups: []string{workspacesGroup, schemas.KommanderGroup}, Chart: "kommander", Words: []string{"konvoy", "dkp", "nkp"},
	Brings: func(o *reconcile.Object) bool {
		return o.Group == appsGroup && o.Kind == deployment && kommanderApp.MatchString(o.Text("spec", "appRef", "name"))
	},
}

// kommanderApp is a version of the application kommander.
var kommanderApp = regexp.MustCompile(`^kommander-(v?[0-9]|\$)`)

// lacking reports the first object of kinds that something defines which nothing installs.
func (w *world) lacking(p *rule.Pass, of platform.Prerequisite, name, add string) {
	i := slices.IndexFunc(w.Objects, func(o *reconcile.Object) bool { return slices.Contains(of.Groups, o.Group) })
	if i < 0 || !w.Lacks(p, of) {
		return
	}
	o := w.Objects[i]
	w.ReportLacking(p, o, finding.Finding{
		Message: fmt.Sprintf("this repository does not install %s, which defines kind %s: Kustomization %s and its dependents never become ready", name, o.Kind, o.Kustomization),
		Hint:    fmt.Sprintf("add %s; if %s is installed in another way, ignore the rule with that reason", add, name),
	}, fmt.Sprintf("whether %s, which defines kind %s, is installed", name, o.Kind), "kind")
}
