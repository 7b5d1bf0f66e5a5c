package k0rdent

import (
	"fmt"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/kcm"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ClusterUnfit is k0rdent-cluster-unfit.
var ClusterUnfit = rule.Rule{
	ID:       "k0rdent-cluster-unfit",
	Title:    "a cluster whose credential or services do not match its template",
	Severity: finding.Error,
	Why: `kcm's webhook refuses a ClusterDeployment

- whose credential has an identity of a kind that the infrastructure of its template does not accept, such as an
  AWSClusterStaticIdentity for a cluster in Azure,
- with a service whose template has a k8sConstraint that the k8sVersion of the cluster's template does not
  satisfy.

A template whose k8sVersion is not a version, or whose k8sConstraint is not a version range, never becomes
valid.

The rule knows the identity kinds of kcm's own providers and of ProviderInterfaces in Git. It knows the
infrastructure of templates that declare it in spec.providers, and of kcm's own charts. It knows versions that
are in the templates, but not those in their charts.`,
	Fix: `Use a Credential for the infrastructure of the template. Use a version of the service that supports the
Kubernetes version, or a version of the cluster template with another Kubernetes version.`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			for _, o := range w.Own {
				switch o.Kind {
				case clusterKind:
					w.checkIdentity(p, o)
					w.checkVersions(p, o)
				case clusterTemplate, serviceTemplate:
					checkVersion(p, o)
				}
			}
		}
	},
}

// checkIdentity reports a cluster whose credential has an identity of a kind that the cluster's infrastructure does not
// accept.
func (w *managementCluster) checkIdentity(p *rule.Pass, o *reconcile.Object) {
	cred := w.credentialOf(o)
	needs, known := w.needs(o)
	const question = "has a credential that matches its template"
	w.steps += len(needs)
	if w.exceedsLimit(o, question, "spec", "credential") || cred == nil || !known || platform.Unknown(o.Text("spec", "template")) {
		return // reported by another rule, or unknown
	}
	kind := identityOf(cred).Kind
	if kind == "" || platform.Unknown(kind) {
		return
	}
	for _, provider := range kcm.Infrastructures(needs) {
		kinds := w.identities[provider]
		if len(kinds) == 0 {
			kinds = kcm.Identities(provider)
		}
		w.steps += 1 + len(kinds)
		if w.exceedsLimit(o, question, "spec", "credential") || len(kinds) == 0 || slices.Contains(kinds, kind) {
			continue
		}
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("%s uses template %s for %s, but %s has an identity of kind %s: kcm refuses it", o, o.Text("spec", "template"), provider, cred, kind),
			Hint:    provider + " accepts " + listed(kinds),
		}, "spec", "credential")
	}
}

// checkVersions reports the services of a cluster that do not support its version of Kubernetes.
func (w *managementCluster) checkVersions(p *rule.Pass, o *reconcile.Object) {
	template := w.used(clusterTemplate, o.Namespace, o.Text("spec", "template"))
	if template == nil {
		return
	}
	version, err := semver.NewVersion(template.Text("spec", "k8sVersion"))
	if err != nil {
		return // checkVersion reports it, or only the chart contains the version
	}
	for i := range o.List(servicesAt...) {
		if o.Field(at(servicesAt, i, "disable")...) == true {
			continue
		}
		of := w.used(serviceTemplate, o.Namespace, o.Text(at(servicesAt, i, "template")...))
		if of == nil || of.Text("spec", "k8sConstraint") == "" {
			continue
		}
		wanted, err := semver.NewConstraint(of.Text("spec", "k8sConstraint"))
		if err != nil || wanted.Check(version) {
			continue
		}
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("%s runs Kubernetes %s (template %s), but its service %s requires %s: kcm refuses it",
				o, version.Original(), template.Name, of.Name, of.Text("spec", "k8sConstraint")),
		}, at(servicesAt, i, "template")...)
	}
}

// checkVersion reports a version or constraint of a template that kcm cannot parse.
func checkVersion(p *rule.Pass, o *reconcile.Object) {
	field, what := "k8sVersion", "a version, such as v1.34.1"
	_, err := semver.NewVersion(o.Text("spec", field))
	if o.Kind == serviceTemplate {
		field, what = "k8sConstraint", "a range of versions, such as >= 1.32"
		_, err = semver.NewConstraint(o.Text("spec", field))
	}
	text := o.Text("spec", field)
	if err == nil || text == "" || platform.Unknown(text) {
		return
	}
	p.ReportBuilt(o, finding.Finding{
		Message: fmt.Sprintf("%s has an invalid %s %q: the template never becomes valid", o, field, text),
		Hint:    "write " + what,
	}, "spec", field)
}
