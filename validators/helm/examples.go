package helm

import "github.com/fleetwright/fleetwright/validators/rule"

const fluxSync = rule.FluxSync

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
