package flux

import (
	"github.com/fleetwright/fleetwright/validators/rule"
)

var fluxSync = rule.FluxSync

// podinfoNamespace is an application that is as good as none.
const podinfoNamespace = `-- apps/namespace.yaml --
apiVersion: v1
kind: Namespace
metadata:
  name: podinfo
`

// apps is a Kustomization of ./apps, with more fields of its spec.
func apps(more string) string { return kustomization("apps", more) }

// kustomization is one whose path is its name.
func kustomization(name, more string) string {
	return `-- clusters/prod/` + name + `.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ` + name + `
  namespace: flux-system
spec:
  interval: 1h
  path: ./` + name + `
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
` + more
}

// controllers is an infrastructure with one HelmRelease.
const controllers = `-- infrastructure/metrics-server.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata:
  name: metrics-server
  namespace: flux-system
spec:
  interval: 12h
  url: https://kubernetes-sigs.github.io/metrics-server
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: metrics-server
  namespace: flux-system
spec:
  interval: 1h
  releaseName: metrics-server
  targetNamespace: kube-system
  storageNamespace: kube-system
  chart:
    spec:
      chart: metrics-server
      version: 3.13.0
      sourceRef:
        kind: HelmRepository
        name: metrics-server
`

// settings use one variable.
const settings = `-- apps/settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: default
data:
  cluster: ${CLUSTER_NAME}
`

// podinfoRelease is a HelmRelease that reads its values from a ConfigMap.
func podinfoRelease(values string) string {
	return podinfoSource + `-- clusters/prod/podinfo.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: podinfo
  namespace: flux-system
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: podinfo
  valuesFrom:
    - kind: ConfigMap
      name: ` + values + "\n"
}

// podinfoSource is where podinfo's chart comes from.
const podinfoSource = `-- clusters/prod/source.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: podinfo
  namespace: flux-system
spec:
  interval: 1h
  url: oci://ghcr.io/stefanprodan/charts/podinfo
  ref:
    semver: 6.x
  verify:
    provider: cosign
`

// podinfoIn is one of several HelmReleases of podinfo.
func podinfoIn(name, more string) string {
	return `-- clusters/prod/` + name + `.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: ` + name + `
  namespace: flux-system
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: podinfo
` + more
}

// podinfoSettings stand in a folder below ./apps.
const podinfoSettings = `-- apps/podinfo/settings.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: default
data:
  level: info
`

// keda is an infrastructure whose chart defines kinds.
const keda = `-- infrastructure/keda.yaml --
apiVersion: v1
kind: Namespace
metadata:
  name: keda
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata:
  name: keda
  namespace: keda
spec:
  interval: 12h
  url: https://kedacore.github.io/charts
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: keda
  namespace: keda
spec:
  interval: 1h
  chart:
    spec:
      chart: keda
      version: 2.17.0
      sourceRef:
        kind: HelmRepository
        name: keda
`
