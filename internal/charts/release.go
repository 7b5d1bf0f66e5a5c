package charts

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ParseRelease reads the parts of a HelmRelease, in JSON, that affect the rendered objects. Other
// parts are omitted, because they may contain unknown variables and so have wrong types.
func ParseRelease(object map[string]any) (*helmv2.HelmRelease, error) {
	spec := fields(object, "spec", "chart", "chartRef", "kubeConfig", "releaseName", "targetNamespace", "storageNamespace",
		"install", "valuesFrom", "values", "commonMetadata", "postRenderers", "postRenderStrategy")
	if chart := fields(spec, "chart", "spec"); len(chart) > 0 {
		chart["spec"] = fields(chart, "spec", "chart", "version", "sourceRef", "reconcileStrategy", "valuesFiles", "ignoreMissingValuesFiles")
		spec["chart"] = chart
	}
	if _, ok := spec["install"]; ok {
		spec["install"] = fields(spec, "install", "disableSchemaValidation", "disableHooks", "skipCRDs", "crds")
	}
	composed := spec["values"]
	delete(spec, "values")
	var release helmv2.HelmRelease
	whole := map[string]any{"metadata": fields(object, "metadata", "name", "namespace"), "spec": spec}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(whole, &release); err != nil {
		return nil, err
	}
	if composed == nil {
		return &release, nil
	}
	raw, err := json.Marshal(composed)
	release.Spec.Values = &apiextensionsv1.JSON{Raw: raw}
	return &release, err
}

// fields returns the map of[name] with only the kept fields.
func fields(of map[string]any, name string, kept ...string) map[string]any {
	all, _ := of[name].(map[string]any)
	some := make(map[string]any, len(kept))
	for _, field := range kept {
		if value, ok := all[field]; ok {
			some[field] = value
		}
	}
	return some
}

// ReleaseName returns the name of the release in Helm. Source: helm-controller internal/release, ShortenName.
func ReleaseName(r *helmv2.HelmRelease) string {
	const longest, hash = 53, 12
	name := r.GetReleaseName()
	if len(name) <= longest {
		return name
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	return name[:longest-hash-1] + "-" + sum[:hash]
}
