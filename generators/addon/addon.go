// Package addon generates the infrastructure of each cluster: HelmReleases with
// their sources, plain resources, namespaces, and the Flux Kustomizations that
// apply them in order.
package addon

import (
	"cmp"
	"path"
	"slices"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kustypes "sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/layout/secret"
)

// Generate writes the add-ons of all clusters. secrets are the declared Secrets with existing files.
func Generate(out *emit.Files, spec *v1alpha1.Spec, lay layout.Layout, secrets []secret.Placed) {
	g := &generator{out: out, spec: spec, lay: lay, secrets: secrets, written: map[string]bool{}, index: map[string]*emit.Kustomization{}, objects: map[string][]any{}}
	for _, c := range spec.Clusters {
		g.cluster(c)
	}
	g.flush()
}

type generator struct {
	out  *emit.Files
	spec *v1alpha1.Spec
	lay  layout.Layout
	// secrets are the Secrets that clusters apply.
	secrets []secret.Placed
	// written are the folders that have been written, because clusters may share a base.
	written map[string]bool
	// index has the kustomization of each folder. objects has the objects of each file to which several units
	// contribute.
	index   map[string]*emit.Kustomization
	objects map[string][]any
}

func (g *generator) cluster(c *v1alpha1.Cluster) {
	addons := On(g.spec, c)
	units := g.withSecrets(c, g.lay.Addons(c, addons))
	for _, u := range units {
		for _, p := range u.Parts {
			g.part(c, u, p)
		}
		g.unit(u)
	}
	if slices.ContainsFunc(g.spec.Tenants, func(t *v1alpha1.Tenant) bool { return g.hasTenant(t, c) }) {
		g.unit(g.lay.Tenants(c, units))
	}
	g.namespaces(c, addons)
	g.out.Objects(path.Join(c.Spec.Path, "cluster-vars.yaml"),
		"Variables of cluster "+c.Metadata.Name+", which the add-ons use as ${NAME}.",
		variables(c))
}

// withSecrets lists the Secrets of a cluster in its kustomizations. It returns the units of the cluster's add-ons,
// together with new units that apply Secrets. The new units come before the first unit that belongs to the cluster alone.
func (g *generator) withSecrets(c *v1alpha1.Cluster, units []layout.Unit) []layout.Unit {
	for _, s := range g.secrets {
		place, on := s.On(c)
		if !on {
			continue
		}
		g.list(place.Index, emit.Relative(place.Index, place.File))
		if place.Via != "" {
			g.list(place.Via, emit.Relative(place.Via, place.Index))
		}
		if slices.ContainsFunc(units, func(u layout.Unit) bool { return u.Name == place.Unit.Name }) {
			continue
		}
		first := slices.IndexFunc(units, func(u layout.Unit) bool { return u.Place.File != "" })
		if first < 0 {
			first = len(units)
		}
		units = slices.Insert(units, first, place.Unit)
	}
	return units
}

func (g *generator) hasTenant(t *v1alpha1.Tenant, c *v1alpha1.Cluster) bool {
	return slices.ContainsFunc(g.spec.TenantClusters(t), func(on v1alpha1.TenantCluster) bool {
		return on.Cluster == c.Metadata.Name
	})
}

// part writes the files of a part. If another cluster has already written them, it only references that base.
func (g *generator) part(c *v1alpha1.Cluster, u layout.Unit, p layout.Part) {
	dir, change := folderOf(g.spec, c, p)
	base, common := *p.Addon, p
	if p.Shared() && dir == p.Dir {
		base.Spec.Values, base.Spec.Chart = baseValues(g.spec, p.Addon), baseChart(g.spec, p.Addon)
		common.DependsOn = layout.Dependencies(p.Addon, g.spec.Addons)
	}
	if !g.written[dir] {
		g.written[dir] = true
		for _, name := range g.files(dir, common, &base) {
			g.list(dir, name)
		}
	}
	if dir != u.Dir {
		g.list(u.Dir, emit.Relative(u.Dir, dir))
	}
	if change != nil {
		g.patch(u.Dir, p.Addon, change)
	}
	if p.Release && dir == p.Dir && p.Shared() && versioned(g.spec, p.Addon) {
		g.patchVersion(u.Dir, p.Addon)
	}
	if p.Release && !slices.Equal(p.DependsOn, common.DependsOn) {
		g.patchDependencies(u.Dir, p)
	}
}

// versioned reports whether overrides set another version for an add-on's chart on a cluster.
func versioned(spec *v1alpha1.Spec, a *v1alpha1.Addon) bool {
	base := baseChart(spec, a)
	return base != nil && base.Version != a.Spec.Chart.Version
}

// folderOf returns the folder of a part's files on a cluster, and the values that the cluster overrides in them
// (nil for none).
func folderOf(spec *v1alpha1.Spec, c *v1alpha1.Cluster, p layout.Part) (string, map[string]any) {
	if !p.Shared() || !p.Release {
		return p.Dir, nil
	}
	change := overrides(spec, p.Addon.Metadata.Name, c)
	switch {
	case p.Addon.Spec.Bootstrap != nil && (change != nil || versioned(spec, p.Addon)):
		return p.OwnDir, nil // the bootstrap needs whole files, because it reads them as Flux does
	case change == nil:
		return p.Dir, nil
	case !patches(spec, c, p.Addon, change):
		return p.OwnDir, nil // no patch can have this effect: one override deletes a map and another one creates it again
	}
	return p.Dir, change
}

// files writes the files of a part and returns their names.
func (g *generator) files(dir string, p layout.Part, a *v1alpha1.Addon) []string {
	var names []string
	if p.Release {
		source := Source(g.spec, a, g.lay.Home(a))
		g.out.Objects(path.Join(dir, "helmrelease.yaml"), "", Release(g.spec, a, g.lay.Home(a), p.DependsOn))
		g.out.Objects(path.Join(dir, SourceFile(a)), "", source)
		names = append(names, "helmrelease.yaml", SourceFile(a))
	}
	for _, r := range p.Resources {
		objects := make([]any, len(r.Manifests))
		for i, m := range r.Manifests {
			objects[i] = manifestOf(a, r, m)
		}
		g.out.Objects(path.Join(dir, r.Name+".yaml"), "", objects...)
		names = append(names, r.Name+".yaml")
	}
	return emit.Sorted(names)
}

// patch writes a cluster's overrides as a kustomize patch of the release.
func (g *generator) patch(dir string, a *v1alpha1.Addon, values map[string]any) {
	g.patchObject(dir, a.Metadata.Name+"-patch.yaml", a, helmv2.GroupVersion.String(), helmv2.HelmReleaseKind, map[string]any{"values": values})
}

// patchVersion writes a cluster's chart version as a kustomize patch of the object that has the version.
func (g *generator) patchVersion(dir string, a *v1alpha1.Addon) {
	name, version := a.Metadata.Name+"-version-patch.yaml", a.Spec.Chart.Version
	if isOCI(a.Spec.Chart) {
		g.patchObject(dir, name, a, sourcev1.GroupVersion.String(), sourcev1.OCIRepositoryKind, map[string]any{"ref": map[string]any{"tag": version}})
		return
	}
	g.patchObject(dir, name, a, helmv2.GroupVersion.String(), helmv2.HelmReleaseKind, map[string]any{"chart": map[string]any{"spec": map[string]any{"version": version}}})
}

// patchDependencies writes the dependencies of an add-on on a cluster as a kustomize patch. They differ because
// the cluster does not have all add-ons that the shared base depends on. The value null removes the field.
func (g *generator) patchDependencies(dir string, p layout.Part) {
	var list any
	if len(p.DependsOn) > 0 {
		list = dependencies(p.DependsOn)
	}
	g.patchObject(dir, p.Addon.Metadata.Name+"-dependencies-patch.yaml", p.Addon, helmv2.GroupVersion.String(), helmv2.HelmReleaseKind, map[string]any{"dependsOn": list})
}

// patchObject writes a kustomize patch of the release of an add-on or of its source.
func (g *generator) patchObject(dir, name string, a *v1alpha1.Addon, apiVersion, kind string, spec map[string]any) {
	g.out.Objects(path.Join(dir, name), "", struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       map[string]any `json:"spec"`
	}{
		apiVersion, kind,
		map[string]any{"name": a.Metadata.Name, "namespace": g.lay.Home(a).Namespace},
		spec,
	})
	g.folder(dir).Patches = append(g.folder(dir).Patches, kustypes.Patch{Path: name})
}

// unit adds a Flux Kustomization to its file.
func (g *generator) unit(u layout.Unit) {
	if u.Place.File != "" {
		g.object(u.Place, Kustomization(g.spec, u))
	}
}

// Kustomization returns the Flux Kustomization of a unit.
func Kustomization(spec *v1alpha1.Spec, u layout.Unit) *kustomizev1.Kustomization {
	d := spec.Fleet.Spec.Defaults
	k := &kustomizev1.Kustomization{
		TypeMeta:   metav1.TypeMeta{APIVersion: kustomizev1.GroupVersion.String(), Kind: kustomizev1.KustomizationKind},
		ObjectMeta: metav1.ObjectMeta{Name: u.Name, Namespace: layout.FluxNamespace},
		Spec: kustomizev1.KustomizationSpec{
			Interval:         emit.Duration(d.Interval),
			RetryInterval:    new(emit.Duration(d.RetryInterval)),
			Timeout:          new(emit.Duration(cmp.Or(u.Timeout, d.Timeout))),
			Path:             "./" + u.Dir,
			Prune:            true,
			Wait:             u.Wait,
			HealthChecks:     u.HealthChecks,
			HealthCheckExprs: u.HealthCheckExprs,
			TargetNamespace:  u.TargetNamespace,
			DeletionPolicy:   u.DeletionPolicy,
			Decryption:       encryption.Decryption(spec),
			SourceRef:        kustomizev1.CrossNamespaceSourceReference{Kind: "GitRepository", Name: emit.FluxSync},
		},
	}
	for _, name := range u.DependsOn {
		k.Spec.DependsOn = append(k.Spec.DependsOn, kustomizev1.DependencyReference{Name: name})
	}
	if *spec.Fleet.Spec.MultiTenancy.Lockdown {
		k.Spec.ServiceAccountName = "kustomize-controller"
	}
	if u.Substitute {
		k.Spec.PostBuild = &kustomizev1.PostBuild{SubstituteFrom: []kustomizev1.SubstituteReference{
			{Kind: "ConfigMap", Name: emit.ClusterVars},
		}}
	}
	return k
}

// object adds an object to a file that several units share.
func (g *generator) object(at layout.Place, object any) {
	if at.Index != "" {
		g.list(at.Index, emit.Relative(at.Index, at.File))
	}
	g.objects[at.File] = append(g.objects[at.File], object)
}

// list adds a file to a folder's kustomization.
func (g *generator) list(dir, name string) {
	k := g.folder(dir)
	k.Resources = append(k.Resources, name)
}

func (g *generator) folder(dir string) *emit.Kustomization {
	if g.index[dir] == nil {
		g.index[dir] = &emit.Kustomization{}
	}
	return g.index[dir]
}

// flush writes the collected files.
func (g *generator) flush() {
	for file, objects := range g.objects {
		g.out.Objects(file, "", objects...)
	}
	for dir, k := range g.index {
		k.Resources = emit.Sorted(k.Resources)
		g.out.Kustomization(dir, *k)
	}
}
