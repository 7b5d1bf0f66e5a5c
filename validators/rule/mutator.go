package rule

import (
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// Mutator returns the first object because of which a policy or webhook may change pods before they are checked; nil if
// there is none.
func Mutator(objects []*reconcile.Object) *reconcile.Object {
	i := slices.IndexFunc(objects, func(o *reconcile.Object) bool {
		switch {
		case o.Group == "kyverno.io":
			return slices.ContainsFunc(o.List("spec", "rules"), func(r any) bool {
				fields, _ := r.(map[string]any)
				return fields["mutate"] != nil
			})
		case o.Group == "admissionregistration.k8s.io", strings.HasSuffix(o.Group, ".kyverno.io"):
			return strings.Contains(o.Kind, "Mutating")
		}
		return o.Group == "mutations.gatekeeper.sh"
	})
	if i < 0 {
		return nil
	}
	return objects[i]
}
