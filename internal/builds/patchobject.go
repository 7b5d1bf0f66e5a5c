package builds

import (
	"path"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// PatchObject returns kustomize's result for an object and patches, or nothing if kustomize refuses.
func PatchObject(object string, patches []types.Patch) (values []map[string]any) {
	fs := filesys.MakeFsInMemory()
	text, err := yaml.Marshal(types.Kustomization{Resources: []string{"object.yaml"}, Patches: patches})
	if err != nil || fs.WriteFile("/object.yaml", []byte(object)) != nil || fs.WriteFile("/kustomization.yaml", text) != nil {
		return nil
	}
	defer HoldSchema()()
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
