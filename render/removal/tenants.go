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

// tenants is the key in held for the tenants of a removed cluster.
const tenants = "tenants"

// states returns the states of tenants by name.
func states(list []tree.TenantState) map[string]string {
	out := map[string]string{}
	for _, t := range list {
		out[t.Name] = t.State
	}
	return out
}

// residence is a tenant, or one of its workload namespaces.
type residence struct{ tenant, namespace string }

// leave records that a tenant, or one of its namespaces, leaves a cluster that stays. It skips a tenant that is Removed,
// and one that was Draining, because nothing of it runs any more.
func (r *removal) leave(g generators.Guard) {
	now, stays := r.states[g.Tenant]
	drained := r.before[g.Tenant] == string(v1alpha1.StateDraining) && now == string(v1alpha1.StateDraining)
	whole := generators.Guard{Kind: g.Kind, Cluster: g.Cluster, Tenant: g.Tenant}
	left := g.Namespace != "" && !r.now[whole.String()] // the namespace leaves with the whole tenant
	if stays && now != string(v1alpha1.StateRemoved) && !drained && !left && !r.allows(allowTenant, g.Tenant) {
		from := residence{g.Tenant, g.Namespace}
		r.off[from] = append(r.off[from], g.Cluster)
	}
}

// tenant returns the error about a tenant, or one of its namespaces, that leaves clusters.
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
		Message: fmt.Sprintf("tenant %s was removed from %s", strict.Quote(name), clusters),
		Hint: fmt.Sprintf("Flux deletes the tenant's sync there together with its accounts, roles, quota and network policies: without the accounts it skips pruning, "+
			"so that what the tenant runs there, with its volumes and load balancers, stays behind without updates and limits, in %s, which are kept; "+
			"let the tenant remove its objects from its path for these clusters first and wait until Flux has deleted them, allow it with --allow-removal %s%s, and then delete the namespaces there",
			kept, allowTenant, name),
	}
}
