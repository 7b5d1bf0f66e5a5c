package charts

import (
	"reflect"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/builds"
)

const keptChart = `-- chart/Chart.yaml --
apiVersion: v2
name: kept
version: 1.0.0
-- chart/crds/thing.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec: {group: example.com, names: {kind: Thing}, preserved: [1, 2.5, true, null, "1"]}
-- chart/templates/all.yaml --
apiVersion: example.com/v1
kind: Thing
metadata: {name: one}
spec: {number: {{ .Values.number | default 1 }}, large: 9007199254740993, half: 2.5, yes: true, none: null, text: "1 é \u2028", list: [], map: {}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: hook, annotations: {helm.sh/hook: pre-install}}
`

// TestKeptResult: what is kept is read as it was, and what is not whole is not kept.
func TestKeptResult(t *testing.T) {
	c := load(t, txtar.Parse([]byte(keptChart)))
	r := request(c, map[string]any{"number": 3})
	r.Decode = builds.ValueOf
	result, err := Render(t.Context(), r)
	if err != nil || len(result.Manifests) != 1 || len(result.Hooks) != 1 || len(result.Definitions) != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	data := result.Encode()
	again, err := Decode(data)
	if err != nil || !reflect.DeepEqual(again, result) {
		t.Errorf("%+v is read as\n%+v, %v", result, again, err)
	}
	for _, incomplete := range []Result{{Problems: []Problem{{}}}, {Undecided: "x"}, {Limit: limitf("x")},
		{Manifests: []Manifest{{Value: map[string]any{"number": 1}}}}, {Manifests: []Manifest{{Value: map[string]any{"text": "\xff"}}}}} {
		if incomplete.Encode() != nil {
			t.Errorf("%+v is kept", incomplete)
		}
	}
}

// TestInputs: what renders differently has other inputs, and what may hold secrets has none.
func TestInputs(t *testing.T) {
	c := load(t, txtar.Parse([]byte(keptChart)))
	if request(c, nil).Inputs(nil) != nil {
		t.Error("a chart without a digest has inputs")
	}
	c.Digest = "sha256:1"
	base := request(c, map[string]any{"a": "b"})
	seen := map[string]string{string(base.Inputs(nil)): "the request"}
	for name, change := range map[string]func(*Request){
		"another value":     func(r *Request) { r.Values = &Values{All: map[string]any{"a": "c"}} },
		"another name":      func(r *Request) { r.Release.Name = "other" },
		"another namespace": func(r *Request) { r.Release.Namespace = "other" },
		"a release name":    func(r *Request) { r.Release.Spec.ReleaseName = "other" },
		"another version":   func(r *Request) { r.Capabilities.Kubernetes = "1.30.0" },
		"steady":            func(r *Request) { r.Steady = true },
		"another chart": func(r *Request) {
			r.Chart = load(t, txtar.Parse([]byte(keptChart)))
			r.Chart.Digest = "sha256:2"
		},
	} {
		r := base
		r.Release = base.Release.DeepCopy()
		change(&r)
		inputs := string(r.Inputs(nil))
		if other, known := seen[inputs]; known || inputs == "" {
			t.Errorf("%s has the inputs of %s", name, other)
		}
		seen[inputs] = name
	}
	kinds := base
	kinds.Capabilities.APIVersions = []string{"other/v1"}
	if string(kinds.Inputs(nil)) != string(base.Inputs(nil)) {
		t.Error("kinds are inputs of a chart that does not ask for any")
	}
	for name, values := range map[string]map[string]any{
		"by its name":      {"database": map[string]any{"password": "Tr0ub4dor-8Zq"}},
		"in a list":        {"list": []any{map[string]any{"name": "ADMIN_PASSWORD", "value": "Tr0ub4dor-8Zq"}}},
		"a cluster's":      {"url": "https://example.com/?q=of-a-Secret"},
		"by what it looks": {"key": "-----BEGIN PRIVATE KEY-----"},
		"as a key":         {"accounts": map[string]any{"of-a-Secret": true}},
		"in base64":        {"data": "b2YtYS1TZWNyZXQ="},
		"as a number":      {"password": 93847561},
	} {
		if request(c, values).Inputs([]string{"of-a-Secret"}) != nil {
			t.Errorf("a secret %s is kept", name)
		}
	}
	patched := base
	patched.Release = base.Release.DeepCopy()
	patched.Release.Spec.PostRenderers = []helmv2.PostRenderer{{Kustomize: &helmv2.Kustomize{}}}
	if patched.Inputs(nil) != nil {
		t.Error("what patches may set is kept")
	}
	evaluates := load(t, txtar.Parse([]byte(keptChart+"-- chart/templates/tpl.yaml --\n{{ tpl .Values.text . }}\n")))
	evaluates.Digest = "sha256:1"
	asks := request(evaluates, map[string]any{"a": "b"})
	without := string(asks.Inputs(nil))
	if asks.Capabilities.APIVersions = []string{"other/v1"}; string(asks.Inputs(nil)) == without {
		t.Error("kinds are no inputs of a chart that evaluates texts")
	}
	private := base
	private.Values = &Values{All: map[string]any{"a": "b"}, secrets: []string{"b"}}
	if private.Inputs(nil) != nil {
		t.Error("values of a Secret are kept")
	}
}
