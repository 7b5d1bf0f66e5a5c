package reconcile

import (
	"fmt"
	"slices"
	"testing"
)

// TestTargetedPatches holds what is said of targets against what kustomize does: the patch adds
// a label, and whether any object has it unique.
func TestTargetedPatches(t *testing.T) {
	files := func(more, inner, target string) string {
		patch := "  - target: " + target + "\n    patch: |\n      - {op: add, path: /metadata/annotations, value: {hit: \"yes\"}}\n"
		return "-- clusters/prod/apps.yaml --\n" + ks("apps", "./apps") + `-- apps/web.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: own}
-- apps/inner/kustomization.yaml --
` + inner + `resources: [config.yaml]
-- apps/inner/config.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: inner}
-- apps/beside/beside.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: beside}
-- apps/kustomization.yaml --
` + more + "resources: [web.yaml, inner]\npatches:\n" + patch
	}
	for _, c := range []struct {
		name, more, inner, target string
		unsure                    bool
	}{
		{name: "name", target: "{kind: Deployment, name: web}"},
		{name: "typo", target: "{kind: Deployment, name: webb}"},
		{name: "part of a name", target: "{kind: Deployment, name: we}"},
		{name: "expression", target: "{kind: Deployment|StatefulSet, name: w.*}"},
		{name: "kind alone", target: "{kind: StatefulSet}"},
		{name: "group", target: "{group: apps, version: v1, kind: Deployment}"},
		{name: "wrong group", target: "{group: extensions, kind: Deployment}"},
		{name: "namespace of its own", target: "{kind: ConfigMap, name: web, namespace: own}"},
		{name: "namespace of the same kustomization", more: "namespace: late\n", target: "{kind: ConfigMap, name: web, namespace: late}"},
		{name: "no namespace", target: "{kind: Deployment, name: web, namespace: default}"},
		{name: "namespace of an inner kustomization", inner: "namespace: early\n", target: "{kind: ConfigMap, name: inner, namespace: early}"},
		{name: "prefix of the same kustomization", more: "namePrefix: a-\n", target: "{kind: Deployment, name: a-web}"},
		{name: "prefix of an inner kustomization", inner: "namePrefix: a-\n", target: "{kind: ConfigMap, name: a-inner}"},
		{name: "the name before a prefix", inner: "namePrefix: a-\n", target: "{kind: ConfigMap, name: inner}"},
		{name: "none with a prefix", inner: "namePrefix: a-\n", target: "{kind: ConfigMap, name: other}", unsure: true},
		{name: "generated", more: "configMapGenerator: [{name: made, literals: [a=b]}]\n", target: "{kind: ConfigMap, name: made}"},
		{name: "labels", target: `{kind: Deployment, labelSelector: "app=web"}`},
		{name: "other labels", target: `{kind: Deployment, labelSelector: "app=wob"}`},
		{name: "labels of an inner kustomization", inner: "labels: [{pairs: {a: b}}]\n", target: `{kind: ConfigMap, labelSelector: "a=b"}`},
		{name: "annotations", target: `{annotationSelector: "a=b"}`},
		{name: "in a folder beside", target: "{kind: ConfigMap, name: beside}"},
		{name: "removed before", inner: "patches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: inner}, $patch: delete}'}]\n", target: "{kind: ConfigMap, name: inner}", unsure: true},
	} {
		cluster := reconciled(t, files(c.more, c.inner, c.target), "")
		k, _ := cluster.Kustomization("flux-system", "apps")
		if k.Failure != nil {
			t.Fatalf("%s: %s", c.name, k.Failure.Message)
		}
		hit := slices.ContainsFunc(k.Objects, func(o *Object) bool { return o.Text("metadata", "annotations", "hit") != "" })
		patches := k.TargetedPatches()
		if len(patches) != 1 {
			t.Fatalf("%s: %d patches", c.name, len(patches))
		}
		if c.unsure {
			hit = true // it cannot be known without kustomize, and nothing is said
		}
		if patches[0].Selects != hit {
			t.Errorf("%s: selects=%t, and kustomize says %t", c.name, patches[0].Selects, hit)
		}
	}
}

// TestTargetedPatchPlaces: those of the Flux Kustomization and of components are told where they
// stand, and are shared.
func TestTargetedPatchPlaces(t *testing.T) {
	cluster := reconciled(t, `-- clusters/prod/apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  interval: 1h
  prune: true
  path: ./apps
  sourceRef: {kind: GitRepository, name: flux-system}
  patches:
    - target: {kind: ConfigMap, name: outer}
      patch: '[{"op": "add", "path": "/data", "value": {}}]'
-- apps/kustomization.yaml --
resources: [config.yaml]
components: [../component]
-- apps/config.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
-- component/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - target:
      kind: ConfigMap
      name: conf.*
    patch: '[{"op": "add", "path": "/data", "value": {}}]'
`, "")
	k, _ := cluster.Kustomization("flux-system", "apps")
	var got []string
	for _, p := range k.TargetedPatches() {
		got = append(got, fmt.Sprintf("%s:%d:%d shared=%t selects=%t %v %v", p.File, p.Line, p.Column, p.Shared, p.Selects, p.Names, p.Kinds))
	}
	want := []string{
		"clusters/prod/apps.yaml:10:39 shared=true selects=false [config] []",
		"component/kustomization.yaml:6:13 shared=true selects=true [config] [ConfigMap]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
