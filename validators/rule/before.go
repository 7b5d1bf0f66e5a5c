package rule

import (
	"slices"
	"sync"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// appliedBefore are the objects of the revision that a run compares with, computed
// once for all rules.
type appliedBefore struct {
	once    sync.Once
	objects []*reconcile.Object
}

// Before is the repository at the revision that the run compares with, nil where it
// compares with none: rules about changes then have nothing to say.
func (p *Pass) Before() *repository.Repository { return p.shared.Before }

// AppliedBefore is Applied at the revision that the run compares with, for all
// clusters. It is empty where that revision cannot be computed.
func (p *Pass) AppliedBefore() []*reconcile.Object {
	b := &p.shared.before
	b.once.Do(func() {
		old, options := p.shared.Before, p.shared.Reconcile
		if old == nil {
			return
		}
		// A root that the change adds isn't there before.
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
