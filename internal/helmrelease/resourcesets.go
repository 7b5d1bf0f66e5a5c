package helmrelease

import (
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/resourceset"
)

// Set is a ResourceSet some of whose objects may be unknown.
type Set struct {
	Of *reconcile.Object
	// Because is the reason why objects are unknown, "" if all are known.
	Because string
}

// addResourceSets adds the HelmReleases that ResourceSets create: those of the clusters, and those in files that no
// cluster applies.
func (g *Index) addResourceSets() {
	reached := map[*repository.Object]bool{}
	for _, c := range g.Fleet.Clusters {
		for _, o := range c.Objects() {
			if o.Group != fluxapi.OperatorGroup || o.Kind != "ResourceSet" || o.HelmRelease != nil {
				continue
			}
			reached[o.Source] = true
			for _, created := range g.expand(o) {
				if h := newHelmRelease(created); isHelmRelease(created) && !h.isFragment() && h.hasRoom(g.Releases) {
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
		for _, created := range g.expand(o) {
			g.Plain = append(g.Plain, created)
			if h := newHelmRelease(created); isHelmRelease(created) && !h.isFragment() && h.hasRoom(g.Orphans) {
				h.set, h.Orphan = o, true
				g.Orphans = append(g.Orphans, h)
			}
		}
	}
}

// inputProviders returns the input providers of the cluster that applies a ResourceSet.
func (g *Index) inputProviders(o *reconcile.Object) []resourceset.Provider {
	if o.Kustomization == nil {
		return nil
	}
	c := o.Kustomization.Cluster
	if _, known := g.providers[c]; !known {
		if g.providers == nil {
			g.providers = map[*reconcile.Cluster][]resourceset.Provider{}
		}
		g.providers[c] = c.InputProviders()
	}
	return g.providers[c]
}

// expand returns the objects that a ResourceSet creates.
func (g *Index) expand(o *reconcile.Object) []*reconcile.Object {
	if g.evaluator == nil {
		g.evaluator = resourceset.NewEvaluator(g.ctx)
	}
	l := layout{object: o, open: g.open(o) && !substitutionDisabled(o)}
	result := g.evaluator.Evaluate(resourceset.ResourceSet{Namespace: o.Namespace, Name: o.Name, Whole: g.Object(o), Unknown: l.unknown, Providers: g.inputProviders(o)})
	g.Sets = append(g.Sets, &Set{o, result.Because})
	var all []*reconcile.Object
	for _, v := range result.Objects {
		all = append(all, g.created(o, v))
	}
	if k := o.Kustomization; k != nil {
		g.fromSets[k.Cluster] = append(g.fromSets[k.Cluster], all...)
	}
	return all
}

// created returns an object that a ResourceSet creates, with the Kustomization and cluster of the ResourceSet.
func (g *Index) created(set *reconcile.Object, v *located.Value) *reconcile.Object {
	plain, _ := v.Plain().(map[string]any)
	apiVersion := TextOf(plain, "apiVersion")
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group = ""
	}
	id := reconcile.Identity{Group: group, Kind: TextOf(plain, "kind"), Namespace: TextOf(plain, "metadata", "namespace"), Name: TextOf(plain, "metadata", "name")}
	o := &reconcile.Object{Kustomization: set.Kustomization, Value: plain, Identity: id, APIVersion: apiVersion,
		Place: finding.Place{File: v.File, Line: v.Line}, Encrypted: set.Encrypted, Substituted: set.Substituted, Unknown: set.Unknown}
	g.placed[o] = v
	return o
}
