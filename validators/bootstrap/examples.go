package bootstrap

// helmfile is an example's bootstrap: cilium, with a version and one value.
func helmfile(version, value string) string {
	return `-- bootstrap/helmfile.yaml --
releases:
  - name: cilium
    namespace: kube-system
    chart: oci://quay.io/cilium/charts/cilium
    version: ` + version + `
    values:
      - ` + value + `
`
}

// cilium is an example's HelmRelease with its source.
func cilium(value string) string {
	return `-- kubernetes/apps/kube-system/cilium/app/helmrelease.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cilium
  namespace: kube-system
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: cilium
  values:
    ` + value + `
-- kubernetes/apps/kube-system/cilium/app/ocirepository.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: cilium
  namespace: kube-system
spec:
  interval: 1h
  url: oci://quay.io/cilium/charts/cilium
  ref:
    tag: 1.18.6
`
}

// generated reads everything from Git.
const generated = `-- bootstrap/helmfile.yaml --
releases:
  - name: cilium
    namespace: kube-system
    chart: '{{ readFile "../kubernetes/apps/kube-system/cilium/app/ocirepository.yaml" | fromYaml | get "spec.url" }}'
    version: '{{ readFile "../kubernetes/apps/kube-system/cilium/app/ocirepository.yaml" | fromYaml | get "spec.ref.tag" }}'
    values:
      - values.yaml.gotmpl
-- bootstrap/values.yaml.gotmpl --
{{ readFile "../kubernetes/apps/kube-system/cilium/app/helmrelease.yaml" | fromYaml | get "spec.values" (dict) | toYaml }}
`

// missing reads from a folder that is gone.
const missing = `-- bootstrap/helmfile.yaml --
releases:
  - name: spegel # <-- here
    namespace: kube-system
    chart: oci://ghcr.io/spegel-org/helm-charts/spegel
    version: '{{ readFile "../kubernetes/apps/kube-system/spegel/app/ocirepository.yaml" | fromYaml | get "spec.ref.tag" }}'
-- kubernetes/flux/cluster/ks.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: cluster-apps
  namespace: flux-system
spec:
  interval: 1h
  path: ./kubernetes/apps
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`

// substituting lets Flux substitute variables in what it applies.
const substituting = `-- kubernetes/flux/cluster/ks.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: cilium
  namespace: flux-system
spec:
  interval: 1h
  path: ./kubernetes/apps/kube-system/cilium/app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  postBuild:
    substituteFrom:
      - kind: Secret
        name: cluster-secrets
`
