package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Removal is a management cluster from which objects are removed: Was at the base revision of the run, Is now.
type Removal struct {
	Was, Is *ManagementCluster
	gone    map[reconcile.Identity]bool
}

// Removals returns the management clusters from which Flux deletes an object since the base revision of the
// run. Without a base revision there are none. A cluster that no longer exists is left out, because its future
// is unknown.
func Removals(p *rule.Pass, groups ...string) []Removal {
	if p.Before() == nil {
		return nil
	}
	var before []*reconcile.Cluster
	for _, o := range p.AppliedBefore() {
		if k := o.Kustomization; k != nil && !slices.Contains(before, k.Cluster) {
			before = append(before, k.Cluster)
		}
	}
	var out []Removal
	for _, was := range before {
		i := slices.IndexFunc(p.Clusters(), func(c *reconcile.Cluster) bool { return c.Name == was.Name })
		if i < 0 {
			continue
		}
		is := p.Clusters()[i]
		r := Removal{Was: ofCluster(was, groups), Is: ofCluster(is, groups), gone: map[reconcile.Identity]bool{}}
		if len(r.Was.Own) == 0 {
			continue
		}
		for _, o := range reconcile.Deleted(was, is) {
			if o.HelmRelease == nil && o.Kustomization.Spec.KubeConfig == nil {
				r.gone[o.Identity] = true
			}
		}
		if len(r.gone) > 0 {
			out = append(out, r)
		}
	}
	return out
}

// Gone reports whether Flux deletes an object.
func (r Removal) Gone(id reconcile.Identity) bool { return r.gone[id] }

// Report reports a finding about a removed object. The object has no place any more, so the place is that of
// the nearest remaining parent Kustomization. If not all objects that are applied now are known, the question
// is unresolved.
func (r Removal) Report(p *rule.Pass, o *reconcile.Object, f finding.Finding, question string) {
	k := o.Kustomization
	for k.Parent != nil && k.Parent != k {
		if _, there := r.Is.Cluster.Kustomization(k.Namespace, k.Name); there {
			break
		}
		k = k.Parent
	}
	root := r.Is.Cluster.Root
	at := root.Place
	now, _ := r.Is.Cluster.Kustomization(k.Namespace, k.Name)
	placed := now != nil && now.Object != nil
	if placed {
		at = now.Object.Position("spec", "path")
	}
	if r.Is.Partial != "" {
		p.UnresolvedFor(at, question, r.Is.Partial)
		return
	}
	if placed {
		p.ReportBuilt(now.Object, f, "spec", "path")
		return
	}
	f.Place = at
	p.ReportIn(r.Is.Cluster.Name, f)
}

// List joins words with commas and a final "and": "a, b and c".
func List(things []string) string {
	if len(things) < 2 {
		return strings.Join(things, "")
	}
	last := len(things) - 1
	return fmt.Sprintf("%s and %s", strings.Join(things[:last], ", "), things[last])
}
