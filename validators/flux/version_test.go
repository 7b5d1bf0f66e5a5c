package flux

import (
	"fmt"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

func TestMinorOf(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{
		"2.7.x": 7, "v2.9.5": 9, "2.10.0-rc.1": 10, "~2.3": 3, "^2.1.0": 1,
		"2.x": newest, "2": newest, "2.*": newest, "latest": 0, "": 0, "1.2.3": 0, "3.0": 0,
	} {
		if got := minorOf(version); got != want {
			t.Errorf("the minor of %q is %d, want %d", version, got, want)
		}
	}
}

// A version that is gone is an error only where Git tells that the cluster runs a release
// without it.
func TestAPIDeprecatedSeverity(t *testing.T) {
	t.Parallel()
	const repository = `-- clusters/prod/flux.yaml --
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  distribution: {version: %q}
  sync: {kind: GitRepository, url: "https://example.com/fleet.git", ref: refs/heads/main, path: clusters/prod}
-- clusters/prod/podinfo.yaml --
apiVersion: source.toolkit.fluxcd.io/v1beta2
kind: HelmRepository
metadata: {name: podinfo, namespace: flux-system}
spec: {interval: 12h, url: "https://stefanprodan.github.io/podinfo"}
`
	for version, want := range map[string]finding.Severity{
		"2.x": finding.Error, "2.9.x": finding.Error, "2.8.0": finding.Error,
		"2.7.x": finding.Warning, "${FLUX_VERSION}": finding.Warning,
	} {
		repo := ruletest.Load(t, fmt.Sprintf(repository, version))
		out, err := rule.Run(t.Context(), repo, rule.Options{Rules: []rule.Rule{APIDeprecated}})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Findings) != 1 || out.Findings[0].Severity != want {
			t.Errorf("with Flux %s: %v, want one %s", version, out.Findings, want)
		}
	}
}

// The version in the values that a HelmRelease of flux-instance takes from a ConfigMap counts.
func TestVersionOfInstanceRelease(t *testing.T) {
	t.Parallel()
	const files = `-- clusters/prod/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: "https://example.com/fleet.git", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/prod/instance.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: flux-instance, namespace: flux-system}
spec: {interval: 1h, url: "oci://ghcr.io/controlplaneio-fluxcd/charts/flux-instance", ref: {tag: 0.58.0}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: flux-instance, namespace: flux-system}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: flux-instance}, valuesFrom: [{kind: ConfigMap, name: instance-values}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: instance-values, namespace: flux-system}
data: {values.yaml: "instance: {distribution: {version: %s}}"}
`
	for version, want := range map[string]int{"2.6.4": 0, "2.7.x": 1, "2.x": 1} {
		found, _ := ruletest.Run(t, WatchLabelMissing, fmt.Sprintf(files, version))
		if len(found) != want {
			t.Errorf("with Flux %s: %v, want %d findings", version, found, want)
		}
	}
}
