package removal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// tenants is what a removed cluster holds of tenants.
const tenants = "tenants"

// states are those of tenants, by name.
func states(list []tree.TenantState) map[string]string {
	out := map[string]string{}
	for _, t := range list {
		out[t.Name] = t.State
	}
	return out
}

// leave notes a tenant that is no longer on a cluster that stays. One that leaves as a whole does so step by step, and of
// one that was Draining nothing runs any more.
func (r *removal) leave(g generators.Guard) {
	now, stays := r.states[g.Tenant]
	drained := r.before[g.Tenant] == string(v1alpha1.StateDraining) && now == string(v1alpha1.StateDraining)
	if stays && now != string(v1alpha1.StateRemoved) && !drained && !r.allows(allowTenant, g.Tenant) {
		r.off[g.Tenant] = append(r.off[g.Tenant], g.Cluster)
	}
}

// tenant says what is lost of a tenant on clusters that it is no longer on.
func (r *removal) tenant(name string) *strict.Error {
	clusters := strings.Join(slices.Sorted(slices.Values(r.off[name])), ", ")
	kept := "its namespaces"
	if r.Spec != nil && r.Spec.Tenant(name) != nil {
		t := r.Spec.Tenant(name).Spec
		kept += " (" + output.List(slices.Concat(t.Namespaces, []string{t.SyncNamespace})) + ")"
	}
	return &strict.Error{
		Object:  v1alpha1.KindTenant + " " + name,
		Message: fmt.Sprintf("tenant %s was taken off %s", strict.Quote(name), clusters),
		Hint: fmt.Sprintf("Flux deletes the tenant's sync there together with its accounts, roles, quota and network policies: without the accounts it skips pruning, "+
			"so that what the tenant runs there, with its volumes and load balancers, stays behind without updates and limits, in %s, which are kept; "+
			"let the tenant remove its objects from its path for these clusters first and wait until Flux has deleted them, allow it with --allow-removal %s%s, and then delete the namespaces there",
			kept, allowTenant, name),
	}
}
