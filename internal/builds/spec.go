package builds

import (
	"k8s.io/apimachinery/pkg/runtime"
	"maps"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
)

// SpecOf decodes the spec of a Flux Kustomization as leniently as the API server does with
// fields that it doesn't know. Durations are left out: they may hold variables that are not
// replaced yet, and nothing here needs them. What is not of the type that its field has is left
// out, too, and the first such field is named of those that make a difference to what is built.
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
	_ = decode(kept, &spec) // each field does
	return spec, wrong
}

// buildFields are those fields of a Kustomization's spec that say what is built, of what and where.
var buildFields = []string{
	"buildMetadata", "commonMetadata", "components", "decryption", "ignoreMissingComponents", "images", "kubeConfig", "namePrefix", "nameSuffix",
	"patches", "path", "postBuild", "sourceRef", "targetNamespace",
}
