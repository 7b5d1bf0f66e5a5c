package addon

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/encryption"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// The chart of the Flux Operator for a specification that names none
// (https://fluxoperator.dev/docs/charts/flux-operator/).
const (
	operatorChart   = "oci://ghcr.io/controlplaneio-fluxcd/charts/flux-operator"
	operatorVersion = "0.58.0"
)

// On returns the add-ons of a cluster by name, with the cluster's overrides merged into the values.
// With `flux.install: operator`, they include the Flux Operator and its FluxInstance, even if the
// specification does not name them. The add-ons are copies; those of the specification are not
// changed.
func On(spec *v1alpha1.Spec, c *v1alpha1.Cluster) []*v1alpha1.Addon {
	var out []*v1alpha1.Addon
	has := map[string]bool{}
	for _, a := range spec.AddonsOn(c) {
		effective := *a
		effective.Spec.Values, effective.Spec.Chart = spec.EffectiveValues(a, c), spec.EffectiveChart(a, c)
		if a.Metadata.Name == layout.FluxInstance && a.Spec.Chart != nil {
			effective.Spec.Values = withInstanceValues(instance(spec, c), effective.Spec.Values)
		}
		has[a.Metadata.Name] = true
		out = append(out, &effective)
	}
	if spec.Fleet.Spec.Flux.Install != v1alpha1.InstallOperator {
		return out
	}
	if !has[layout.FluxOperator] {
		out = append(out, operator(out))
	}
	if !has[layout.FluxInstance] {
		withInstance(out, spec, c)
	}
	sorting.Func(out, func(a, b *v1alpha1.Addon) int { return cmp.Compare(a.Metadata.Name, b.Metadata.Name) })
	return out
}

// operator returns the add-on of the Flux Operator, for a specification that does not name it. The bootstrap
// installs it after all other add-ons, because Flux needs them.
func operator(others []*v1alpha1.Addon) *v1alpha1.Addon {
	b := &v1alpha1.Bootstrap{}
	for _, a := range others {
		if a.Spec.Bootstrap != nil && a.Spec.Chart != nil && a.Metadata.Name != layout.FluxInstance {
			b.Needs = append(b.Needs, a.Metadata.Name)
		}
	}
	return &v1alpha1.Addon{
		Metadata: v1alpha1.ObjectMeta{Name: layout.FluxOperator},
		Spec: v1alpha1.AddonSpec{
			Namespace:   layout.FluxNamespace,
			ReleaseName: layout.FluxOperator,
			Chart:       &v1alpha1.Chart{URL: operatorChart, Version: operatorVersion},
			Stage:       v1alpha1.StageControllers,
			Bootstrap:   b,
		},
	}
}

// withInstance adds the FluxInstance to the add-on of the Flux Operator, as a resource that the bootstrap
// applies after its definition exists.
func withInstance(addons []*v1alpha1.Addon, spec *v1alpha1.Spec, c *v1alpha1.Cluster) {
	for _, a := range addons {
		if a.Metadata.Name != layout.FluxOperator {
			continue
		}
		a.Spec.Resources = append(slices.Clone(a.Spec.Resources), v1alpha1.ResourceFile{
			Name: layout.FluxInstance,
			Manifests: []map[string]any{{
				"apiVersion": "fluxcd.controlplane.io/v1",
				"kind":       "FluxInstance",
				// The operator accepts only this name.
				"metadata": map[string]any{"name": "flux", "namespace": layout.FluxNamespace},
				"spec":     instance(spec, c),
			}},
		})
		if a.Spec.Bootstrap != nil {
			b := *a.Spec.Bootstrap
			b.Hooks = append(slices.Clone(b.Hooks), v1alpha1.BootstrapHook{
				WaitForCRDs: []string{"fluxinstances.fluxcd.controlplane.io"},
				Apply:       layout.FluxInstance,
			})
			a.Spec.Bootstrap = &b
		}
	}
}

// withInstanceValues returns the values of the flux-instance chart: the generated values of the Fleet, overridden by the
// add-on's own. The patches of both are joined, because the root Kustomization needs the generated ones for decryption.
func withInstanceValues(instance, own map[string]any) map[string]any {
	out := overlay(map[string]any{"instance": instance}, own)
	ours := patchesOf(map[string]any{"instance": instance})
	if theirs := patchesOf(own); len(ours) > 0 && len(theirs) > 0 {
		out["instance"].(map[string]any)["kustomize"].(map[string]any)["patches"] = slices.Concat(ours, theirs)
	}
	return out
}

// patchesOf returns instance.kustomize.patches.
func patchesOf(values map[string]any) []any {
	instance, _ := values["instance"].(map[string]any)
	kustomize, _ := instance["kustomize"].(map[string]any)
	patches, _ := kustomize["patches"].([]any)
	return patches
}

// instance returns the spec of a cluster's FluxInstance, which is also the `instance` value of the
// flux-instance chart (flux-operator v0.58, api/v1 FluxInstanceSpec).
func instance(spec *v1alpha1.Spec, c *v1alpha1.Cluster) map[string]any {
	f := spec.Fleet.Spec
	sync := map[string]any{
		"kind":     "GitRepository",
		"url":      f.Repository.URL,
		"ref":      "refs/heads/" + f.Repository.Branch,
		"path":     c.Spec.Path,
		"interval": string(c.Spec.Sync.Interval),
	}
	if f.Repository.SecretRef != nil {
		sync["pullSecret"] = f.Repository.SecretRef.Name
	}
	components := make([]any, len(f.Flux.Components))
	for i, name := range f.Flux.Components {
		components[i] = name
	}
	out := map[string]any{
		"distribution": map[string]any{
			"version":  strings.TrimPrefix(f.Flux.Version, "v"),
			"registry": f.Flux.Registry,
		},
		"components": components,
		"cluster": map[string]any{
			"type":          "kubernetes",
			"multitenant":   *f.MultiTenancy.Lockdown,
			"networkPolicy": true,
		},
		"sync": sync,
	}
	if f.Flux.Size != "" {
		out["cluster"].(map[string]any)["size"] = f.Flux.Size
	}
	if s := f.Flux.Sharding; s != nil {
		shards := make([]any, len(s.Shards))
		for i, name := range s.Shards {
			shards[i] = name
		}
		out["sharding"] = map[string]any{"key": s.Key, "shards": shards}
	}
	if d := encryption.Decryption(spec); d != nil {
		// The operator creates the root Kustomization itself, so a patch adds the decryption to it.
		out["kustomize"] = map[string]any{"patches": []any{map[string]any{
			"target": map[string]any{"kind": "Kustomization", "name": layout.FluxNamespace},
			"patch": "- op: add\n  path: /spec/decryption\n  value:\n    provider: " + d.Provider +
				"\n    secretRef:\n      name: " + d.SecretRef.Name + "\n",
		}}}
	}
	return out
}

// baseValues returns an add-on's values before any cluster's overrides.
func baseValues(spec *v1alpha1.Spec, a *v1alpha1.Addon) map[string]any {
	if d := spec.Addon(a.Metadata.Name); d != nil {
		return d.Spec.Values
	}
	return a.Spec.Values
}

// baseChart returns an add-on's chart before any cluster's overrides.
func baseChart(spec *v1alpha1.Spec, a *v1alpha1.Addon) *v1alpha1.Chart {
	if d := spec.Addon(a.Metadata.Name); d != nil {
		return d.Spec.Chart
	}
	return a.Spec.Chart
}

// overrides returns the merged override values of an add-on on a cluster; nil without overrides.
func overrides(spec *v1alpha1.Spec, name string, c *v1alpha1.Cluster) map[string]any {
	d := spec.Addon(name)
	if d == nil {
		return nil
	}
	var merged map[string]any
	for _, o := range d.Spec.Overrides {
		if o.Clusters.Matches(c) && o.Values != nil {
			merged = overlay(merged, o.Values)
		}
	}
	return merged
}

// patches reports whether one patch of an add-on's values has the same effect as all overrides together.
func patches(spec *v1alpha1.Spec, c *v1alpha1.Cluster, a *v1alpha1.Addon, patch map[string]any) bool {
	once := v1alpha1.Addon{Spec: v1alpha1.AddonSpec{
		Values: baseValues(spec, a), Overrides: []v1alpha1.AddonOverride{{Values: patch}},
	}}
	return reflect.DeepEqual(spec.EffectiveValues(&once, c), a.Spec.Values)
}

// overlay merges patches. A null stays, because in a patch it deletes a value.
func overlay(base, over map[string]any) map[string]any {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range over {
		below, both := out[key].(map[string]any)
		above, ok := value.(map[string]any)
		if both && ok {
			out[key] = overlay(below, above)
			continue
		}
		out[key] = value
	}
	return out
}
