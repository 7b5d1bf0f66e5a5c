package schemas

import (
	"maps"
	"slices"
	"time"
)

// Admitted returns an object as the API server validates it: after the mutating webhooks of its kind. It does not change
// the object itself.
// kcm's webhooks for ClusterTemplates, ServiceTemplates and ProviderTemplates set the sourceRef and the interval of
// spec.helm.chartSpec, which the definitions require. They write the whole object again, so durations get Go's notation
// (10m0s).
// Source: kcm v1.11.4 and v1.12.0-rc2, internal/webhook/template_webhook.go (setHelmChartDefaults),
// api/v1beta1/templates_common.go (DefaultSourceRef), internal/helm/release.go (DefaultReconcileInterval),
// templates/provider/kcm/templates/webhooks.yaml.
func Admitted(object map[string]any) map[string]any {
	kind, _ := object["kind"].(string)
	if object["apiVersion"] != K0rdentGroup+"/v1beta1" || !slices.Contains([]string{"ClusterTemplate", "ServiceTemplate", "ProviderTemplate"}, kind) {
		return object
	}
	object = changed(object, fillChart, "spec", "helm", "chartSpec")
	for _, of := range [][]string{{"spec", "helm", "chartSource"}, {"spec", "kustomize"}, {"spec", "resources"}} {
		for _, remote := range []string{"git", "bucket", "oci"} {
			object = changed(object, spellDurations, append(slices.Clone(of), "remoteSourceSpec", remote)...)
		}
	}
	return object
}

// changed returns a copy of a map in which change was called for a copy of the map at a path; it returns the original if
// it has no such map.
func changed(in map[string]any, change func(map[string]any), path ...string) map[string]any {
	if len(path) == 0 {
		out := maps.Clone(in)
		change(out)
		return out
	}
	field, isMap := in[path[0]].(map[string]any)
	if !isMap {
		return in
	}
	out := maps.Clone(in)
	out[path[0]] = changed(field, change, path[1:]...)
	return out
}

// fillChart sets the source and the interval of a chart if they are missing.
func fillChart(spec map[string]any) {
	source, isMap := spec["sourceRef"].(map[string]any)
	if _, isSet := spec["sourceRef"]; !isSet || isMap && isEmpty(source["kind"]) && isEmpty(source["name"]) {
		spec["sourceRef"] = map[string]any{"kind": "HelmRepository", "name": "kcm-templates"}
	}
	spellDurations(spec)
	if _, isSet := spec["interval"]; !isSet || spec["interval"] == time.Duration(0).String() {
		spec["interval"] = (10 * time.Minute).String()
	}
}

func isEmpty(field any) bool { return field == nil || field == "" }

// spellDurations rewrites the durations of a source as Go writes them.
func spellDurations(spec map[string]any) {
	for _, name := range []string{"interval", "timeout"} {
		text, _ := spec[name].(string)
		if d, err := time.ParseDuration(text); err == nil {
			spec[name] = d.String()
		}
	}
}
