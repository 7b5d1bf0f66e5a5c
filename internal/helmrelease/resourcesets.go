package helmrelease

import (
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/resourceset"
)

// Set is a ResourceSet of which not all that it creates need be known.
type Set struct {
	Of *reconcile.Object
	// Because says why not, "" where it is.
	Because string
}

// addResourceSets adds what the ResourceSets of the clusters make, and those in files that no
// cluster applies.
func (g *Index) addResourceSets() {
	reached := map[*repository.Object]bool{}
	for _, c := range g.Fleet.Clusters {
		for _, o := range c.Objects() {
			if o.Group != fluxapi.OperatorGroup || o.Kind != "ResourceSet" || o.HelmRelease != nil {
				continue
			}
			reached[o.Source] = true
			for _, made := range g.expand(o) {
				if h := newHelmRelease(made); isHelmRelease(made) && !h.isFragment() && h.room(g.Releases) {
					h.set = o
					g.Releases = append(g.Releases, h)
				}
			}
		}
	}
	for _, o := range g.Plain {
		if o.Group != fluxapi.OperatorGroup || o.Kind != "ResourceSet" || reached[o.Source] {
			continue
		}
		for _, made := range g.expand(o) {
			g.Plain = append(g.Plain, made)
			if h := newHelmRelease(made); isHelmRelease(made) && !h.isFragment() && h.room(g.Orphans) {
				h.set, h.Orphan = o, true
				g.Orphans = append(g.Orphans, h)
			}
		}
	}
}

// expand computes the objects that a ResourceSet creates.
func (g *Index) expand(o *reconcile.Object) []*reconcile.Object {
	if g.evaluator == nil {
		g.evaluator = resourceset.NewEvaluator(g.ctx)
	}
	l := layout{object: o, open: g.open(o) && !substitutionDisabled(o)}
	result := g.evaluator.Evaluate(resourceset.ResourceSet{Namespace: o.Namespace, Name: o.Name, Whole: g.Object(o), Unknown: l.unknown})
	g.Sets = append(g.Sets, &Set{o, result.Because})
	var all []*reconcile.Object
	for _, v := range result.Objects {
		all = append(all, g.created(o, v))
	}
	if k := o.Kustomization; k != nil {
		g.made[k.Cluster] = append(g.made[k.Cluster], all...)
	}
	return all
}

// created is an object that a ResourceSet creates, applied as the ResourceSet is.
func (g *Index) created(set *reconcile.Object, v *located.Value) *reconcile.Object {
	plain, _ := v.Plain().(map[string]any)
	apiVersion := TextOf(plain, "apiVersion")
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group = ""
	}
	id := reconcile.Identity{Group: group, Kind: TextOf(plain, "kind"), Namespace: TextOf(plain, "metadata", "namespace"), Name: TextOf(plain, "metadata", "name")}
	o := &reconcile.Object{Kustomization: set.Kustomization, Value: plain, Identity: id, APIVersion: apiVersion,
		File: v.File, Line: v.Line, Encrypted: set.Encrypted, Substituted: set.Substituted, Unknown: set.Unknown}
	g.placed[o] = v
	return o
}
