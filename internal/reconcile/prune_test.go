package reconcile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

const prunable = `-- clusters/eu/sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet.git}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {path: ./clusters/eu, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/eu/kustomization.yaml --
namespace: apps
resources: [sync.yaml, ../../base, left.yaml, gone]
-- clusters/eu/left.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: left}
-- clusters/eu/gone/kustomization.yaml --
resources: [gone.yaml]
-- clusters/eu/gone/gone.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: gone}
-- base/kustomization.yaml --
resources: [kept.yaml, left.yaml]
-- base/kept.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: kept}
-- base/left.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: left-of-base}
`

// TestWanted leaves out what nobody asks for, but not where the rest needs it.
func TestWanted(t *testing.T) {
	for _, test := range []struct{ name, repo, want string }{
		{"left out", prunable, "kept"},
		{"patched", strings.Replace(prunable, "resources: [kept.yaml, left.yaml]",
			"resources: [kept.yaml, left.yaml]\npatches: [{patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: left-of-base}, data: {a: b}}'}]", 1),
			"gone kept left left-of-base"},
		{"the only one", strings.Replace(prunable, "[kept.yaml, left.yaml]", "[left.yaml]", 1), "left-of-base"},
	} {
		t.Run(test.name, func(t *testing.T) {
			repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
				for _, f := range txtar.Parse([]byte(test.repo)).Files {
					if !yield(f.Name, f.Data) {
						return
					}
				}
			}, repository.Options{})
			if err != nil {
				t.Fatal(err)
			}
			wanted := func(at string) bool { return !strings.Contains(at, "left") && !strings.Contains(at, "gone") }
			fleet, err := reconcile.Reconcile(t.Context(), repo, reconcile.Options{Wanted: wanted})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, k := range fleet.Clusters[0].Kustomizations {
				if k.Failure != nil {
					t.Errorf("%s fails: %s", k, k.Failure.Message)
				}
			}
			for _, o := range fleet.Clusters[0].Objects() {
				if o.Kind == "ConfigMap" {
					names = append(names, o.Name)
				}
			}
			slices.Sort(names) // those of the second sync, whose source has the same address, are the same
			if got := strings.Join(slices.Compact(names), " "); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
