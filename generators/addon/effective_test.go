package addon_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/addon"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/specs"
)

const fleet = `
apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
metadata: {name: fleet}
spec: {repository: {url: https://git.example.com/platform}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata: {name: one}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Encryption
metadata: {name: keys}
spec: {recipients: {platform: {age: [age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p]}}}
---
`

func generate(t *testing.T, objects string) (*v1alpha1.Spec, *emit.Files) {
	t.Helper()
	spec, err := specs.Load([]specs.File{{Path: "spec.yaml", Content: []byte(fleet + objects)}})
	if err != nil {
		t.Fatal(err)
	}
	out := emit.New()
	addon.Generate(out, spec, layout.For(spec.Fleet.Spec.Layout), nil)
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	return spec, out
}

// A user's patches of Flux are added to ours: without ours the root
// Kustomization could not decrypt.
func TestFluxInstanceKeepsDecryption(t *testing.T) {
	spec, _ := generate(t, `
apiVersion: fleetwright.dev/v1alpha1
kind: Addon
metadata: {name: flux-instance}
spec:
  namespace: flux-system
  chart: {url: oci://ghcr.io/controlplaneio-fluxcd/charts/flux-instance, version: 0.58.0}
  values: {instance: {cluster: {size: large}, kustomize: {patches: [{target: {kind: Deployment}, patch: mine}]}}}
`)
	for _, a := range addon.On(spec, spec.Clusters[0]) {
		if a.Metadata.Name != layout.FluxInstance {
			continue
		}
		instance := a.Spec.Values["instance"].(map[string]any)
		patches := instance["kustomize"].(map[string]any)["patches"].([]any)
		if len(patches) != 2 || !strings.Contains(patches[0].(map[string]any)["patch"].(string), "/spec/decryption") || patches[1].(map[string]any)["patch"] != "mine" {
			t.Errorf("patches: %v", patches)
		}
		if cluster := instance["cluster"].(map[string]any); cluster["size"] != "large" || cluster["multitenant"] != true {
			t.Errorf("cluster: %v", cluster)
		}
		return
	}
	t.Fatal("no flux-instance")
}

// Overrides that no single patch can express make a whole file.
func TestOverridesThatNoPatchExpresses(t *testing.T) {
	_, out := generate(t, `
apiVersion: fleetwright.dev/v1alpha1
kind: Addon
metadata: {name: x}
spec:
  namespace: x
  chart: {url: oci://h/x, version: 1.2.3}
  values: {a: {b: 1}}
  overrides:
  - {clusters: {}, values: {a: {b: null}}}
  - {clusters: {}, values: {a: {c: 1}}}
---
apiVersion: fleetwright.dev/v1alpha1
kind: Addon
metadata: {name: y}
spec:
  namespace: y
  chart: {url: oci://h/y, version: 1.2.3}
  values: {a: {b: 1}}
  overrides: [{clusters: {}, values: {a: {c: 1}}}]
`)
	for file, want := range map[string]bool{
		"infrastructure/controllers/one/x-patch.yaml":             true,
		"infrastructure/controllers/one/y-patch.yaml":             true,
		"infrastructure/controllers/base/y/helmrelease.yaml":      true,
		"infrastructure/controllers/one/x/helmrelease.yaml":       false,
		"infrastructure/controllers/one/y/helmrelease.yaml":       false,
		"infrastructure/controllers/one/kustomization.yaml":       true,
		"clusters/one/cluster-vars.yaml":                          true,
		"clusters/one/flux-system/flux-operator/helmrelease.yaml": true,
	} {
		if _, got := out.Tree.Get(file); got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}
