package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Overlay is bootstrap-overlay.
var Overlay = rule.Rule{
	ID:       bootstrap.RuleOverlay,
	Title:    "a kustomize patch changes values that the bootstrap has unpatched",
	Severity: finding.Error,
	Why: `The bootstrap reads the HelmRelease's file, or a copy of it. Flux applies what kustomize makes of it: after
the patches of overlays and components, and of the Flux Kustomizations above. The patched value is what the
cluster will run with, and the bootstrap starts it with the other.`,
	Fix: `Move what the patch sets into the HelmRelease. Where clusters differ, give each a HelmRelease file of its own
that its bootstrap can read.`,
	Bad:  []rule.Example{{Files: helmfile("1.18.6", "replicas: 1 # <-- here") + cilium("replicas: 1") + overlay}},
	Good: []rule.Example{{Files: helmfile("1.18.6", "replicas: 3") + cilium("replicas: 1") + overlay}},
	Run:  func(p *rule.Pass) { drifts(p, bootstrap.RuleOverlay) },
}

// overlay patches the example's HelmRelease.
const overlay = `-- kubernetes/apps/kube-system/cilium/app/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - helmrelease.yaml
  - ocirepository.yaml
-- clusters/production/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - ../../kubernetes/apps/kube-system/cilium/app
patches:
  - patch: |
      apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      metadata:
        name: cilium
        namespace: kube-system
      spec:
        values:
          replicas: 3
`
