package builds

import (
	"maps"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// patched are the objects that the tests of patches list: b in a base, the others beside the kustomization.
var patched = map[string][]byte{
	"app/web.yaml": []byte(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: web}
  annotations: {a: b}
spec:
  replicas: 0x1 # one
  template:
    spec:
      containers:
      - name: web
        image: web:1
        ports: [{containerPort: 80, name: http}]
        env: [{name: A, value: "1"}]
      - {name: side, image: "side:1"}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: two}
spec:
  ports:
  - {port: 80, targetPort: http}
---
apiVersion: v1
kind: Secret
metadata: {name: odd, annotations: {}, labels: {app: odd}}
stringData: {a: "–"}
`),
	"base/b.yaml": []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: b}
data: {key: "${A}", other: "1.0"}
---
apiVersion: v1
kind: Namespace
metadata: {name: two}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: b, namespace: flux-system}
spec:
  interval: 1h
  dependsOn: [{name: a}] # {"type": "array"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: &name b, labels: {app: *name}}
spec:
  interval: '1h'
  values:
    again: *name
    map: &map {a: &text "1", b: *text}
    text: "false"
    none: null
    flag: false
    number: 0x10
    empty: {}
    list: [{name: a, value: 1}]
    nested: {deep: {url: "https://${A}"}}
    folded: >-
      a b
    lines: |
      a
       b
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: embedding}
spec: {values: {pod: {apiVersion: v1, kind: Pod, spec: {containers: [{name: a, image: a}]}}}}
`),
	"base/binding.yaml": []byte(`apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: two}
subjects: [{kind: ServiceAccount, name: web, namespace: two}]
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: b}
`),
}

// Where a patch is, and what else there is.
const (
	inBase = 1 << iota
	inFile
	baseNamespace
	appNamespace
	otherNamespace // in the base
	baseLabels
	binding
	another // a patch before it, in app
	inComponent
	generated
	mostOfWhere
)

// patchCase returns the files of a kustomization with a patch, "" for no target.
func patchCase(patch, target string, where int) (map[string][]byte, error) {
	app := map[string]any{"resources": []string{"web.yaml", "../base"}}
	base := map[string]any{"resources": []string{"b.yaml"}}
	content := maps.Clone(patched)
	if where&binding != 0 {
		base["resources"] = []string{"b.yaml", "binding.yaml"}
	}
	if where&baseNamespace != 0 {
		base["namespace"] = "two"
	}
	if where&otherNamespace != 0 {
		base["namespace"] = "three"
	}
	if where&appNamespace != 0 {
		app["namespace"] = "one"
	}
	if where&baseLabels != 0 {
		base["labels"] = []any{map[string]any{"pairs": map[string]string{"from": "base", "app": "b"}}}
	}
	entry := map[string]any{"patch": patch}
	component := map[string]any{"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "labels": []any{map[string]any{"pairs": map[string]string{"part": "one"}}}}
	in, dir := app, "app"
	if where&inBase != 0 {
		in, dir = base, "base"
	}
	if where&inComponent != 0 {
		in["components"] = []string{"../part"}
		in, dir = component, "part"
	}
	if where&generated != 0 {
		in["generatorOptions"] = map[string]any{"disableNameSuffixHash": true, "labels": map[string]string{"made": "${A}"}}
		in["configMapGenerator"] = []any{map[string]any{"name": "made", "namespace": "two", "files": []string{"x=web.yaml"}, "literals": []string{"a=1", "b=${A}"}},
			map[string]any{"name": "b-made", "options": map[string]any{"annotations": map[string]string{"a": "b"}, "immutable": true}}}
		in["secretGenerator"] = []any{map[string]any{"name": "made", "type": "x", "literals": []string{"a=1"}}}
		content[dir+"/web.yaml"] = patched["app/web.yaml"]
	}
	if where&inFile != 0 {
		entry = map[string]any{"path": "patch.yaml"}
		content[dir+"/patch.yaml"] = []byte(patch)
	}
	if target != "" {
		var selector any
		if yaml.Unmarshal([]byte(target), &selector) != nil {
			selector = nil
		}
		entry["target"] = selector
	}
	in["patches"] = []any{entry}
	if where&another != 0 {
		own, _ := app["patches"].([]any)
		app["patches"] = append([]any{map[string]any{"patch": `- {op: add, path: /metadata/annotations/x, value: y}`, "target": map[string]any{"kind": "ConfigMap|Deployment"}}}, own...)
	}
	for name, k := range map[string]any{"app": app, "base": base, "part": component} {
		text, err := yaml.Marshal(k)
		if err != nil {
			return nil, err
		}
		content[name+"/kustomization.yaml"] = text
	}
	return content, nil
}

const (
	deployment  = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
	helmRelease = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: b}\n"
	configMap   = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
)

// patchesOfAllKinds are patches and targets, and whether lists apply them.
var patchesOfAllKinds = []struct {
	patch, target string
	listed        bool
}{
	{deployment + "spec: {replicas: 3}\n", "", true},
	{deployment + "spec: {template: {spec: {containers: [{name: web, image: 'web:2', env: [{name: A, $patch: delete}]}]}}}\n", "", true},
	{deployment + "spec: {template: {spec: {containers: [{$patch: replace}, {name: new, image: new}]}}}\n", "", true},
	{deployment + "spec: {template: null}\n", "", true},
	{deployment + "$patch: delete\n", "", true},
	{deployment + "$patch: delete\n---\n" + deployment + "spec: {replicas: 3}\n", "", true},
	{deployment + "spec: {replicas: 3}\n---\n" + configMap + "data: {key: null, new: '2'}\n", "", true},
	{"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: any, labels: {more: x}}\n", "kind: Deployment", true},
	{"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: any}\n$patch: delete\n", "labelSelector: app=web", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, annotations: {c: d}}\n", "{kind: 'Config.*|Deployment', name: 'w.*|b'}", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, annotations: {c: d}}\n", "namespace: two", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, annotations: {c: d}}\n", "namespace: default", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, annotations: {a: null}}\n", "annotationSelector: a=b", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, labels: {app: null}}\n", "{group: apps, version: v1}", true},
	{configMap + "data: {key: a}\n---\n" + configMap, "kind: ConfigMap", true},                 // two with a target
	{`[{op: replace, path: /spec/replicas, value: 5}]`, "{kind: Deployment, name: web}", true}, // no JSON
	{`[{"op": "replace", "path": "/spec/replicas", "value": 5}]`, "{kind: Deployment, name: web}", true},
	{"---\n---\nfoo: bar\n", "kind: Deployment", true},
	{`[{"op": "add", "path": "/spec/large", "value": 12345678901234567890}]`, "kind: Deployment", true},
	{"- op: add\n  path: /metadata/labels/x\n  value: y\n- op: remove\n  path: /metadata/annotations\n", "kind: Deployment", false},
	{`- {op: add, path: /metadata/annotations/new, value: x}`, "kind: Kustomization|ConfigMap", true},
	{`- {op: remove, path: /spec/gone}`, "kind: Deployment", true},
	{`- {op: test, path: /spec/replicas, value: 7}`, "kind: Deployment", true},
	{`- {op: replace, path: /spec/replicas, value: 5}`, "kind: DaemonSet", true},
	{`- {op: replace, path: /spec/replicas, value: 5}`, "", true},                        // no target
	{`- {op: replace, path: /metadata/name, value: other}`, "kind: ConfigMap", false},    // names change
	{`- {op: replace, path: /kind, value: Other}`, "kind: ConfigMap", false},             // kinds change
	{`- {op: add, path: /metadata/namespace, value: moved}`, "kind: ConfigMap", false},   // objects move
	{`- {op: add, path: /metadata/labels, value: {a: 1}}`, "kind: Deployment", false},    // no text
	{deployment + "spec: {replicas: 3}\n", "name: '['", true},                            // no expression
	{deployment + "spec: {replicas: 3}\n", "labelSelector: '=='", false},                 // no selector
	{strings.ReplaceAll(configMap, "name: b", "name: gone"), "", true},                   // nothing to patch
	{strings.ReplaceAll(configMap, "name: b", "name: b, namespace: gone"), "", true},     // nothing there
	{"apiVersion: v1\nkind: Secret\nmetadata: {name: odd}\ndata: {x: eQ==}\n", "", true}, // no plain object
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, annotations: {internal.config.kubernetes.io/needsHashSuffix: enabled}}\n", "kind: ConfigMap", false},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, annotations: {config.kubernetes.io/local-config: 'true'}}\n", "kind: ConfigMap", false},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, annotations: {$patch: replace}}\n", "kind: ConfigMap", true},
	{"apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\nimagePullSecrets: [{name: x}]\n", "", true},
	{"kind: x\n", "", true}, {"", "", true}, {"# nothing\n", "kind: ConfigMap", true}, {"[", "", true}, {"- a\n", "kind: ConfigMap", true},
	{"apiVersion: v1\nkind: List\nitems: []\n", "", true}, {"---\n---\n" + configMap, "", true}, {configMap + "data: {key: |+\n  a\n\n\n", "", true},
	{helmRelease + "spec: {interval: 2h, values: {new: {a: [1, {b: c}]}, text: x, flag: true, number: 17, list: [x], nested: {deep: {more: 'y'}}}}\n", "", true},
	{helmRelease + "spec: {values: {none: x, text: null, empty: {a: b}}}\n", "", true},
	{helmRelease + "spec: {values: {none: {}, new: {}, nested: null}}\n", "", true},
	{helmRelease + "spec: {values: {text: true, flag: 'true'}}\n", "", true},
	{helmRelease + "spec: {values: {text: 1.0, number: 2.5}}\n", "", true},
	{helmRelease + "spec: {values: {folded: x y, lines: z}}\n", "", true},
	{helmRelease + "spec: {values: {folded: \"x\\n y\\n\", lines: \"z\\nz\"}}\n", "", true},
	{helmRelease + "spec: {values: {nested: x}}\n", "", true},
	{helmRelease + "spec: {values: {nested: {deep: [x]}}}\n", "", true},
	{helmRelease + "spec: {values: {list: {$patch: replace, a: b}, empty: x}}\n", "", true},
	{helmRelease + "spec: {values: {nested: {$patch: replace, a: b}}}\n", "", true},
	{helmRelease + "spec: {values: {list: [{$patch: delete}, {name: b}]}}\n", "", true},
	{helmRelease + "spec: {values: {list: [x]}} # {\"x-kubernetes-patch-strategy\": \"merge\"}\n", "", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, namespace: other, labels: {more: 'x'}}\nspec: {install: {crds: Create}, values: {flag: true}}\n", "kind: HelmRelease", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, labels: {app: 1}}\nspec: {install: {crds: Create}}\n", "kind: HelmRelease", true},
	{"apiVersion: v1\nkind: Deployment\nmetadata: {name: any}\nspec: {a: {containers: [{name: b}]}, dependsOn: [{name: b}]}\n", "{kind: HelmRelease|Kustomization}", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any}\nspec: {values: {pod: {spec: {containers: [{name: b}]}}}}\n", "name: embedding", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any}\nspec: {values: {more: {apiVersion: v1, kind: Pod, spec: {containers: [{name: b}, {name: b}]}}}}\n", "kind: HelmRelease", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, labels: {c: d}}\n", "{kind: Namespace, name: two}", true},
	{"apiVersion: v1\nkind: Any\nmetadata: {name: any, labels: {c: d}}\n", "{kind: Namespace, name: one}", true},
	{`- {op: add, path: /metadata/labels, value: {a: b}}`, "kind: Namespace", true},
	{"apiVersion: v1\nkind: Namespace\nmetadata: {name: two, annotations: {c: d}}\n", "", true},
	{"apiVersion: v1\nkind: Namespace\nmetadata: {name: one, annotations: {c: d}}\n", "", true},
	{configMap + "data: {a: &x b, c: *x}\n", "", true}, {configMap + "data: {a: ${B}}\n", "", true}, {configMap + "data: {a: b, a: c}\n", "", true},
}

// TestListsPatched compares with kustomize.
func TestListsPatched(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long: one build after the other")
	}
	for _, p := range patchesOfAllKinds {
		for _, where := range []int{
			0, inFile, inBase, another, baseNamespace, appNamespace, binding | inFile, inBase | baseNamespace,
			baseNamespace | appNamespace | another, inComponent | appNamespace, otherNamespace | another, otherNamespace | appNamespace | inBase | binding, inComponent | inBase | baseNamespace | baseLabels, generated, generated | inComponent | appNamespace | another,
			inBase | inFile | baseLabels | appNamespace, baseLabels | baseNamespace | binding,
		} {
			content, err := patchCase(p.patch, p.target, where)
			if err != nil {
				t.Fatal(err)
			}
			listed := compareLists(t, content)
			if where&^inFile == 0 && listed != p.listed {
				t.Errorf("listed: %v:\n%s\n%s", listed, p.target, p.patch)
			}
		}
	}
}

// FuzzPatches does the same with any patch.
func FuzzPatches(f *testing.F) {
	for i, p := range patchesOfAllKinds {
		f.Add(p.patch, p.target, i)
	}
	f.Fuzz(func(t *testing.T, patch, target string, where int) {
		if len(patch)+len(target) > 2000 {
			return
		}
		content, err := patchCase(patch, target, where&(mostOfWhere-1))
		if err != nil {
			return // what is no text
		}
		compareLists(t, content)
	})
}
