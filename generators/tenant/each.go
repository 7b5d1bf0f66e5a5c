package tenant

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// eachTenant calls generate for each tenant, in parallel. The results are in the order of the tenants.
func eachTenant[T any](tenants []*v1alpha1.Tenant, generate func(*v1alpha1.Tenant) T) []T {
	results := make([]T, len(tenants))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(tenants)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(tenants)); i = next.Add(1) - 1 {
				results[i] = generate(tenants[i])
			}
		})
	}
	workers.Wait()
	return results
}
