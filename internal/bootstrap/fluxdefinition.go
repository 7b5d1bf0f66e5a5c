package bootstrap

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

const (
	operatorGroup = "fluxcd.controlplane.io"
	instanceChart = "flux-instance"
)

// fluxDefinition says which Flux runs: a FluxInstance, the values of the chart that makes one,
// Flux's own manifests, or the source that they come from.
type fluxDefinition struct {
	place
	// what it is, as messages name it.
	what string
	// version of Flux: "" where nothing pins it. A FluxInstance may have a range.
	version text
	// spec of a FluxInstance, nil of anything else; fromChart says that the chart makes it,
	// which has defaults of its own, and open why it is not known as a whole.
	spec      *value
	fromChart bool
	open      []mark
	// components are the controllers in manifests, sorted; nil where they are not at hand.
	components []string
	// sync is the pair that `flux bootstrap` makes instead, a Kustomization and its source, and
	// nothing else is known then; nil of all others.
	sync *value
}

// fluxManifests are references to Flux's own manifests: a kustomization in its repository, or
// the file of a release.
var (
	fluxFolder  = regexp.MustCompile(`github\.com[/:]fluxcd/flux2(\.git)?//?manifests/install/?(\?(.*))?$`)
	fluxRelease = regexp.MustCompile(`github\.com/fluxcd/flux2/releases/(latest/download|download/([^/]+))/install\.yaml$`)
	fluxSource  = regexp.MustCompile(`github\.com[/:]fluxcd/flux2(\.git)?/?$`)
)

// fluxReference is the version of Flux's manifests that a resource of a kustomization names,
// "" where it pins none; not ok where the resource is something else.
func fluxReference(resource string) (version string, ok bool) {
	if m := fluxRelease.FindStringSubmatch(resource); m != nil {
		return m[2], true
	}
	m := fluxFolder.FindStringSubmatch(resource)
	if m == nil {
		return "", false
	}
	query, err := url.ParseQuery(m[3])
	if err != nil {
		return "", true
	}
	return cmp.Or(query.Get("ref"), query.Get("version")), true
}

// fluxKustomization reads Flux's manifests out of a kustomization's resources.
func fluxKustomization(k *repository.Kustomize) (fluxDefinition, bool) {
	if k.Document == nil {
		return fluxDefinition{}, false
	}
	file := k.File.Path
	for _, field := range []string{"resources", "bases"} {
		for _, item := range items(k.Document.Root(), field) {
			if item.Kind != yaml.ScalarNode {
				continue
			}
			if version, ok := fluxReference(item.Value); ok {
				at := place{file, item.Line}
				return fluxDefinition{place: at, what: "Flux's manifests", version: text{place: at, value: version}}, true
			}
		}
	}
	return fluxDefinition{}, false
}

// instanceDefinition reads the spec of a FluxInstance.
func instanceDefinition(at place, what string, spec *value, fromChart bool, open []mark) fluxDefinition {
	d := fluxDefinition{place: at, what: what, spec: normalInstance(spec, fromChart), fromChart: fromChart, open: open}
	d.version = textAt(d.spec, "distribution", "version")
	return d
}

// fluxOf is what says which Flux a cluster runs. A FluxInstance counts before anything else:
// its operator upgrades what stands there.
func (g *git) fluxOf(c *reconcile.Cluster) []fluxDefinition {
	var instances, manifests []fluxDefinition
	for _, o := range c.Objects() {
		if o.HelmRelease != nil {
			continue
		}
		switch {
		case o.Group == operatorGroup && o.Kind == "FluxInstance":
			v := g.object(o)
			instances = append(instances, instanceDefinition(place{o.File, o.Line}, o.String(), v.at("spec"), false, nil))
		case o.Group == sourceGroup && isFluxURL(textOf(o.Value, "spec", "url")) && sourceOf(c, o):
			manifests = append(manifests, g.sourceDefinition(o))
		}
	}
	for _, h := range g.releases {
		if k := h.applied.Kustomization; k != nil && k.Cluster == c && g.chartText(h) == instanceChart {
			instances = append(instances, g.instanceRelease(h))
		}
	}
	syncs := g.syncOf(c)
	if len(instances) > 0 {
		return append(instances, syncs...)
	}
	manifests = append(manifests, syncs...)
	for _, k := range g.repo.Kustomizes() {
		if d, ok := fluxKustomization(k); ok && g.appliedOn(c, k.File.Path) {
			manifests = append(manifests, d)
		}
	}
	return append(manifests, controllersOf(c.Objects())...)
}

// instanceRelease is the FluxInstance that a HelmRelease of its chart makes.
func (g *git) instanceRelease(h *helmRelease) fluxDefinition {
	values := g.values(h)
	return instanceDefinition(h.place, h.applied.String(), values.value.at("instance"), true, values.unknown)
}

// syncOf is the pair of objects that the cluster starts from, as it applies it itself.
func (g *git) syncOf(c *reconcile.Cluster) []fluxDefinition {
	root := c.Kustomizations[0]
	found := c.Find(reconcile.Identity{Group: kustomizeGroup, Kind: "Kustomization", Namespace: root.Namespace, Name: root.Name})
	if len(found) != 1 {
		return nil
	}
	return g.syncPair(found[0], func(id reconcile.Identity) []*reconcile.Object { return c.Find(id) })
}

// syncPair reads a Kustomization and its source, where there is exactly one.
func (g *git) syncPair(o *reconcile.Object, find func(reconcile.Identity) []*reconcile.Object) []fluxDefinition {
	ref := func(field string) string { return textOf(o.Value, "spec", "sourceRef", field) }
	sources := find(reconcile.Identity{Group: sourceGroup, Kind: ref("kind"),
		Namespace: cmp.Or(ref("namespace"), o.Namespace), Name: ref("name")})
	if len(sources) != 1 {
		return nil
	}
	at := place{o.File, o.Line}
	both := emptyMap(at)
	for name, each := range map[string]*reconcile.Object{"kustomization": o, "source": sources[0]} {
		spec := g.object(each).at("spec")
		if !isMap(spec) {
			return nil
		}
		spec = withoutEmpty(spec)
		for _, often := range []string{"interval", "retryInterval", "timeout"} { // when, and not what
			delete(spec.fields, often)
		}
		both.fields[name] = spec
	}
	return []fluxDefinition{{place: at, what: o.String() + " and its source", sync: both}}
}

// isFluxURL says whether a source of this URL holds Flux's manifests.
func isFluxURL(url string) bool {
	return path.Base(strings.TrimSuffix(url, "/")) == "flux-manifests" || fluxSource.MatchString(url)
}

// sourceOf says whether some Kustomization of a cluster applies what a source holds.
func sourceOf(c *reconcile.Cluster, o *reconcile.Object) bool {
	return slices.ContainsFunc(c.Kustomizations, func(k *reconcile.Kustomization) bool {
		ref := k.Spec.SourceRef
		return ref.Kind == o.Kind && ref.Name == o.Name && cmp.Or(ref.Namespace, k.Namespace) == o.Namespace
	})
}

// sourceDefinition is the version of the manifests that a source fetches.
func (g *git) sourceDefinition(o *reconcile.Object) fluxDefinition {
	spec := g.object(o).at("spec")
	d := fluxDefinition{place: place{o.File, o.Line}, what: o.String()}
	for _, field := range []string{"semver", "tag"} {
		if v := textAt(spec, "ref", field); v.value != "" {
			d.version = v
			return d
		}
	}
	d.version = text{place: d.place, unknown: &mark{reason: fmt.Sprintf("%s names no version of Flux", o)}}
	return d
}

// controllersOf reads version and components of Flux out of its Deployments, as `flux install`
// labels them.
func controllersOf(objects []*reconcile.Object) []fluxDefinition {
	byFile := map[string]*fluxDefinition{}
	var files []string
	for _, o := range objects {
		const label = "app.kubernetes.io/"
		labels, _ := fieldOf(o.Value, "metadata", "labels").(map[string]any)
		version, _ := labels[label+"version"].(string)
		if o.Group != "apps" || o.Kind != "Deployment" || o.HelmRelease != nil || labels[label+"part-of"] != "flux" || version == "" {
			continue
		}
		d := byFile[o.File]
		if d == nil {
			at := place{file: o.File}
			at.file, at.line, _ = o.Position("metadata", "labels", label+"version")
			d = &fluxDefinition{place: at, what: "Flux's manifests", version: text{place: at, value: version}}
			byFile[o.File] = d
			files = append(files, o.File)
		}
		d.components = append(d.components, o.Name)
	}
	var all []fluxDefinition
	for _, file := range files {
		if d := byFile[file]; len(d.components) > 1 { // one controller alone is something else
			slices.Sort(d.components)
			all = append(all, *d)
		}
	}
	return all
}

// appliedOn says whether a cluster applies a file, or may do so by a Kustomization that could
// not be built.
func (g *git) appliedOn(c *reconcile.Cluster, file string) bool {
	return slices.ContainsFunc(c.Kustomizations, func(k *reconcile.Kustomization) bool {
		if k.Repo != g.repo {
			return false
		}
		if _, reads := slices.BinarySearch(k.Files, file); reads {
			return true
		}
		return !k.Complete() && (k.Dir == "." || strings.HasPrefix(file, k.Dir+"/"))
	})
}

// normalInstance is the spec of a FluxInstance without what is empty, which the chart leaves
// out and the API server takes for absent.
func normalInstance(spec *value, fromChart bool) *value {
	if !isMap(spec) {
		return emptyMap(place{})
	}
	out := withoutEmpty(spec)
	for field, needs := range map[string]string{"sync": "url", "sharding": "shards", "storage": "size"} {
		if fromChart && out.at(field, needs) == nil {
			delete(out.fields, field)
		}
	}
	if list := out.at("components"); isList(list) {
		sorted := *list
		sorted.items = slices.Clone(list.items)
		slices.SortStableFunc(sorted.items, func(a, b *value) int {
			return cmp.Compare(fmt.Sprint(a.scalar), fmt.Sprint(b.scalar))
		})
		out.fields["components"] = &sorted
	}
	return out
}

// withoutEmpty copies the maps of a value without fields that are empty.
func withoutEmpty(v *value) *value {
	if !isMap(v) {
		return v
	}
	out := *v
	out.fields = make(map[string]*value, len(v.fields))
	for key, field := range v.fields {
		switch kept := withoutEmpty(field); {
		case kept.isMap && len(kept.fields) == 0, kept.isList && len(kept.items) == 0:
		case !kept.isMap && !kept.isList && kept.unknown == nil && (kept.scalar == nil || kept.scalar == ""):
		default:
			out.fields[key] = kept
		}
	}
	return &out
}
