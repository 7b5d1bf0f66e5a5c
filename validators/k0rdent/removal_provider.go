package k0rdent

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// givenUp are the providers that a cluster needs and that its Management or Region, in, gives up: those
// that kcm takes away at once, and those that it refuses to take away as long as the cluster is there.
// It looks a provider's template up in the Release as this is by then, and lets go of one without any
// (kcm v1.11.4 and v1.12.0-rc2, internal/webhook/management_webhook.go, checkComponentsRemoval).
type givenUp struct {
	in             *reconcile.Object
	taken, refused []string
}

// givenUp are those of a cluster that is taken out.
func (r removal) givenUp(o *reconcile.Object) givenUp {
	needs, ok := r.was.needs(o)
	source := r.was.credentialOf(o)
	if !ok || source == nil {
		return givenUp{}
	}
	in := r.was.regional(source)
	if in == nil || r.is.All[in.Identity] == nil {
		return givenUp{}
	}
	out := givenUp{in: r.is.All[in.Identity]}
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
			out.taken = append(out.taken, fmt.Sprintf("provider %s of %s", name, in))
		} else {
			out.refused = append(out.refused, name)
		}
	}
	return out
}

// deadlock is what to report of providers that kcm refuses to take away before a cluster, where the
// Kustomization that prunes it comes to that only after the Management is applied; ok says that it is so.
func (r removal) deadlock(o *reconcile.Object, g givenUp) (f finding.Finding, ok bool) {
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
