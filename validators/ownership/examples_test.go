package ownership

import (
	"github.com/fleetwright/fleetwright/validators/rule"
)

var fluxSync = rule.FluxSync

// kustomization is one whose path is its name.
func kustomization(name string) string {
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
`
}
