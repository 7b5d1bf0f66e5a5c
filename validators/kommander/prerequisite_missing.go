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
	Why: `A repository that installs Kommander step by step needs two prerequisites that the steps do not install:
cert-manager for the certificate authority, and the application kommander, whose chart defines the kinds of
workspaces, projects, groups and attached clusters. Without them, the Kustomization that applies the first such
object never becomes ready, and its dependents are never applied.

The rule checks clusters in which the controller of AppDeployments (the chart kommander-appmanagement) is a
HelmRelease in Git. On a cluster that an installer created, Git has no such HelmRelease, and Kommander and
cert-manager exist. The rule reports a prerequisite that nothing in the repository installs: no HelmRelease, AppDeployment
or definition, and no script, bootstrap or text file that mentions cert-manager or an installer (konvoy, dkp, nkp).`,
	Fix: `Add a HelmRelease of cert-manager that is installed before (an Addon of the specification); add the application
kommander (spec.definitions and spec.applications of the Kommander). If they are installed in another way,
ignore the rule with that reason in .fleetwright.yaml.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			if slices.ContainsFunc(w.Objects, func(o *reconcile.Object) bool { return w.Chart(o) == appManagementChart }) {
				w.lacking(p, platform.CertManager, "cert-manager", "an Addon with the chart cert-manager")
				w.lacking(p, kommander, "Kommander", "the application kommander to spec.definitions and spec.applications")
			}
		}
	},
}

// appManagementChart is the chart of the controller that reconciles AppDeployments.
const appManagementChart = "kommander-appmanagement"

// kommander is Kommander as a prerequisite. It is installed by its chart, by a script, or by an AppDeployment
// on the management cluster.
var kommander = platform.Prerequisite{
	Groups: []string{workspacesGroup, schemas.KommanderGroup}, Chart: "kommander", Words: []string{"konvoy", "dkp", "nkp"},
	Brings: func(o *reconcile.Object) bool {
		return o.Group == appsGroup && o.Kind == deployment && kommanderApp.MatchString(o.Text("spec", "appRef", "name"))
	},
}

// kommanderApp matches the name of the application kommander with a version.
var kommanderApp = regexp.MustCompile(`^kommander-(v?[0-9]|\$)`)

// lacking reports the first object whose kind a prerequisite defines, if nothing installs the prerequisite.
func (w *managementCluster) lacking(p *rule.Pass, of platform.Prerequisite, name, add string) {
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
