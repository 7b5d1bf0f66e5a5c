package tenant

import (
	"strings"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// The parts of the examples: a cluster whose Flux is locked down, and a tenant.
const (
	instance = `-- clusters/production/flux.yaml --
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata:
  name: flux
  namespace: flux-system
spec:
  distribution:
    version: 2.9.x
    registry: ghcr.io/fluxcd
  cluster:
    multitenant: true
  sync:
    kind: GitRepository
    url: https://git.example.com/platform/fleet.git
    ref: refs/heads/main
    path: clusters/production
`
	tenants = `-- clusters/production/tenants.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: tenants
  namespace: flux-system
spec:
  serviceAccountName: kustomize-controller
  interval: 1h
  path: ./tenants
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
-- tenants/shop.yaml --
`
	namespace = `apiVersion: v1
kind: Namespace
metadata:
  name: shop
  labels:
    toolkit.fluxcd.io/tenant: shop
    pod-security.kubernetes.io/enforce: restricted
---
`
	access = `apiVersion: v1
kind: ServiceAccount
metadata:
  name: shop
  namespace: shop
  labels:
    toolkit.fluxcd.io/tenant: shop
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: shop
  namespace: shop
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: edit
subjects:
  - kind: ServiceAccount
    name: shop
    namespace: shop
---
`
	sync = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: shop
  namespace: shop
spec:
  interval: 5m
  url: https://git.example.com/shop/deploy.git
  ref:
    branch: main
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: shop
  namespace: shop
spec:
  serviceAccountName: shop
  interval: 1h
  path: ./production
  prune: true
  sourceRef:
    kind: GitRepository
    name: shop
---
`
	quota = `apiVersion: v1
kind: ResourceQuota
metadata:
  name: shop
  namespace: shop
spec:
  hard:
    pods: "50"
    requests.cpu: "8"
    requests.memory: 16Gi
---
`
	network = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: default-deny
  namespace: shop
spec:
  podSelector: {}
  policyTypes:
    - Ingress
    - Egress
`
)

// platform is a locked-down cluster that applies what follows.
const platform = instance + tenants

// whole is a tenant as it should be: what it may write reaches nothing outside of its
// namespace.
func whole() string {
	return platform + namespace + roleOf(`  - apiGroups: [""]
    resources: [configmaps, persistentvolumeclaims]
    verbs: [get, list, watch, create, patch, delete]
`) + sync + quota + network
}

// example is an example of files.
func example(files string) rule.Example {
	return rule.Example{Files: strings.TrimSuffix(files, "---\n")}
}

// replace replaces one text of another, which must hold it once.
func replace(files, before, after string) string {
	if strings.Count(files, before) != 1 {
		panic("the example doesn't hold this once: " + before)
	}
	return strings.Replace(files, before, after, 1)
}
