package k0rdent

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// removedProviders holds the providers that a cluster needs and that the Management or Region in, of its credential, no
// longer has: those that kcm uninstalls at once, and those that kcm refuses to remove while the cluster exists. kcm looks
// up the template of a provider in the current Release, and uninstalls a provider without a template (kcm v1.11.4 and
// v1.12.0-rc2, internal/webhook/management_webhook.go, checkComponentsRemoval).
type removedProviders struct {
	in                   *reconcile.Object
	uninstalled, refused []string
}

// removedProviders returns the removed providers that a removed cluster needs.
func (r removal) removedProviders(o *reconcile.Object) removedProviders {
	needs, ok := r.was.needs(o)
	source := r.was.credentialOf(o)
	if !ok || source == nil {
		return removedProviders{}
	}
	in := r.was.regional(source)
	if in == nil || r.is.All[in.Identity] == nil {
		return removedProviders{}
	}
	out := removedProviders{in: r.is.All[in.Identity]}
	kept := map[string]bool{}
	for i := range out.in.List("spec", "providers") {
		kept[out.in.Text("spec", "providers", i, "name")] = true
	}
	before, after := r.was.released(), r.is.released()
	for i := range in.List("spec", "providers") {
		name := in.Text("spec", "providers", i, "name")
		brings, _ := r.was.brings(in, i, before)
		if r.was.steps += 1 + len(needs)*len(brings); r.was.steps > limits.Comparisons {
			break // judge reports it
		}
		if kept[name] || !slices.ContainsFunc(brings, func(one string) bool { return slices.Contains(needs, one) }) {
			continue
		}
		template := cmp.Or(in.Text("spec", "providers", i, "template"), after[name])
		if r.Gone(reconcile.Identity{Group: group, Kind: providerTemplate, Name: template}) || template == "" && r.is.releaseOf() != nil {
			out.uninstalled = append(out.uninstalled, fmt.Sprintf("provider %s of %s", name, in))
		} else {
			out.refused = append(out.refused, name)
		}
	}
	return out
}

// deadlock returns the finding about providers that kcm refuses to remove before a cluster, if the Kustomization that
// prunes the cluster does so only after the Management is applied. ok reports whether this is the case.
func (r removal) deadlock(o *reconcile.Object, g removedProviders) (f finding.Finding, ok bool) {
	if len(g.refused) == 0 || g.in.Kustomization == nil {
		return f, false
	}
	k, there := r.Is.Cluster.Kustomization(o.Kustomization.Namespace, o.Kustomization.Name)
	in, kept := r.Is.Cluster.Kustomization(g.in.Kustomization.Namespace, g.in.Kustomization.Name)
	if !there || !kept || k != in && !before(r.Is.Cluster, k)[in] {
		return f, false // the cluster is pruned meanwhile, and the next attempt succeeds
	}
	how := fmt.Sprintf("waits for %s, which applies the %s", in, g.in.Kind)
	if k == in {
		how = "applies the " + g.in.Kind + " first"
	}
	return finding.Finding{
		Message: fmt.Sprintf("%s is removed together with provider %s, and kcm refuses to remove the provider from %s first: Kustomization %s, which prunes the cluster, %s",
			o, listed(g.refused), g.in, k, how),
		Hint: "remove the ClusterDeployment first, and the provider after the cluster is deleted",
	}, true
}
