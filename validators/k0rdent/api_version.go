package k0rdent

import (
	"fmt"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// The API versions of k0rdent's kinds. kcm serves the older one up to 1.0, and the newer one from 1.0 on
// (kcm's definitions at v0.3.0, v1.0.0 and v1.1.0).
const (
	older = group + "/v1alpha1"
	newer = group + "/v1beta1"
)

// APIVersion is k0rdent-api-version.
var APIVersion = rule.Rule{
	ID:       "k0rdent-api-version",
	Title:    "an object in an API version that kcm does not serve",
	Severity: finding.Warning,
	Why: `kcm serves k0rdent.mirantis.com/v1alpha1 up to 1.0, and v1beta1 from 1.0 on. If kcm does not serve the version of
an object, Flux applies nothing of its Kustomization. The finding is an error if Git shows such a version of kcm, by
the Release of the Management or by kcm's HelmRelease, and a warning if it shows 1.0 or none.

v1beta1 of kcm 1.0 has all fields of v1alpha1 with the same meaning, so only apiVersion changes. kcm 1.0 serves both
versions and stores v1beta1: upgrade an older kcm to 1.0, change the objects in Git, and then upgrade kcm further. Since
kcm 1.3 valuesFrom of a service has neither namespace nor optional, which schema-unknown-field reports in v1beta1.`,
	Fix: `Write k0rdent.mirantis.com/v1beta1, once kcm 1.0 is installed. validate --fix writes it.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			v := w.running()
			for _, o := range w.Own {
				w.checkAPIVersion(p, o, v)
			}
		}
	},
}

// running returns the version of kcm that Git shows, nil if it shows none.
func (w *managementCluster) running() *semver.Version {
	if v := w.version(); v != nil || w.kcm == nil || w.kcm.version == "" {
		return v
	}
	return semver.MustParse(w.kcm.version)
}

// checkAPIVersion reports an object in an API version that version v of kcm, or the next one, does not serve.
func (w *managementCluster) checkAPIVersion(p *rule.Pass, o *reconcile.Object, v *semver.Version) {
	before := v != nil && v.Major() == 0
	switch {
	case o.APIVersion == newer && before:
		p.ReportBuilt(o, finding.Finding{
			Severity: finding.Error,
			Message:  fmt.Sprintf("%s of %s does not exist in kcm %s: Flux cannot apply it", o.APIVersion, o, v),
			Hint:     "upgrade kcm to 1.0, which serves both versions, or write " + older,
		}, "apiVersion")
	case o.APIVersion == older && !before:
		f := finding.Finding{
			Message: fmt.Sprintf("%s of %s is removed in kcm 1.1", o.APIVersion, o),
			Hint:    "write " + newer + ", which has the same fields, once kcm 1.0 is installed",
			Fix:     p.ReplaceText(o, newer, "apiVersion"),
		}
		if v != nil && !v.LessThan(semver.MustParse("1.1.0-0")) {
			f.Severity = finding.Error
			f.Message = fmt.Sprintf("kcm %s does not serve %s of %s: Flux cannot apply it", v, o.APIVersion, o)
			f.Hint = "write " + newer
		}
		p.ReportBuilt(o, f, "apiVersion")
	}
}
