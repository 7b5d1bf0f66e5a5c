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

// residence is a tenant, or one of its workload namespaces.
type residence struct{ tenant, namespace string }

// leave notes a tenant that is no longer on a cluster that stays, or has one namespace less there. One that leaves as a
// whole does so step by step, and of one that was Draining nothing runs any more.
func (r *removal) leave(g generators.Guard) {
	now, stays := r.states[g.Tenant]
	drained := r.before[g.Tenant] == string(v1alpha1.StateDraining) && now == string(v1alpha1.StateDraining)
	whole := generators.Guard{Kind: g.Kind, Cluster: g.Cluster, Tenant: g.Tenant}
	left := g.Namespace != "" && !r.now[whole.String()] // with the whole tenant
	if stays && now != string(v1alpha1.StateRemoved) && !drained && !left && !r.allows(allowTenant, g.Tenant) {
		from := residence{g.Tenant, g.Namespace}
		r.off[from] = append(r.off[from], g.Cluster)
	}
}

// tenant says what is lost of a tenant on clusters that it is no longer on, or where it has one namespace less.
func (r *removal) tenant(from residence) *strict.Error {
	name, clusters := from.tenant, strings.Join(slices.Sorted(slices.Values(r.off[from])), ", ")
	if from.namespace != "" {
		return &strict.Error{
			Object:  v1alpha1.KindTenant + " " + name,
			Message: fmt.Sprintf("tenant %s no longer has namespace %s on %s", strict.Quote(name), strict.Quote(from.namespace), clusters),
			Hint: fmt.Sprintf("Flux deletes the tenant's accounts, roles, quota and network policies there, and what the tenant runs there, with its volumes, as far as its accounts still may: "+
				"the rest stays behind without updates and limits in the namespace, which is kept; keep it in spec.namespaces, beside a new one, until the tenant has moved its objects and data "+
				"and Flux has deleted the old ones, allow it with --allow-removal %s%s, and then delete the namespace there", allowTenant, name),
		}
	}
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
