package k0rdent

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// RemovalOrder is k0rdent-removal-order.
var RemovalOrder = rule.Rule{
	ID:       "k0rdent-removal-order",
	Title:    "a cluster that is removed together with objects that its deletion needs",
	Severity: finding.Error,
	Why: `To delete a cluster, k0rdent needs the Credential that its ClusterDeployment names, and Cluster API's provider
needs the identity and the Secret of that Credential to sign in to the cloud. If one of them is removed in the
same change, the ClusterDeployment stays in deletion forever. The cluster in the cloud keeps costing money and
can only be deleted by hand. The order of the Kustomizations does not help: Flux does not wait until pruned
objects are gone, and deleting a cluster takes many minutes.

The cluster's namespace, and the access rule that distributes the Credential to it, are needed as well, since
without the rule kcm removes the copy of the Credential. kcm refuses to delete a template while the cluster
exists: if the Kustomization that prunes the cluster waits for the one with the template, neither ever finishes.

The Cluster API providers that the cluster's template needs must also stay, in the Management or in the Region
of its credential. A provider that is removed there and from the Release, or together with its ProviderTemplate,
is uninstalled at once, and nothing is left to delete the cluster. If the Release keeps the provider, kcm
refuses to remove it while the cluster exists: if the Kustomization that prunes the cluster waits for the one
with the Management, or is the same one, neither ever finishes.

The rule checks a change since a revision: validate --changed-since REV. It skips objects that Flux does not
prune (kustomize.toolkit.fluxcd.io/prune: disabled, deletionPolicy: Orphan), and checks only objects in Git.`,
	Fix: `Remove only the cluster first. Remove everything else in a later change, when the cluster is gone:

  kubectl get clusterdeployments --all-namespaces`,
	Run: func(p *rule.Pass) {
		for _, r := range platform.Removals(p, group) {
			removal{r, newManagementCluster(r.Was), newManagementCluster(r.Is)}.judge(p)
		}
	},
}

// removal is a change that removes objects from a management cluster.
type removal struct {
	platform.Removal
	was, is *managementCluster
}

func (r removal) judge(p *rule.Pass) {
	for _, o := range r.was.Of(clusterKind) {
		if !r.Gone(o.Identity) {
			continue
		}
		question := fmt.Sprintf("whether %s is removed together with objects that its deletion needs", o)
		providers := r.removedProviders(o)
		needs := append(r.needs(o), providers.uninstalled...)
		if max(r.was.steps, r.is.steps) > limits.Comparisons {
			r.Report(p, o, rule.Exceeded(finding.Finding{}, question+", like everything that is checked after it,", tooMuchOf), question)
			return
		}
		if len(needs) > 0 {
			r.Report(p, o, finding.Finding{
				Message: fmt.Sprintf("%s is removed together with %s, without which k0rdent cannot delete the cluster", o, platform.List(needs)),
				Hint:    "remove the ClusterDeployment first, and the rest after the cluster is deleted",
			}, question)
		}
		if f, stuck := r.deadlock(o, providers); stuck {
			r.Report(p, o, f, question)
		}
		for _, template := range r.refused(o) {
			r.Report(p, o, finding.Finding{
				Message: fmt.Sprintf("%s is removed together with %s, and kcm refuses to delete the template first: Kustomization %s, which prunes the cluster, waits for %s, which prunes the template",
					o, template, o.Kustomization, template.Kustomization),
				Hint: "remove the ClusterDeployment first, and the template after the cluster is deleted",
			}, question)
		}
	}
}

// needs returns the objects that are removed together with a cluster although its deletion needs them.
func (r removal) needs(o *reconcile.Object) []string {
	var out []string
	add := func(of *reconcile.Object) {
		if of != nil && r.Gone(of.Identity) && (of.Kind != "Secret" || !r.is.isCreatedSecret(of.Identity)) {
			out = append(out, of.String())
		}
	}
	add(r.was.namespaces[o.Namespace])
	ref := reference(o, credential, o.Namespace, "spec", "credential")
	id := reconcile.Identity{Group: group, Kind: credential, Namespace: ref.Namespace, Name: ref.Name}
	source := r.was.All[id]
	if source == nil && o.Namespace != system {
		if r.noLongerDistributed(ref) {
			out = append(out, fmt.Sprintf("the access rule that distributes %s to it", ref))
		}
		id.Namespace = system
		source = r.was.All[id]
	}
	if source == nil {
		return out
	}
	add(source)
	identity := r.was.identity(identityOf(source))
	add(identity)
	add(r.was.secretNamed(identity))
	return out
}

// noLongerDistributed reports whether the AccessManagement distributed an object to a namespace before the change, and no
// longer does. If no AccessManagement is left, its previous rules stay in effect, because kcm refuses to delete it.
func (r removal) noLongerDistributed(ref platform.Reference) bool {
	if is, _ := r.was.isDistributed(ref); !is || r.is.Has(ref) || len(r.is.Of(accessKind)) == 0 {
		return false
	}
	is, doubt := r.is.isDistributed(ref)
	return !is && doubt == ""
}

// secretNamed returns the Secret that an identity names; nil if the identity is a Secret itself, or Git does not have it.
func (w *managementCluster) secretNamed(identity *reconcile.Object) *reconcile.Object {
	if identity == nil {
		return nil
	}
	r := secretReference(identity)
	return w.All[reconcile.Identity{Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}]
}

// refused returns the templates of a cluster that are removed, too, and that kcm refuses to delete: the Kustomization
// that prunes the cluster waits for the one that prunes them.
func (r removal) refused(o *reconcile.Object) []*reconcile.Object {
	k, there := r.Is.Cluster.Kustomization(o.Kustomization.Namespace, o.Kustomization.Name)
	if !there {
		return nil // the Kustomization is deleted without waiting for anything
	}
	first := before(r.Is.Cluster, k)
	var out []*reconcile.Object
	add := func(of *reconcile.Object, kind, namespace string, path ...any) {
		template := r.was.All[reconcile.Identity{Group: group, Kind: kind, Namespace: namespace, Name: of.Text(path...)}]
		if template == nil || !r.Gone(template.Identity) || slices.Contains(out, template) {
			return
		}
		if t, kept := r.Is.Cluster.Kustomization(template.Kustomization.Namespace, template.Kustomization.Name); kept && first[t] {
			out = append(out, template)
		}
	}
	add(o, clusterTemplate, o.Namespace, "spec", "template")
	serviceReferences(o, o.Namespace, add)
	return out
}
