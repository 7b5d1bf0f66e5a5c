package audit

// release is an example's HelmRelease with more of its spec.
func release(more string) string {
	return `-- apps/podinfo.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: podinfo
  namespace: apps
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: podinfo
` + more
}
