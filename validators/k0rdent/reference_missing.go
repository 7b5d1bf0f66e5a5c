package k0rdent

import (
	"cmp"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ReferenceMissing is k0rdent-reference-missing.
var ReferenceMissing = rule.Rule{
	ID:       "k0rdent-reference-missing",
	Title:    "a region, data source, policy or authentication that does not exist",
	Severity: finding.Error,
	Why: `kcm ignores or refuses an object with a reference to an object that does not exist. A Credential whose Region
does not exist never becomes ready, and clusters that use it are refused; a Region whose ClusterDeployment does
not exist is refused, too. A ClusterDeployment waits forever for a missing dataSource, clusterAuth, auditPolicy
or ipamClaim.ref, all in its own namespace. Services wait forever for a missing StateManagementProvider of their
serviceSpec; ksm-projectsveltos is kcm's own. An object that a cluster still references is not deleted either.

The AccessManagement distributes data sources, policies and authentications from kcm-system. If Git has no
object of the kind at all, the reference is unresolved. Secrets with the kubeconfig of a Region are unresolved,
too.`,
	Fix: `Correct the name, add the object, or distribute it to the namespace with an access rule of the AccessManagement.`,
	Run: func(p *rule.Pass) {
		dangling(p, otherReferences, map[string]string{"": "kcm does not reconcile it until the object exists"})
	},
}

// serviceProvider is the StateManagementProvider that kcm creates (kcm internal/util/kube).
const serviceProvider = "ksm-projectsveltos"

// otherReferences returns the references to regions, data sources, policies, authentications and providers of services.
func otherReferences(w *managementCluster) []platform.Reference {
	var out []platform.Reference
	for _, kind := range []string{clusterAuth, dataSource, auditPolicy} {
		out = append(out, accessReferences(w, kind)...)
	}
	for _, o := range w.Own {
		switch o.Kind {
		case credential:
			out = append(out, reference(o, region, "", "spec", "region"))
		case region:
			out = append(out, reference(o, clusterKind, o.Text("spec", "clusterDeployment", "namespace"), "spec", "clusterDeployment", "name"))
			if r := platform.Of(o, "", "Secret", system, "spec", "kubeConfig", "name"); !w.isCreatedSecret(reconcile.Identity{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}) {
				out = append(out, r)
			}
		case clusterKind:
			out = append(out,
				reference(o, dataSource, o.Namespace, "spec", "dataSource"),
				reference(o, clusterAuth, o.Namespace, "spec", "clusterAuth"),
				reference(o, auditPolicy, o.Namespace, "spec", "auditPolicy"),
				reference(o, "ClusterIPAMClaim", o.Namespace, "spec", "ipamClaim", "ref"))
		}
		if o.Kind == clusterKind || o.Kind == serviceKind {
			if r := reference(o, "StateManagementProvider", "", "spec", "serviceSpec", "provider", "name"); r.Name != serviceProvider {
				out = append(out, r)
			}
		}
	}
	return out
}

// regional returns the Region of a credential, or the Management if it has none: its providers create the clusters with
// this credential. It returns nil if Git does not have it.
func (w *managementCluster) regional(credential *reconcile.Object) *reconcile.Object {
	name, kind := credential.Text("spec", "region"), region
	if name == "" {
		kind = management
	}
	return w.one(reconcile.Identity{Group: group, Kind: kind, Name: cmp.Or(name, "kcm")})
}
