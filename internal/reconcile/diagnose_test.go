package reconcile

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/repository"
)

const synced = `-- clusters/a/sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, prune: true, path: clusters/a, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/a/kustomization.yaml --
resources: [sync.yaml, ../../base]
`

const aMap = "-- base/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

func TestFailureIsAtTheLineToMend(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"a file of an inner folder", "-- base/kustomization.yaml --\nresources:\n  - gone.yaml\n", `base/kustomization.yaml:2:5: resources: "gone.yaml" doesn't exist`},
		{"a folder that .sourceignore hides", "-- .sourceignore --\n# cluster only\n/base/x\n-- base/kustomization.yaml --\nresources: [x]\n-- base/x/kustomization.yaml --\nresources: [a.yaml]\n" + strings.Replace(aMap, "base", "base/x", 1),
			`base/kustomization.yaml:1:13: resources: Flux does not find "x": .sourceignore:2 excludes it from the artifact`},
		{"a chart", "-- base/kustomization.yaml --\nresources: [a.yaml]\nhelmCharts:\n  - {name: a, repo: https://charts.example.org, version: 1.0.0}\n" + aMap,
			"base/kustomization.yaml:3:5: helmCharts: Flux does not inflate Helm charts: write a HelmRelease for the chart"},
		{"a plugin", "-- base/kustomization.yaml --\nresources: [a.yaml]\ntransformers: [t.yaml]\n-- base/t.yaml --\napiVersion: example.org/v1\nkind: Annotator\nmetadata: {name: t}\n" + aMap,
			"base/kustomization.yaml:2:16: transformers: kustomize has no plugin Annotator of its own, and Flux runs no others"},
		{"a merge into nothing in one of two namespaces", "-- base/kustomization.yaml --\nresources: [a.yaml]\nconfigMapGenerator:\n  - {name: a, behavior: merge, literals: [a=b]}\n  - {name: a, namespace: c, behavior: merge, literals: [a=b]}\n" + aMap,
			"base/kustomization.yaml:4:12: configMapGenerator: there is no ConfigMap a to merge"},
		{"a replacement with an empty target", "-- base/kustomization.yaml --\nresources: [a.yaml]\nreplacements:\n  - source: {kind: ConfigMap, name: a}\n    targets: [null]\n" + aMap,
			"base/kustomization.yaml:4:15: replacements: a target is empty"},
		{"a replacement in what is no list", "-- base/kustomization.yaml --\nresources: [a.yaml]\nreplacements:\n  - source: {kind: ConfigMap, name: a}\n    targets: [{select: {name: a}, fieldPaths: ['metadata.[a=b].c']}]\n" + aMap,
			"base/kustomization.yaml:4:48: replacements: the target has no field metadata.[a=b].c: expected SequenceNode but got MappingNode"},
		{"a merge into nothing", "-- base/kustomization.yaml --\nresources: [a.yaml]\nsecretGenerator:\n  - {name: b, behavior: replace, literals: [a=b]}\n" + aMap,
			"base/kustomization.yaml:3:12: secretGenerator: there is no Secret b to replace"},
		{"a folder without a kustomization", "-- base/kustomization.yaml --\nresources: [x]\n-- base/x/a.yaml --\na: b\n",
			`base/kustomization.yaml:1:13: resources: "x" has no kustomization.yaml`},
		{"a Component as a resource", "-- base/kustomization.yaml --\nresources:\n  - ../part\n-- part/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
			`base/kustomization.yaml:2:5: resources: "../part" is a Component: list it under components`},
		{"a kustomization as a component", "-- base/kustomization.yaml --\ncomponents:\n  - ../part\n-- part/kustomization.yaml --\nnamespace: x\n",
			`base/kustomization.yaml:2:5: components: "../part" is not a Component: list it under resources`},
		{"a patch", "-- base/kustomization.yaml --\npatches:\n  - path: gone.yaml\n", `base/kustomization.yaml:2:11: patches: "gone.yaml" doesn't exist`},
		{"an older patch", "-- base/kustomization.yaml --\npatchesStrategicMerge:\n  - gone.yaml\n", `base/kustomization.yaml:2:5: patchesStrategicMerge: "gone.yaml" doesn't exist`},
		{"a transformer", "-- base/kustomization.yaml --\ntransformers: [gone.yaml]\n", `base/kustomization.yaml:1:16: transformers: "gone.yaml" doesn't exist`},
		{"a replacement", "-- base/kustomization.yaml --\nreplacements:\n  - path: gone.yaml\n", `base/kustomization.yaml:2:11: replacements: "gone.yaml" doesn't exist`},
		{"a patch of nothing in particular", "-- base/kustomization.yaml --\nresources: [a.yaml]\npatches:\n  - path: p.yaml\n-- base/p.yaml --\nspec: {a: b}\n-- base/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
			`base/kustomization.yaml:3:11: patches: this is neither a list of JSON 6902 operations nor an object with apiVersion, kind and metadata.name`},
		{"a generator's file", "-- base/kustomization.yaml --\nconfigMapGenerator:\n  - name: x\n    files:\n      - key=gone.txt\n",
			`base/kustomization.yaml:4:9: configMapGenerator: "gone.txt" doesn't exist`},
		{"a generator's image", "-- base/kustomization.yaml --\nsecretGenerator:\n  - name: x\n    files: [a.png]\n-- base/a.png --\n.\n",
			`base/kustomization.yaml:3:13: secretGenerator: Flux does not find "a.png": source-controller excludes it`},
		{"a kustomization of another version", "-- base/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1\nresources: [a.yaml]\n" + aMap,
			"base/kustomization.yaml:1:13: apiVersion for Kustomization should be kustomize.config.k8s.io/v1beta1"},
		{"a kustomization of another kind", "-- base/kustomization.yaml --\nkind: Kustomisation\nresources: [a.yaml]\n" + aMap,
			"base/kustomization.yaml:1:7: kind should be Kustomization or Component"},
		{"a list that is none", "-- base/kustomization.yaml --\nresources: a.yaml\n" + aMap, "base/kustomization.yaml:1:12: resources must be a list, not a string"},
		{"a tag that is a number", "-- base/kustomization.yaml --\nresources: [a.yaml]\nimages:\n  - name: a\n    newTag: 1.20\n" + aMap,
			"base/kustomization.yaml:4:13: images[0].newTag must be a string, not a number"},
		{"no operation of a JSON patch", "-- base/kustomization.yaml --\nresources: [a.yaml]\npatches:\n  - target: {kind: ConfigMap}\n    patch: |\n      - {op: add, path: /data, value: {}}\n      - {op: replce, path: /data, value: {}}\n" + aMap,
			`base/kustomization.yaml:6:14: patches: operation "replce" does not exist; the operations are add, remove, replace, move, copy, test`},
		{"no operation of a JSON patch in a file", "-- base/kustomization.yaml --\nresources: [a.yaml]\npatches:\n  - {path: p.yaml, target: {kind: ConfigMap}}\n-- base/p.yaml --\n- path: /data\n  op: replce\n" + aMap,
			`base/p.yaml:2:7: patches: operation "replce" does not exist; the operations are add, remove, replace, move, copy, test`},
		{"a target that is no selector", "-- base/kustomization.yaml --\nresources: [a.yaml]\npatches:\n  - patch: '- {op: remove, path: /a}'\n    target:\n      labelSelector: a in b\n" + aMap,
			`base/kustomization.yaml:5:22: patches: target.labelSelector: "a in b" is not a valid selector: unable to parse requirement: found 'b' expected: '('`},
		{"a target that is no regular expression", "-- base/kustomization.yaml --\nresources: [a.yaml]\npatches:\n  - patch: '- {op: remove, path: /a}'\n    target:\n      name: a(\n" + aMap,
			`base/kustomization.yaml:5:13: patches: target.name: "a(" is not a valid regular expression`},
		{"a JSON patch in YAML's flow style", "-- base/kustomization.yaml --\nresources: [a.yaml]\npatches:\n  - target: {kind: ConfigMap}\n    patch: '[{op: remove, path: /a}]'\n" + aMap,
			`base/kustomization.yaml:4:12: patches: a patch that begins with [ is read as JSON, but this is not valid JSON; write one operation per line`},
		{"an object twice in a file", "-- base/kustomization.yaml --\nresources: [a.yaml]\n" + aMap + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
			"base/a.yaml:5:1: ConfigMap a is also at base/a.yaml:1"},
		{"a file that is listed twice", "-- base/kustomization.yaml --\nresources:\n  - a.yaml\n  - ./a.yaml\n" + aMap,
			`base/kustomization.yaml:3:5: resources: "./a.yaml" is listed twice, first on line 2`},
		{"a folder that is listed twice", "-- base/kustomization.yaml --\nresources: [x, x/]\n-- base/x/kustomization.yaml --\nresources: [a.yaml]\n" + strings.Replace(aMap, "base", "base/x", 1),
			`base/kustomization.yaml:1:16: resources: "x/" is listed twice, first on line 1`},
		{"an object in two files", "-- base/kustomization.yaml --\nresources: [a.yaml, b.yaml]\n" + aMap + strings.Replace(aMap, "a.yaml", "b.yaml", 1),
			`base/kustomization.yaml:1:21: resources: "b.yaml" holds ConfigMap a, and so does "a.yaml"`},
		{"an object in two folders", "-- base/kustomization.yaml --\nresources: [x, z]\n-- base/x/kustomization.yaml --\nresources: [a.yaml]\n-- base/z/kustomization.yaml --\nresources: [a.yaml]\n" +
			strings.Replace(aMap, "base", "base/x", 1) + strings.Replace(aMap, "base", "base/z", 1), "base/z/a.yaml:1:1: ConfigMap a is also at base/x/a.yaml:1"},
		{"two objects that a namespace makes one of", "-- base/kustomization.yaml --\nnamespace: x\nresources: [a.yaml, b.yaml]\n" + aMap +
			"-- base/b.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: y}\n",
			`base/kustomization.yaml:2:21: resources: "b.yaml" holds ConfigMap y/a, "a.yaml" holds ConfigMap a, and namespace: x turns them into the same object`},
		{"a generated object that is there", "-- base/kustomization.yaml --\nresources: [a.yaml]\nconfigMapGenerator:\n  - literals: [a=b]\n    name: a\n    options: {disableNameSuffixHash: true}\n" + aMap,
			`base/kustomization.yaml:4:11: configMapGenerator: "a" is also among the resources: rename it, or set behavior: merge or replace`},
		{"a patch that is no YAML", "-- base/kustomization.yaml --\nresources: [a.yaml]\npatches:\n  - path: p.yaml\n-- base/p.yaml --\nkind: ConfigMap\ndata:\n  a: b\n c: [\n" + aMap,
			"base/p.yaml:4:2: is not YAML: did not find expected key"},
		{"a patch of another version", "-- base/kustomization.yaml --\nresources: [a.yaml]\npatches:\n  - path: p.yaml\n-- base/p.yaml --\nkind: Job\napiVersion: batch/v1beta1\nmetadata: {name: a}\n-- base/a.yaml --\napiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n",
			"base/p.yaml:2:13: patches: the Job a among the resources has apiVersion batch/v1 (base/a.yaml:1), not batch/v1beta1"},
		{"a patch of what is of no version", "-- base/kustomization.yaml --\nresources: [a.yaml]\npatches:\n  - patch: '{kind: Job, apiVersion: batch/v1, metadata: {name: a}}'\n-- base/a.yaml --\nkind: Job\napiVersion: batch/v7\nmetadata: {name: a}\n",
			"base/a.yaml:2:13: no known release of Kubernetes has batch/v7 of Job"},
	} {
		files := map[string][]byte{}
		for _, f := range txtar.Parse([]byte(synced + c.files)).Files {
			files[f.Name] = f.Data
		}
		repo, err := repository.FromFiles(maps.All(files), repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fleet, err := Reconcile(context.Background(), repo, Options{})
		if err != nil || len(fleet.Clusters) != 1 {
			t.Fatalf("%s: %v, %v", c.name, fleet, err)
		}
		f := fleet.Clusters[0].Kustomizations[0].Failure
		if f == nil {
			t.Errorf("%s: there is no failure", c.name)
		} else if got := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestFailuresOfWhatFluxAdds: what no kustomization.yaml says is told where Flux has it from.
func TestFailuresOfWhatFluxAdds(t *testing.T) {
	component := strings.Replace(ks("apps", "./apps"), "path: ./apps", "components: [../part, ../prat], path: ./apps", 1)
	config := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
	for _, c := range []struct{ name, files, want string }{
		{"a component", "-- clusters/prod/apps.yaml --\n" + component + "-- apps/kustomization.yaml --\nresources: [a.yaml]\n-- apps/a.yaml --\n" + config +
			"-- part/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
			`clusters/prod/apps.yaml:4:57: components: "../prat" doesn't exist`},
		{"a component from the root", "-- clusters/prod/apps.yaml --\n" + strings.Replace(component, "../part, ../prat", "../part, part", 1) + "-- apps/kustomization.yaml --\nresources: [a.yaml]\n-- apps/a.yaml --\n" + config +
			"-- part/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
			`clusters/prod/apps.yaml:4:57: components: "part" is relative to spec.path: there is no folder "apps/part"; write "../part"`},
		{"an object in two files", "-- clusters/prod/apps.yaml --\n" + ks("apps", "./apps") + "-- apps/a.yaml --\n" + config + "-- apps/deep/b.yaml --\n---\n# again\n" + config,
			"apps/deep/b.yaml:3:1: ConfigMap b/a is also at apps/a.yaml:1, and Flux applies all files of apps"},
		{"a patch's target", "-- clusters/prod/apps.yaml --\n" + strings.Replace(ks("apps", "./apps"), "path: ./apps", `patches: [{patch: "- {op: remove, path: /a}", target: {name: "a("}}], path: ./apps`, 1) + "-- apps/a.yaml --\n" + config,
			`clusters/prod/apps.yaml:4:96: patches: target.name: "a(" is not a valid regular expression`},
	} {
		k, _ := reconciled(t, c.files, "").Kustomization("flux-system", "apps")
		if k.Failure == nil {
			t.Errorf("%s: there is no failure", c.name)
		} else if got := fmt.Sprintf("%s:%d:%d: %s", k.Failure.File, k.Failure.Line, k.Failure.Column, k.Failure.Message); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
