package bootstrap

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// contradicting has two releases that the bootstrap installs one after the other, and whose Kustomizations wait for each
// other through a third one: DEPENDENT is the one that waits.
const contradicting = `-- bootstrap/helmfile.yaml --
releases:
- {name: first, namespace: apps, chart: oci://example.com/first, version: 1.0.0}
- {name: second, namespace: apps, chart: oci://example.com/second, version: 1.0.0, needs: [apps/first]}
-- clusters/prod/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/prod/apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: WAITS, namespace: flux-system}
spec: {interval: 1m, path: ./apps/WAITS, prune: true, sourceRef: {kind: GitRepository, name: flux-system}, dependsOn: [{name: between}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: between, namespace: flux-system}
spec: {interval: 1m, path: ./apps/between, prune: true, sourceRef: {kind: GitRepository, name: flux-system}, dependsOn: [{name: LEADS}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: LEADS, namespace: flux-system}
spec: {interval: 1m, path: ./apps/LEADS, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- apps/between/config.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: between, namespace: apps}
-- apps/first/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: first, namespace: apps}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: first}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: first, namespace: apps}
spec: {interval: 1h, url: "oci://example.com/first", ref: {tag: 1.0.0}}
-- apps/second/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: second, namespace: apps}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: second}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: second, namespace: apps}
spec: {interval: 1h, url: "oci://example.com/second", ref: {tag: 1.0.0}}
`

// Needs against the order of the Kustomizations are found, and needs that follow it are not.
func TestNeedsAgainstKustomizations(t *testing.T) {
	for waits, want := range map[string]int{"first": 1, "second": 0} {
		leads := map[string]string{"first": "second", "second": "first"}[waits]
		repo := testarchive.Repository(t, txtar.Parse([]byte(strings.NewReplacer("WAITS", waits, "LEADS", leads).Replace(contradicting))))
		fleet, err := reconcile.Reconcile(t.Context(), repo, reconcile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		report, err := Verify(t.Context(), repo, fleet)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Order) != want {
			t.Errorf("%s waits: %+v, want %d problems", waits, report.Order, want)
		}
	}
}
