package rule

import (
	"slices"
	"sync"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// appliedBefore holds the objects at the base revision, computed once for all rules.
type appliedBefore struct {
	once    sync.Once
	objects []*reconcile.Object
}

// Before returns the repository at the base revision of the run, nil if there is none. Without a base revision, rules
// about changes report nothing.
func (p *Pass) Before() *repository.Repository { return p.shared.Before }

// AppliedBefore is like Applied for the base revision, for all clusters. It returns nothing if that revision
// cannot be evaluated.
func (p *Pass) AppliedBefore() []*reconcile.Object {
	b := &p.shared.before
	b.once.Do(func() {
		old, options := p.shared.Before, p.shared.Reconcile
		if old == nil {
			return
		}
		// A root that the change adds does not exist before.
		options.Roots = slices.DeleteFunc(slices.Clone(options.Roots), func(root string) bool {
			_, ok := old.ReadDir(root)
			return !ok
		})
		fleet, err := reconcile.Reconcile(p.Context, old, options)
		if err != nil {
			return
		}
		if len(fleet.Clusters) == 0 {
			b.objects = reconcile.Plain(old)
			return
		}
		for _, c := range fleet.Clusters {
			for _, o := range c.Objects() {
				if o.HelmRelease == nil {
					b.objects = append(b.objects, o)
				}
			}
		}
	})
	return b.objects
}
