package helm

// fluxSync is what flux bootstrap writes for a cluster, without Flux's own manifests.
const fluxSync = `-- clusters/prod/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1m
  ref:
    branch: main
  secretRef:
    name: flux-system
  url: ssh://git@github.com/example/fleet
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 10m
  path: ./clusters/prod
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`

// helmRelease is one of the chart in the repository, with some values.
func helmRelease(values string) string {
	return `-- clusters/prod/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: backend
  namespace: default
spec:
  interval: 1h
  chart:
    spec:
      chart: ./charts/backend
      sourceRef:
        kind: GitRepository
        name: flux-system
        namespace: flux-system
  values:
    image: ghcr.io/example/backend:1.0.0
` + values
}

// chart needs an image.
const chart = `-- charts/backend/Chart.yaml --
apiVersion: v2
name: backend
version: 1.0.0
-- charts/backend/values.yaml --
replicas: 1
-- charts/backend/templates/deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      app: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app: {{ .Release.Name }}
    spec:
      containers:
        - name: backend
          image: {{ required "image is required" .Values.image }}
`

const chartSchema = `-- charts/backend/values.schema.json --
{
  "type": "object",
  "properties": {
    "replicas": {"type": "integer", "minimum": 1},
    "image": {"type": "string"}
  }
}
`
