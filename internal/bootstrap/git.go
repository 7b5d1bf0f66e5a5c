package bootstrap

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

const (
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
	helmGroup      = "helm.toolkit.fluxcd.io"
	sourceGroup    = "source.toolkit.fluxcd.io"
)

// git is what Git says: the HelmReleases as Flux applies them, cluster by cluster, and what
// they refer to.
type git struct {
	ctx   context.Context
	repo  *repository.Repository
	fleet *reconcile.Fleet
	full  *reconcile.Fleet // with what the fleet skips, once it is asked for
	// releases are those that clusters apply, orphans those in files that none does.
	releases, orphans []*helmRelease
	// folders are the HelmReleases of folders that were built for orphans.
	folders map[string][]*helmRelease
	plain   []*reconcile.Object // the objects of the files as they stand
	placed  map[*reconcile.Object]*value
	// sets are the ResourceSets, and made what they make, by cluster; setEngine evaluates them.
	sets      []*resourceSet
	made      map[*reconcile.Cluster][]*reconcile.Object
	setEngine *engine
	charts    map[*helmRelease]chart
	comments  map[string][]finding.Comment // that ignore rules, by file
	// selectors are what the configuration ignores.
	selectors []finding.Selector
	hasFlux   bool
	// filesRead are those that Kustomizations of any cluster read, and partly the folders of those that
	// could not be built; nil until they are asked for.
	filesRead, partly map[string]bool
	// substitutes says that some Kustomization replaces variables: what no cluster applies
	// may be meant for one.
	substitutes bool
}

// helmRelease is a HelmRelease as Flux applies it to a cluster.
type helmRelease struct {
	place
	// applied is the object; one that no cluster applies is as its file has it, and then
	// belongs to no Kustomization.
	applied *reconcile.Object
	// The names that Helm uses, as helm-controller makes them.
	name, namespace, storage string
	ignores                  map[string]string // reasons by rule
	orphan                   bool
	// set is the ResourceSet that makes it, nil where none does.
	set *reconcile.Object

	whole *value // the object with its places, once it is asked for
}

const maxHelmReleases = 20_000

// unit is the HelmRelease as what is compared.
func (h *helmRelease) unit() bounds.Unit {
	return bounds.Unit{Kind: "comparison", File: h.file, Line: h.line, Name: h.applied.String()}
}

// room says whether there are fewer HelmReleases than are compared, and notes that one is not.
func (h *helmRelease) room(among []*helmRelease) bool {
	if len(among) < maxHelmReleases {
		return true
	}
	if len(among) == maxHelmReleases {
		bounds.Refuse(bounds.Unit{Kind: "comparison", Name: "HelmReleases"}, fmt.Sprintf("there are more than %d", maxHelmReleases))
	}
	return false
}

func newGit(ctx context.Context, repo *repository.Repository, fleet *reconcile.Fleet) *git {
	g := &git{ctx: ctx, repo: repo, fleet: fleet, placed: map[*reconcile.Object]*value{}, made: map[*reconcile.Cluster][]*reconcile.Object{},
		charts: map[*helmRelease]chart{}, folders: map[string][]*helmRelease{}, comments: map[string][]finding.Comment{}}
	for o := range repo.Objects() {
		if group := o.Group(); strings.HasSuffix(group, ".toolkit.fluxcd.io") || group == "fluxcd.controlplane.io" {
			g.hasFlux = true
		}
		g.substitutes = g.substitutes || o.Group() == kustomizeGroup && o.Lookup("spec", "postBuild") != nil
	}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			g.substitutes = g.substitutes || k.Spec.PostBuild != nil
		}
	}
	g.releases = helmReleasesOf(fleet)
	reached := map[*repository.Object]bool{}
	for _, h := range g.releases {
		reached[h.applied.Source] = true
	}
	g.plain = reconcile.Plain(repo)
	for _, o := range g.plain {
		if o.Group != helmGroup || o.Kind != "HelmRelease" || reached[o.Source] {
			continue
		}
		if h := newHelmRelease(o); !h.isFragment() && h.room(g.orphans) {
			h.orphan = true
			g.orphans = append(g.orphans, h)
		}
	}
	g.addResourceSets()
	return g
}

// isFragment says whether the HelmRelease has no chart: it is a part that others are patched
// with.
func (h *helmRelease) isFragment() bool {
	return h.field("spec", "chart") == nil && h.field("spec", "chartRef") == nil
}

// newHelmRelease reads the names of a HelmRelease.
func newHelmRelease(o *reconcile.Object) *helmRelease {
	h := &helmRelease{place: place{o.File, o.Line}, applied: o}
	typed := helmv2.HelmRelease{}
	typed.Name, typed.Namespace = o.Name, o.Namespace
	typed.Spec.ReleaseName = h.text("spec", "releaseName")
	typed.Spec.TargetNamespace = h.text("spec", "targetNamespace")
	typed.Spec.StorageNamespace = h.text("spec", "storageNamespace")
	h.name, h.namespace, h.storage = charts.ReleaseName(&typed), typed.GetReleaseNamespace(), typed.GetStorageNamespace()
	annotations, _ := h.field("metadata", "annotations").(map[string]any)
	if value, ok := annotations[finding.Annotation].(string); ok {
		h.ignores = map[string]string{}
		for _, i := range finding.ParseAnnotation(value) {
			if i.Mistake == "" {
				h.ignores[i.Rule] = i.Reason
			}
		}
	}
	return h
}

// field is a field of the object, nil where it has none.
func (h *helmRelease) field(names ...string) any { return fieldOf(h.applied.Value, names...) }

func fieldOf(of any, names ...string) any {
	for _, name := range names {
		fields, _ := of.(map[string]any)
		of = fields[name]
	}
	return of
}

func (h *helmRelease) text(names ...string) string { return textOf(h.applied.Value, names...) }

// textOf is a scalar as text.
func textOf(of any, names ...string) string {
	switch v := fieldOf(of, names...).(type) {
	case nil, map[string]any, []any:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// in says whether the HelmRelease is applied to a cluster of this name.
func (h *helmRelease) in(cluster string) bool {
	k := h.applied.Kustomization
	if k == nil {
		return clusterOf(h.file) == cluster
	}
	return k.Cluster.Is(cluster) || slices.Contains(strings.Split(k.Cluster.Root.Path, "/"), cluster)
}

// clusterOf names the cluster that a path belongs to by the conventions of
// Flux's repositories: clusters/NAME/…; "" when it names none.
func clusterOf(file string) string {
	parts := strings.Split(file, "/")
	for i, part := range parts[:len(parts)-1] {
		if part == "clusters" && i+1 < len(parts)-1 {
			return parts[i+1]
		}
	}
	return ""
}

// identity is a name of the release with the place where it is written: in the first of the
// fields that is there.
func (g *git) identity(h *helmRelease, name string, fields ...string) text {
	t := text{place: h.place, value: name}
	whole := g.whole(h)
	for _, field := range fields {
		at := []string{"spec", field}
		if field == "name" || field == "namespace" {
			at = []string{"metadata", field}
		}
		v := whole.at(at...)
		if v == nil || v.isMap || v.isList || v.scalar == nil || v.scalar == "" {
			continue
		}
		if t.place, t.unknown = v.place, v.unknown; field == "namespace" {
			t.place = g.namespacePlace(h, v.place)
		}
		break
	}
	return t
}

// namespacePlace is where the namespace of a HelmRelease is set: in the Flux Kustomization, in a
// kustomization, or else in the object itself.
func (g *git) namespacePlace(h *helmRelease, own place) place {
	k := h.applied.Kustomization
	if k == nil || k.Repo != g.repo || h.set != nil {
		return own
	}
	if k.Spec.TargetNamespace != "" && k.Object != nil {
		if v := g.object(k.Object).at("spec", "targetNamespace"); v != nil {
			return v.place
		}
	}
	if h.applied.Source != nil && h.applied.Source.Namespace == h.applied.Namespace {
		return own
	}
	for _, kustomize := range g.kustomizesOf(k) {
		if kustomize.Spec.Namespace == h.applied.Namespace {
			line, _ := kustomize.Document.Position("namespace")
			return place{kustomize.File.Path, line}
		}
	}
	return own
}

// whole is the object with the places of its parts.
func (g *git) whole(h *helmRelease) *value {
	if h.whole == nil {
		h.whole = g.object(h.applied)
	}
	return h.whole
}

// document is what the HelmRelease is written in: its own, or the ResourceSet that makes it.
func (h *helmRelease) document() *repository.Object {
	if h.set != nil {
		return h.set.Source
	}
	return h.applied.Source
}

// source finds the object that a HelmRelease refers to: among those of its cluster, else in
// the files, in its own folder first. The mark says why it is not found.
func (g *git) source(h *helmRelease, kind, namespace, name string) (*value, *mark) {
	if o := g.applied(h, reconcile.Identity{Group: sourceGroup, Kind: kind, Namespace: namespace, Name: name}); o != nil {
		return g.object(o), nil
	}
	for _, keep := range []func(o *reconcile.Object) bool{
		func(o *reconcile.Object) bool { return path.Dir(o.File) == path.Dir(h.file) },
		func(o *reconcile.Object) bool { return o.Namespace == namespace },
		func(o *reconcile.Object) bool { return o.Namespace == "" || namespace == "" },
		func(*reconcile.Object) bool { return true },
	} {
		var found []*value
		for _, o := range g.written(sourceGroup, kind, name) {
			if !keep(o) {
				continue
			}
			v := g.object(o)
			if !slices.ContainsFunc(found, func(other *value) bool { return equalValues(other.at("spec"), v.at("spec")) }) {
				found = append(found, v)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, &mark{reason: fmt.Sprintf("several %s objects are named %q and differ", kind, name)}
		}
	}
	return nil, &mark{reason: fmt.Sprintf("the %s %q is not in the repository", kind, name)}
}

// applied is an object of the HelmRelease's cluster, nil where it has none.
func (g *git) applied(h *helmRelease, id reconcile.Identity) *reconcile.Object {
	if k := h.applied.Kustomization; k != nil {
		if found := k.Cluster.Find(id); len(found) > 0 {
			return found[0]
		}
		for _, o := range g.made[k.Cluster] {
			if o.Identity == id {
				return o
			}
		}
	}
	return nil
}

// written are the objects of a name as files have them.
func (g *git) written(group, kind, name string) []*reconcile.Object {
	var found []*reconcile.Object
	for _, o := range g.plain {
		if o.Group == group && o.Kind == kind && o.Name == name {
			found = append(found, o)
		}
	}
	return found
}

// metadataNamespace is the HelmRelease's own, "" where it is not known.
func (h *helmRelease) metadataNamespace() string {
	return cmp.Or(h.applied.Namespace, h.text("metadata", "namespace"))
}
