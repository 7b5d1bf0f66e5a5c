package helmrelease

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/resourceset"
)

// Index contains the HelmReleases in Git as Flux applies them, cluster by cluster, and the objects that
// they refer to.
type Index struct {
	ctx   context.Context
	Repo  *repository.Repository
	Fleet *reconcile.Fleet
	// Releases are the HelmReleases that clusters apply, Orphans those in files that no cluster applies.
	Releases, Orphans []*Release
	// folders are the HelmReleases of the folders that were built for orphans, by folder.
	folders map[string][]*Release
	Plain   []*reconcile.Object // the objects in the files, unchanged
	placed  map[*reconcile.Object]*located.Value
	// Sets are the ResourceSets, and fromSets the objects that they create, by cluster; evaluator evaluates them.
	Sets      []*Set
	fromSets  map[*reconcile.Cluster][]*reconcile.Object
	evaluator *resourceset.Evaluator
	// providers are the input providers by cluster; nil until they are needed.
	providers map[*reconcile.Cluster][]resourceset.Provider
	charts    map[*Release]Chart
	HasFlux   bool
	// ClusterFolders holds the folders clusters/NAME that have objects of Flux.
	ClusterFolders map[string]bool
	// substitutes is set if any Kustomization substitutes variables: an object that no cluster applies
	// may be written for such a Kustomization.
	substitutes bool
}

// Context returns the context of the comparison.
func (g *Index) Context() context.Context { return g.ctx }

// New returns the index of the HelmReleases of a repository and its clusters.
func New(ctx context.Context, repo *repository.Repository, fleet *reconcile.Fleet) *Index {
	g := &Index{ctx: ctx, Repo: repo, Fleet: fleet, placed: map[*reconcile.Object]*located.Value{}, fromSets: map[*reconcile.Cluster][]*reconcile.Object{},
		charts: map[*Release]Chart{}, folders: map[string][]*Release{}, ClusterFolders: map[string]bool{}}
	for o := range repo.Objects() {
		if group := o.Group(); strings.HasSuffix(group, ".toolkit.fluxcd.io") || group == fluxapi.OperatorGroup {
			g.HasFlux, g.ClusterFolders[repository.ClusterFolder(o.File())] = true, true
		}
		g.substitutes = g.substitutes || o.Group() == fluxapi.KustomizeGroup && o.Lookup("spec", "postBuild") != nil
	}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			g.substitutes = g.substitutes || k.Spec.PostBuild != nil
		}
	}
	g.Releases = helmReleasesOf(fleet)
	reached := map[*repository.Object]bool{}
	for _, h := range g.Releases {
		reached[h.Applied.Source] = true
	}
	g.Plain = reconcile.Plain(repo)
	for _, o := range g.Plain {
		if o.Group != fluxapi.HelmGroup || o.Kind != "HelmRelease" || reached[o.Source] {
			continue
		}
		if h := newHelmRelease(o); !h.isFragment() && h.hasRoom(g.Orphans) {
			h.Orphan = true
			g.Orphans = append(g.Orphans, h)
		}
	}
	g.addResourceSets()
	return g
}

// Identity returns a name of the release with the place where it is written: the first of the fields that
// exists.
func (g *Index) Identity(h *Release, name string, fields ...string) located.Text {
	t := located.Text{Place: h.Place, Value: name}
	whole := g.whole(h)
	for _, field := range fields {
		at := []string{"spec", field}
		if field == "name" || field == "namespace" {
			at = []string{"metadata", field}
		}
		v := whole.At(at...)
		if v == nil || v.IsMap || v.IsList || v.Scalar == nil || v.Scalar == "" {
			continue
		}
		if t.Place, t.Unknown = v.Place, v.Unknown; field == "namespace" {
			t.Place = g.namespacePlace(h, v.Place)
		}
		break
	}
	return t
}

// namespacePlace returns the place where the namespace of a HelmRelease is set: in the Flux Kustomization, in a
// kustomization, or else in the object itself.
func (g *Index) namespacePlace(h *Release, own finding.Place) finding.Place {
	k := h.Applied.Kustomization
	if k == nil || k.Repo != g.Repo || h.set != nil {
		return own
	}
	if k.Spec.TargetNamespace != "" && k.Object != nil {
		if v := g.Object(k.Object).At("spec", "targetNamespace"); v != nil {
			return v.Place
		}
	}
	if h.Applied.Source != nil && h.Applied.Source.Namespace == h.Applied.Namespace {
		return own
	}
	for _, kustomize := range g.kustomizesOf(k) {
		if kustomize.Spec.Namespace == h.Applied.Namespace {
			line, _ := kustomize.Document.Position("namespace")
			return located.At(kustomize.File.Path, line)
		}
	}
	return own
}

// whole returns the object with the places of its parts.
func (g *Index) whole(h *Release) *located.Value {
	if h.whole == nil {
		h.whole = g.Object(h.Applied)
	}
	return h.whole
}

// source returns the object that a HelmRelease refers to: one of its cluster, else one in
// the files, first in its own folder. If there is none, it returns the reason.
func (g *Index) source(h *Release, kind, namespace, name string) (*located.Value, *located.Unknown) {
	if o := g.applied(h, reconcile.Identity{Group: fluxapi.SourceGroup, Kind: kind, Namespace: namespace, Name: name}); o != nil {
		return g.Object(o), nil
	}
	for _, keep := range []func(o *reconcile.Object) bool{
		func(o *reconcile.Object) bool { return path.Dir(o.File) == path.Dir(h.File) },
		func(o *reconcile.Object) bool { return o.Namespace == namespace },
		func(o *reconcile.Object) bool { return o.Namespace == "" || namespace == "" },
		func(*reconcile.Object) bool { return true },
	} {
		var found []*located.Value
		for _, o := range g.Written(fluxapi.SourceGroup, kind, name) {
			if !keep(o) {
				continue
			}
			v := g.Object(o)
			if !slices.ContainsFunc(found, func(other *located.Value) bool { return located.Equal(other.At("spec"), v.At("spec")) }) {
				found = append(found, v)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, &located.Unknown{Reason: fmt.Sprintf("several %s objects are named %q and differ", kind, name)}
		}
	}
	return nil, &located.Unknown{Reason: fmt.Sprintf("the %s %q is not in the repository", kind, name)}
}

// applied returns an object of the HelmRelease's cluster, nil if there is none.
func (g *Index) applied(h *Release, id reconcile.Identity) *reconcile.Object {
	if k := h.Applied.Kustomization; k != nil {
		if found := k.Cluster.Find(id); len(found) > 0 {
			return found[0]
		}
		for _, o := range g.fromSets[k.Cluster] {
			if o.Identity == id {
				return o
			}
		}
	}
	return nil
}

// Written returns the objects with a name as they are in files.
func (g *Index) Written(group, kind, name string) []*reconcile.Object {
	var found []*reconcile.Object
	for _, o := range g.Plain {
		if o.Group == group && o.Kind == kind && o.Name == name {
			found = append(found, o)
		}
	}
	return found
}
