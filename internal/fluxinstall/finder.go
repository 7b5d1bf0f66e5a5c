package fluxinstall

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// Finder finds the definitions of Flux in a repository: those that clusters apply, and those of bootstraps.
type Finder struct {
	*helmrelease.Index
	// filesRead are the files that the Kustomizations of all clusters read, and partly the folders of Kustomizations that
	// could not be built completely; nil until they are needed.
	filesRead, partly map[string]bool
}

// Definitions returns the definitions of Flux of a cluster. A FluxInstance takes precedence over all others:
// its operator upgrades the manifests in the cluster.
func (f *Finder) Definitions(c *reconcile.Cluster) []Definition {
	var instances, manifests []Definition
	for _, o := range c.Objects() {
		if o.HelmRelease != nil {
			continue
		}
		switch {
		case o.Group == fluxapi.OperatorGroup && o.Kind == "FluxInstance":
			v := f.Object(o)
			instances = append(instances, FromInstance(located.At(o.File, o.Line), o.String(), v.At("spec"), false, nil))
		case o.Group == fluxapi.SourceGroup && IsManifestsURL(helmrelease.TextOf(o.Value, "spec", "url")) && sourceOf(c, o):
			manifests = append(manifests, f.sourceDefinition(o))
		}
	}
	for _, h := range f.Releases {
		if k := h.Applied.Kustomization; k != nil && k.Cluster == c && f.ChartText(h) == InstanceChart {
			instances = append(instances, f.instanceRelease(h))
		}
	}
	syncs := f.syncOf(c)
	if len(instances) > 0 {
		return append(instances, syncs...)
	}
	manifests = append(manifests, syncs...)
	for _, k := range f.Repo.Kustomizes() {
		if d, ok := InKustomization(k); ok && f.appliedOn(c, k.File.Path) {
			manifests = append(manifests, d)
		}
	}
	return append(manifests, controllersOf(c.Objects())...)
}

// instanceRelease returns the definition of the FluxInstance that a HelmRelease of the flux-instance chart creates.
func (f *Finder) instanceRelease(h *helmrelease.Release) Definition {
	values := f.Values(h)
	return FromInstance(h.Place, h.Applied.String(), values.Value.At("instance"), true, values.Unknown)
}

// syncOf returns the definition with the Kustomization and source that the cluster starts from, if the cluster applies them.
func (f *Finder) syncOf(c *reconcile.Cluster) []Definition {
	root := c.Kustomizations[0]
	found := c.Find(reconcile.Identity{Group: fluxapi.KustomizeGroup, Kind: "Kustomization", Namespace: root.Namespace, Name: root.Name})
	if len(found) != 1 {
		return nil
	}
	return f.syncPair(found[0], func(id reconcile.Identity) []*reconcile.Object { return c.Find(id) })
}

// syncPair returns the definition of a Kustomization and its source, if there is exactly one source.
func (f *Finder) syncPair(o *reconcile.Object, find func(reconcile.Identity) []*reconcile.Object) []Definition {
	ref := func(field string) string { return helmrelease.TextOf(o.Value, "spec", "sourceRef", field) }
	sources := find(reconcile.Identity{Group: fluxapi.SourceGroup, Kind: ref("kind"),
		Namespace: cmp.Or(ref("namespace"), o.Namespace), Name: ref("name")})
	if len(sources) != 1 {
		return nil
	}
	at := located.At(o.File, o.Line)
	both := located.EmptyMap(at)
	for name, each := range map[string]*reconcile.Object{"kustomization": o, "source": sources[0]} {
		spec := f.Object(each).At("spec")
		if !located.IsMap(spec) {
			return nil
		}
		spec = located.WithoutEmpty(spec)
		for _, often := range []string{"interval", "retryInterval", "timeout"} { // these fields say when, not what is applied
			delete(spec.Fields, often)
		}
		both.Fields[name] = spec
	}
	return []Definition{{Place: at, What: o.String() + " and its source", Sync: both}}
}

// IsManifestsURL reports whether the source with a URL contains Flux's manifests.
func IsManifestsURL(url string) bool {
	return path.Base(strings.TrimSuffix(url, "/")) == "flux-manifests" || fluxSource.MatchString(url)
}

// sourceOf reports whether a Kustomization of a cluster uses a source.
func sourceOf(c *reconcile.Cluster, o *reconcile.Object) bool {
	return slices.ContainsFunc(c.Kustomizations, func(k *reconcile.Kustomization) bool {
		ref := k.Spec.SourceRef
		return ref.Kind == o.Kind && ref.Name == o.Name && cmp.Or(ref.Namespace, k.Namespace) == o.Namespace
	})
}

// sourceDefinition returns the definition with the version of the manifests that a source fetches.
func (f *Finder) sourceDefinition(o *reconcile.Object) Definition {
	spec := f.Object(o).At("spec")
	d := Definition{Place: located.At(o.File, o.Line), What: o.String()}
	for _, field := range []string{"semver", "tag"} {
		if v := located.TextAt(spec, "ref", field); v.Value != "" {
			d.Version = v
			return d
		}
	}
	d.Version = located.Text{Place: d.Place, Unknown: &located.Unknown{Reason: fmt.Sprintf("%s does not name a version of Flux", o)}}
	return d
}

// appliedOn reports whether a cluster applies a file, or may apply it with a Kustomization that could
// not be built completely.
func (f *Finder) appliedOn(c *reconcile.Cluster, file string) bool {
	return slices.ContainsFunc(c.Kustomizations, func(k *reconcile.Kustomization) bool {
		if k.Repo != f.Repo {
			return false
		}
		if _, reads := slices.BinarySearch(k.Files, file); reads {
			return true
		}
		return !k.Complete() && (k.Dir == "." || strings.HasPrefix(file, k.Dir+"/"))
	})
}

// controllersOf returns definitions with the version and components of Flux from its Deployments, which `flux install`
// labels.
func controllersOf(objects []*reconcile.Object) []Definition {
	byFile := map[string]*Definition{}
	var files []string
	for _, o := range objects {
		const label = "app.kubernetes.io/"
		labels, _ := helmrelease.FieldOf(o.Value, "metadata", "labels").(map[string]any)
		version, _ := labels[label+"version"].(string)
		if o.Group != "apps" || o.Kind != "Deployment" || o.HelmRelease != nil || labels[label+"part-of"] != "flux" || version == "" {
			continue
		}
		d := byFile[o.File]
		if d == nil {
			at := o.Position("metadata", "labels", label+"version")
			d = &Definition{Place: at, What: "Flux's manifests", Version: located.Text{Place: at, Value: version}}
			d.Instance, _ = labels[label+"instance"].(string)
			byFile[o.File] = d
			files = append(files, o.File)
		}
		d.Components = append(d.Components, o.Name)
	}
	var all []Definition
	for _, file := range files {
		if d := byFile[file]; len(d.Components) > 1 { // a single controller is not an installation of Flux
			slices.Sort(d.Components)
			all = append(all, *d)
		}
	}
	return all
}
