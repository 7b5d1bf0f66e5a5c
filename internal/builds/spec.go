package builds

import (
	"k8s.io/apimachinery/pkg/runtime"
	"maps"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
)

// SpecOf decodes the spec of a Flux Kustomization and ignores unknown fields, as the API server does.
// Durations are omitted, because they may contain variables that are not replaced yet and nothing here
// needs them. Fields with a wrong type are omitted, too, and the first of them that affects the build
// is returned by name.
func SpecOf(value map[string]any) (spec kustomizev1.KustomizationSpec, wrong string) {
	fields, _ := value["spec"].(map[string]any)
	kept := maps.Clone(fields)
	for _, name := range []string{"interval", "retryInterval", "timeout"} {
		delete(kept, name)
	}
	decode := runtime.DefaultUnstructuredConverter.FromUnstructured
	if decode(kept, &spec) == nil {
		return spec, ""
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if decode(map[string]any{name: kept[name]}, &kustomizev1.KustomizationSpec{}) == nil {
			continue
		}
		delete(kept, name)
		if wrong == "" && slices.Contains(buildFields, name) {
			wrong = name
		}
	}
	spec = kustomizev1.KustomizationSpec{}
	_ = decode(kept, &spec) // each field decodes on its own
	return spec, wrong
}

// buildFields are the fields of a Kustomization's spec that determine what is built.
var buildFields = []string{
	"buildMetadata", "commonMetadata", "components", "decryption", "ignoreMissingComponents", "images", "kubeConfig", "namePrefix", "nameSuffix",
	"patches", "path", "postBuild", "sourceRef", "targetNamespace",
}
