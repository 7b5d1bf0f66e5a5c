package schemas

import (
	"reflect"
	"testing"

	"sigs.k8s.io/yaml"
)

// What kcm's webhooks make of templates is what the API server validates, and no other kind is
// touched.
func TestAdmitted(t *testing.T) {
	for name, c := range map[string][2]string{
		"no source, no interval": {"helm: {chartSpec: {chart: a, version: 1.0.0}}",
			"helm: {chartSpec: {chart: a, version: 1.0.0, interval: 10m0s, sourceRef: {kind: HelmRepository, name: kcm-templates}}}"},
		"empty ones": {"helm: {chartSpec: {interval: 0s, sourceRef: {kind: '', apiVersion: v1}}}",
			"helm: {chartSpec: {interval: 10m0s, sourceRef: {kind: HelmRepository, name: kcm-templates}}}"},
		"half a source": {"helm: {chartSpec: {interval: 90m, sourceRef: {name: a}}}", "helm: {chartSpec: {interval: 1h30m0s, sourceRef: {name: a}}}"},
		"no duration":   {"helm: {chartSpec: {interval: hourly, sourceRef: a}}", "helm: {chartSpec: {interval: hourly, sourceRef: a}}"},
		"a variable":    {"helm: {chartSpec: {interval: '${A}', sourceRef: '${B}'}}", "helm: {chartSpec: {interval: '${A}', sourceRef: '${B}'}}"},
		"a remote source": {"helm: {chartSource: {remoteSourceSpec: {git: {interval: 10m, timeout: 60s}}}}\nkustomize: {remoteSourceSpec: {oci: {interval: 1h}}}",
			"helm: {chartSource: {remoteSourceSpec: {git: {interval: 10m0s, timeout: 1m0s}}}}\nkustomize: {remoteSourceSpec: {oci: {interval: 1h0m0s}}}"},
		"no chart": {"helm: {chartRef: {kind: HelmChart}}", "helm: {chartRef: {kind: HelmChart}}"},
		"no map":   {"helm: [1]", "helm: [1]"},
	} {
		for _, kind := range []string{"ClusterTemplate", "ServiceTemplate", "ProviderTemplate"} {
			given, want := template(t, kind, c[0]), template(t, kind, c[1])
			if got := Admitted(given); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %v, want %v", name, got, want)
			}
			if !reflect.DeepEqual(given, template(t, kind, c[0])) {
				t.Errorf("%s: the object is changed: %v", name, given)
			}
		}
		if given := template(t, "Credential", c[0]); !reflect.DeepEqual(Admitted(given), given) {
			t.Errorf("%s: another kind is changed", name)
		}
	}
}

func template(t *testing.T, kind, spec string) map[string]any {
	t.Helper()
	object := map[string]any{"apiVersion": "k0rdent.mirantis.com/v1beta1", "kind": kind}
	var of map[string]any
	if err := yaml.Unmarshal([]byte(spec), &of); err != nil {
		t.Fatal(err)
	}
	object["spec"] = of
	return object
}
