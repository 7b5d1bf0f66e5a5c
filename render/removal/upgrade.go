package removal

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/strict"
)

// upgraded reports whether a guard is about an object that kcm creates only at its first installation. It records the
// guard if the specification has another version of kcm and still leaves the object to kcm.
func (r *removal) upgraded(g generators.Guard) bool {
	toggle, _ := g.CreatedOnce()
	if toggle == "" {
		return false
	}
	still := generators.Guard{Kind: g.Kind, Cluster: g.Cluster, Product: g.Product, Part: toggle}.String() + "/"
	if !r.allows(allowProduct, path.Join(g.Product, g.Part)) && slices.ContainsFunc(r.Guards, func(now string) bool { return strings.HasPrefix(now, still) }) {
		r.upgrades = append(r.upgrades, g)
	}
	return true
}

// upgrade returns the error about an object that kcm does not upgrade.
func upgrade(g generators.Guard) *strict.Error {
	toggle, version := g.CreatedOnce()
	what, then, other := "its Release", "Flux would wait forever for the new one", "if kcm is installed again"
	if toggle == v1alpha1.K0rdentCreateManagement {
		what, then, other = "the Management", "it would keep the Release of before, and nothing would be upgraded", "if kcm is installed again, or kubectl sets the new Release in the Management"
	}
	return &strict.Error{
		Object:  g.Product + " on cluster " + g.Cluster,
		Message: fmt.Sprintf("spec.version was %s, and spec.values.controller.%s is true: kcm creates %s only when it is installed first, so that %s", version, toggle, what, then),
		Hint: fmt.Sprintf("remove %s in the same commit, so that Git holds what kcm created; %s, allow it with --allow-removal %s%s",
			toggle, other, allowProduct, path.Join(g.Product, g.Part)),
	}
}
