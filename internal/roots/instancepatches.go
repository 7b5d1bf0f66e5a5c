package roots

import (
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Patched applies the FluxInstance's patches of Kustomizations to the root's spec, as the
// Flux Operator does. It skips patches that cannot be applied to a Kustomization alone:
// they are for other objects of Flux.
func (r *Root) Patched(repo *repository.Repository) {
	patches := r.kustomizationPatches(repo)
	if len(patches) == 0 {
		return
	}
	object, err := yaml.Marshal(map[string]any{
		"apiVersion": fluxapi.KustomizeGroup + "/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": r.Name, "namespace": r.Namespace},
		"spec":     map[string]any{"path": r.Spec.Path, "sourceRef": map[string]any{"kind": r.Source.Kind, "name": r.Source.Name}},
	})
	if err != nil {
		return
	}
	resources := builds.PatchObject(string(object), patches)
	if len(resources) != 1 {
		return
	}
	if spec, wrong := builds.SpecOf(resources[0]); wrong == "" {
		r.Spec = spec
	}
}

// kustomizationPatches returns the FluxInstance's patches that select Kustomizations.
func (r *Root) kustomizationPatches(repo *repository.Repository) []types.Patch {
	text, err := yaml.Marshal(r.patches)
	if err != nil {
		return nil
	}
	var all []types.Patch
	if err := yaml.Unmarshal(text, &all); err != nil {
		return nil
	}
	var kept []types.Patch
	for _, p := range all {
		if p.Target != nil && p.Target.Kind == "Kustomization" && p.Path == "" && repo.Check(p.Patch) == nil {
			kept = append(kept, p)
		}
	}
	return kept
}
