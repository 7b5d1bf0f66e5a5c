package flux

import (
	"fmt"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// appliedBeforeRelease finds custom resources whose Kustomization does not wait for the HelmRelease that defines them,
// although all other Kustomizations with such objects do: a dependency was forgotten or removed.
func (w *world) appliedBeforeRelease(o orders, steps *int) []early {
	var found []early
	before := map[*reconcile.Kustomization]map[reconcile.Identity]bool{}
	for _, group := range slices.Sorted(maps.Keys(o.releases)) {
		if o.groups[group] {
			continue
		}
		var early []*reconcile.Object
		waiting := 0
		for _, k := range w.cluster.Kustomizations {
			object := w.ofGroup(k, group)
			if object == nil || slices.ContainsFunc(o.releases[group], func(r *reconcile.Object) bool { return r.Kustomization == k }) {
				continue
			}
			if before[k] == nil {
				before[k] = w.appliedBefore(k, steps)
			}
			if slices.ContainsFunc(o.releases[group], func(r *reconcile.Object) bool { return before[k][idOf(r.Kustomization)] }) {
				waiting++
			} else {
				early = append(early, object)
			}
		}
		if *steps < 0 {
			return found
		}
		if waiting >= mostWait && len(early) == 1 {
			found = append(found, w.notWaiting(early[0], o.releases[group][0], group))
		}
	}
	return found
}

// mostWait is how many Kustomizations must wait before one that does not wait is an exception.
const mostWait = 3

// ofGroup returns the first object of an API group that a Kustomization applies to its own cluster; nil if
// there is none.
func (w *world) ofGroup(k *reconcile.Kustomization, group string) *reconcile.Object {
	at := slices.IndexFunc(k.Objects, func(o *reconcile.Object) bool { return o.Group == group })
	if at < 0 || k.Spec.KubeConfig != nil || k.Spec.Suspend {
		return nil
	}
	return k.Objects[at]
}

// notWaiting returns the finding about an object that may be applied before a HelmRelease defines its API
// group.
func (w *world) notWaiting(object, release *reconcile.Object, group string) early {
	return early{object: object, names: []string{group, release.ChartName(w.find), release.Name}, finding: finding.Finding{
		Message: fmt.Sprintf("Kustomization %s applies %s without waiting for %s, whose chart contains its CRD, as all others do", object.Kustomization, object, release),
		Hint:    fmt.Sprintf("add %s to its dependsOn", release.Kustomization)}}
}
