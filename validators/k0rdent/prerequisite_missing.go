package k0rdent

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PrerequisiteMissing is k0rdent-prerequisite-missing. Source for kcm's dependency on cert-manager: kcm v1.11.4,
// internal/controller/components/values.go.
var PrerequisiteMissing = rule.Rule{
	ID:       "k0rdent-prerequisite-missing",
	Title:    "kcm without cert-manager",
	Severity: finding.Warning,
	Why: `kcm installs cert-manager itself, unless its values set regional.cert-manager.enabled: false. Until
cert-manager's API is available, kcm enables neither its webhook nor the Cluster API operator: the Management
never becomes ready, and its dependents are never applied.

The rule reports a cluster if kcm's own cert-manager is disabled and nothing in the repository installs another one: no
HelmRelease of the chart cert-manager, no definition of its kinds, and no script, bootstrap or text file that mentions it.`,
	Fix: `Add a HelmRelease of cert-manager that is installed before kcm (an Addon of the specification), or remove the
value. If cert-manager is installed in another way, ignore the rule with that reason in .fleetwright.yaml.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			o, path := w.withoutCertManager()
			if o == nil || !w.Lacks(p, platform.CertManager) {
				continue
			}
			w.ReportLacking(p, o, finding.Finding{
				Message: fmt.Sprintf("%s disables kcm's cert-manager, and this repository installs no other one: the Management never becomes ready", o),
				Hint:    "add cert-manager, or remove the value; if cert-manager is installed in another way, ignore the rule with that reason",
			}, "whether cert-manager, which kcm requires, is installed", path...)
		}
	},
}

// withoutCertManager returns the object that disables the cert-manager of kcm's chart, and the path of the value: the
// Management, whose values take precedence, or the HelmRelease if Git has no Management. It returns nil if neither
// disables it.
func (w *managementCluster) withoutCertManager() (*reconcile.Object, []any) {
	at := []any{"spec", "core", "kcm", "config", "regional", "cert-manager", "enabled"}
	if m := w.Of(management); len(m) > 0 {
		if m[0].Field(at...) == false {
			return m[0], at
		}
		return nil, nil
	}
	at = []any{"spec", "values", "regional", "cert-manager", "enabled"}
	for _, o := range w.Objects {
		if w.Chart(o) == "kcm" && o.Field(at...) == false {
			return o, at
		}
	}
	return nil, nil
}
