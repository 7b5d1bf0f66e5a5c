package reconcile_test

import (
	"fmt"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

const patchedRepository = `
-- clusters/prod/apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec:
  path: ./apps
  prune: true
  interval: 1h
  sourceRef: {kind: GitRepository, name: flux-system}
  patches:
  - target: {kind: Deployment}
    patch: |
      - op: add
        path: /spec/template/spec
        value:
          priorityClassName: high
-- apps/kustomization.yaml --
resources: [base.yaml]
namePrefix: my-
patches:
- path: patch.yaml
- target: {kind: ConfigMap}
  patch: |-
      # why
      - {op: replace, path: /data/c~1d, value: patched}
- target: {kind: ConfigMap}
  patch: '[{"op": "add", "path": "/data/flow", "value": "patched"}]'
-- apps/patch.yaml --
kind: ConfigMap
apiVersion: v1
metadata:
  name: config
data:
  a: patched
  b: same
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - {name: other, image: other}
      - name: web
        image: patched
-- apps/base.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: config}
data:
  a: base
  b: same
  c/d: base
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - name: web
        image: base
`

// What a patch has set is where the patch sets it; all else is where the document has it.
func TestPositionsInPatches(t *testing.T) {
	archive := txtar.Parse([]byte(patchedRepository))
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
		for _, f := range archive.Files {
			if !yield(f.Name, f.Data) {
				return
			}
		}
	}, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := reconcile.Reconcile(t.Context(), repo, reconcile.Options{Roots: []string{"clusters/prod"}})
	if err != nil {
		t.Fatal(err)
	}
	find := func(kind string) *reconcile.Object {
		for _, o := range fleet.Clusters[0].Objects() {
			if o.Kind == kind {
				return o
			}
		}
		t.Fatalf("no %s: %+v", kind, fleet.Clusters[0].Kustomizations[1].Failure)
		return nil
	}
	container := []any{"spec", "template", "spec", "containers"}
	for _, c := range []struct {
		kind       string
		path       []any
		value, key string
	}{
		{"ConfigMap", []any{"data", "a"}, "apps/patch.yaml:6:6", "apps/patch.yaml:6:3"},
		{"ConfigMap", []any{"data", "b"}, "apps/base.yaml:6:6", "apps/base.yaml:6:3"},
		{"ConfigMap", []any{"data", "c/d"}, "apps/kustomization.yaml:8:48", "apps/kustomization.yaml:8:29"},
		{"ConfigMap", []any{"data", "flow"}, "apps/kustomization.yaml:10:10", "apps/kustomization.yaml:10:10"},
		{"ConfigMap", []any{"data", "none"}, "apps/base.yaml:4:1", "apps/base.yaml:4:1"},
		{"ConfigMap", []any{"data"}, "apps/base.yaml:4:1", "apps/base.yaml:4:1"},
		{"Deployment", append(container[:3:3], "priorityClassName"), "clusters/prod/apps.yaml:15:30", "clusters/prod/apps.yaml:15:11"},
	} {
		if at := find(c.kind).Position(c.path...); fmt.Sprintf("%s:%d", at.Short(), at.Column) != c.value {
			t.Errorf("%s %v is at %v, want %s", c.kind, c.path, at, c.value)
		}
		if at := find(c.kind).KeyPosition(c.path...); fmt.Sprintf("%s:%d", at.Short(), at.Column) != c.key {
			t.Errorf("the key of %s %v is at %v, want %s", c.kind, c.path, at, c.key)
		}
	}
}
