package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/repository"
)

func estimated(t *testing.T, contents map[string]string) (cost, error) {
	t.Helper()
	bytes := map[string][]byte{}
	for name, text := range contents {
		bytes[name] = []byte(text)
	}
	repo, err := repository.FromFiles(maps.All(bytes), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var k types.Kustomization
	if err := yaml.Unmarshal(bytes["app/kustomization.yaml"], &k); err != nil {
		t.Fatal(err)
	}
	return estimate(&files{repo: repo, base: ".", budget: newBudget(repo)}, "app", &k)
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
	}
	return b.String()
}

const (
	numberedConfigMap = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a#, namespace: x}\ndata: {b: c}\n"
	numberedWorkload  = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d#, namespace: x}\nspec:\n  template:\n    spec:\n      serviceAccountName: s\n" +
		"      containers: [{name: c, image: i, env: [{name: A, value: b}, {name: C, value: d}], envFrom: [{configMapRef: {name: a#}}]}]\n"
)

// TestEstimateLeavesLargeBuildsAlone: they do all that public repositories do, on more objects
// than the largest of them have.
func TestEstimateLeavesLargeBuildsAlone(t *testing.T) {
	c, err := estimated(t, map[string]string{
		"app/kustomization.yaml": "resources: [../base]\nnamespace: y\ncomponents: [../part]\ncommonAnnotations: {team: one}\nlabels: [{pairs: {a: b}, includeSelectors: true}]\n" +
			"images:\n" + numbered(20, "- {name: i#, newTag: v1}\n") +
			"patches:\n- target: {kind: Deployment}\n  patch: '[{op: add, path: /spec/replicas, value: 2}]'\n- target: {kind: ConfigMap, name: a3}\n  patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {c: d}}'\n" +
			"configMapGenerator: [{name: dashboards, files: [dashboard.json]}]\n",
		"app/dashboard.json": strings.Repeat("x", 900_000),
		"base/kustomization.yaml": "resources: [configs.yaml, workloads.yaml, crds.yaml]\nreplacements:\n" +
			numbered(20, "- source: {kind: ConfigMap, name: a0, fieldPath: data.b}\n  targets:\n  - select: {kind: Deployment}\n    fieldPaths: ['spec.template.spec.containers.*.image', spec.replicas]\n    options: {create: true}\n"),
		"base/configs.yaml":       numbered(150, numberedConfigMap),
		"base/workloads.yaml":     numbered(100, numberedWorkload),
		"base/crds.yaml":          numbered(20, "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: c#}\nspec: {x: ["+strings.Repeat("{description: a long description of a field}, ", 2000)+"]}\n"),
		"part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: patch.yaml, target: {kind: Deployment}}]\n",
		"part/patch.yaml":         "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: [{name: c, env: [{name: E, value: f}]}]}}}\n",
	})
	if err != nil {
		t.Errorf("%.0f µs, %.0f bytes, %.0f objects: %v", c.work, c.bytes, c.objects, err)
	}
}

// TestEstimateRefuses holds what makes a build too large or too long, one by one.
func TestEstimateRefuses(t *testing.T) {
	long := strings.Repeat("x", 1_000_000)
	for name, contents := range map[string]map[string]string{
		"many objects":        {"app/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n", "app/a.yaml": numbered(2500, numberedConfigMap)},
		"many references":     {"app/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: x-\n", "app/a.yaml": numbered(600, numberedConfigMap+numberedWorkload)},
		"a replaced text":     {"app/kustomization.yaml": "resources: [a.yaml]\nreplacements: [{source: {kind: Thing, fieldPath: big}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.b]}]}]\n", "app/a.yaml": numbered(50, numberedConfigMap) + "---\napiVersion: v1\nkind: Thing\nmetadata: {name: big}\nbig: " + long + "\n"},
		"a long static value": {"app/kustomization.yaml": "resources: [a.yaml]\nreplacements: [{sourceValue: " + long + ", targets: [{select: {kind: ConfigMap}, fieldPaths: [data.b]}]}]\n", "app/a.yaml": numbered(50, numberedConfigMap)},
		"a long patch":        {"app/kustomization.yaml": "resources: [a.yaml]\npatches: [{target: {kind: ConfigMap}, patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {c: " + long + "}}'}]\n", "app/a.yaml": numbered(50, numberedConfigMap)},
		"a transformer": {"app/kustomization.yaml": "resources: [a.yaml]\ntransformers: [t.yaml]\n", "app/a.yaml": numbered(50, numberedConfigMap),
			"app/t.yaml": "apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata: {name: t}\nannotations: {a: " + long + "}\nfieldSpecs: [{path: metadata/annotations, create: true}]\n"},
		"a patch of a transformer": {"app/kustomization.yaml": "resources: [a.yaml]\ntransformers: [t.yaml]\n", "app/a.yaml": numbered(50, numberedConfigMap),
			"app/t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\ntarget: {kind: ConfigMap}\npath: p.yaml\n", "app/p.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {c: " + long + "}\n"},
		"transformers in a folder": {"app/kustomization.yaml": "resources: [a.yaml]\ntransformers: [t]\n", "app/a.yaml": numbered(50, numberedConfigMap), "app/t/kustomization.yaml": "resources: [t.yaml]\n",
			"app/t/t.yaml": "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: t}\nprefix: " + long + "\nfieldSpecs: [{path: metadata/name}]\n"},
		"levels of changes": {"app/kustomization.yaml": "resources: [../b]\npatches:\n" + strings.Repeat("- {target: {kind: ConfigMap}, patch: '[{op: add, path: /data/x, value: y}]'}\n", 20), "b/kustomization.yaml": "resources: [a.yaml]\n", "b/a.yaml": numbered(400, numberedConfigMap)},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := estimated(t, contents)
			var limit *limitError
			if !errors.As(err, &limit) {
				t.Errorf("%.0f µs, %.0f bytes, %.0f objects: %v", c.work, c.bytes, c.objects, err)
			}
		})
	}
}
