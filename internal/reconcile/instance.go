package reconcile

import (
	"path"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// patched returns the root's spec with the FluxInstance's patches of Kustomizations, as the
// Flux Operator makes it. Patches that cannot be applied to a Kustomization alone are left
// out: those are about other objects of Flux.
func (r *Root) patched(repo *repository.Repository) {
	patches := r.kustomizationPatches(repo)
	if len(patches) == 0 {
		return
	}
	object, err := yaml.Marshal(map[string]any{
		"apiVersion": kustomizeGroup + "/v1", "kind": kindKs,
		"metadata": map[string]any{"name": r.name, "namespace": r.namespace},
		"spec":     map[string]any{"path": r.spec.Path, "sourceRef": map[string]any{"kind": r.source.kind, "name": r.source.name}},
	})
	if err != nil {
		return
	}
	resources := buildInMemory(string(object), patches)
	if len(resources) != 1 {
		return
	}
	if spec, wrong := specOf(resources[0]); wrong == "" {
		r.spec = spec
	}
}

// kustomizationPatches are the FluxInstance's patches that select Kustomizations.
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
		if p.Target != nil && p.Target.Kind == kindKs && p.Path == "" && repo.Check(p.Patch) == nil {
			kept = append(kept, p)
		}
	}
	return kept
}

// buildInMemory builds one object with patches, and returns nothing where kustomize refuses.
func buildInMemory(object string, patches []types.Patch) (values []map[string]any) {
	fs := filesys.MakeFsInMemory()
	text, err := yaml.Marshal(types.Kustomization{Resources: []string{"object.yaml"}, Patches: patches})
	if err != nil || fs.WriteFile("/object.yaml", []byte(object)) != nil || fs.WriteFile("/kustomization.yaml", text) != nil {
		return nil
	}
	warmUp()
	schemaLock.RLock()
	defer schemaLock.RUnlock()
	defer func() {
		if recover() != nil {
			values = nil
		}
	}()
	m, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(fs, path.Clean("/"))
	if err != nil {
		return nil
	}
	for _, r := range m.Resources() {
		value, err := r.Map()
		if err != nil {
			return nil
		}
		values = append(values, value)
	}
	return values
}
