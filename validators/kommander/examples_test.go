package kommander

import (
	"strings"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// base is a management cluster with a workspace.
var base = rule.FluxSync + inCluster("workspace", `apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: Workspace
metadata:
  name: retail
spec:
  namespaceName: retail
  clusterLabels:
    team: retail
---
apiVersion: v1
kind: Namespace
metadata:
  name: retail
`)

// definitions are two versions of an application, as Kommander's repository has them.
const definitions = `-- services/reloader/0.0.121/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: []
-- services/reloader/1.0.5/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: []
`

// deploy is an AppDeployment of an application.
func deploy(kind, name, more string) string { return deployAt("", kind, name, more) }

func deployAt(marker, kind, name, more string) string {
	text := `apiVersion: apps.kommander.d2iq.io/v1alpha3
kind: AppDeployment
metadata:
  ` + strings.TrimSpace("name: reloader "+marker) + `
  namespace: retail
spec:
  appRef:
    kind: ` + kind + `
    name: ` + name + "\n"
	if more != "" {
		text += "  " + more + "\n"
	}
	return inCluster("app", text)
}

// second is another AppDeployment of the application.
func second(name, more string) string {
	text := strings.Replace(deploy("ClusterApp", name, more), "name: reloader\n", "name: reloader-too\n", 1)
	return strings.Replace(text, "/app.yaml", "/second.yaml", 1)
}

// releases is a definition of the application whose HelmRelease has a name.
func releases(name string) string {
	return strings.ReplaceAll(definitions, "resources: []", "resources: [reloader.yaml]") + release("0.0.121", name) + release("1.0.5", name)
}

func release(version, name string) string {
	return "-- services/reloader/" + version + `/reloader.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: ` + name + `
  namespace: ${releaseNamespace}
spec:
  interval: 15s
  chart:
    spec:
      chart: reloader
      version: ` + version + `
      sourceRef:
        kind: HelmRepository
        name: stakater
        namespace: kommander-flux
`
}

// catalog is a GitRepository with applications that has a label.
func catalog(label string) string {
	return inCluster("catalog", `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: applications
  namespace: retail
  labels:
    kommander.d2iq.io/gitapps-gitrepository-type: catalog
    kommander.d2iq.io/`+label+`
spec:
  interval: 10m
  ref:
    tag: v1.4.0
  url: https://example.com/applications.git
`)
}

// override is an override ConfigMap.
func override(name, namespace, data string) string {
	file, _, _ := strings.Cut(name, " ")
	return inCluster(file+"-of-"+namespace, `apiVersion: v1
kind: ConfigMap
metadata:
  name: `+name+`
  namespace: `+namespace+`
data:
  `+data+"\n")
}

// projectIn is a project of a workspace in a namespace, with a role, and a group.
func projectIn(workspace, namespace string) string {
	return inCluster("project", `apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: Project
metadata:
  name: checkout
  namespace: `+namespace+`
spec:
  workspaceRef:
    name: `+workspace+`
  namespaceName: checkout
  placement:
    clusterSelector: {}
---
apiVersion: v1
kind: Namespace
metadata:
  name: checkout
---
apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: ProjectRole
metadata:
  name: deployer
  namespace: checkout
spec:
  rules:
  - apiGroups: [apps]
    resources: [deployments]
    verbs: [get, patch]
---
apiVersion: kommander.mesosphere.io/v1beta1
kind: VirtualGroup
metadata:
  name: checkout-team
spec:
  subjects:
  - apiGroup: rbac.authorization.k8s.io
    kind: Group
    name: oidc:checkout
`)
}

// placed is a binding of a workspace's role on some clusters.
func placed(placement string) string {
	return inCluster("placed", `apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: VirtualGroupWorkspaceRoleBinding
metadata:
  name: checkout-viewers
  namespace: retail
spec:
  placement:
    `+placement+`
  virtualGroupRef:
    name: checkout-team
  workspaceRoleRef:
    name: workspace-view
`)
}

// binding gives a role to a group in the project.
func binding(role, group string) string { return bindingAt("", role, group) }

func bindingAt(marker, role, group string) string {
	return inCluster("binding", `apiVersion: workspaces.kommander.mesosphere.io/v1alpha1
kind: VirtualGroupProjectRoleBinding
metadata:
  name: checkout-deployers
  namespace: checkout
`+strings.TrimSpace("spec: "+marker)+`
  `+role+`
  virtualGroupRef:
    name: `+group+"\n")
}

// installing is a cluster with a workspace whose controller of AppDeployments comes from Git.
func installing(marker string) string {
	return strings.Replace(base, "kind: Workspace\n", "kind: Workspace"+marker+"\n", 1) + inCluster("appmanagement", installed("kommander-appmanagement", "kommander"))
}

// installed is a HelmRelease with its namespace and source.
func installed(chart, namespace string) string {
	return `apiVersion: v1
kind: Namespace
metadata:
  name: ` + namespace + `
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: ` + chart + `
  namespace: ` + namespace + `
spec:
  interval: 1h
  url: oci://registry.example.com/charts/` + chart + `
  ref:
    tag: 1.0.0
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: ` + chart + `
  namespace: ` + namespace + `
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: ` + chart + "\n"
}

// issuer is an object of cert-manager's.
func issuer(marker string) string {
	return inCluster("issuer", "apiVersion: cert-manager.io/v1\nkind: ClusterIssuer"+marker+"\nmetadata:\n  name: selfsigned-issuer\nspec:\n  selfSigned: {}\n")
}

var (
	certManager = inCluster("cert-manager", installed("cert-manager", "cert-manager"))
)

var (
	kommanderItself = inCluster("kommander", `apiVersion: apps.kommander.d2iq.io/v1alpha3
kind: AppDeployment
metadata:
  name: kommander
  namespace: kommander
spec:
  appRef:
    kind: ClusterApp
    name: kommander-0.4.0
`)
)

// inCluster is a file of the cluster.
func inCluster(name, text string) string { return "-- clusters/prod/" + name + ".yaml --\n" + text }

// selecting selects a cluster by its name.
func selecting(name string) string {
	return `clusterSelector:
    matchExpressions:
    - key: kommander.d2iq.io/cluster-name
      operator: In
      values:
      - ` + name
}

// attached is an attached cluster.
var attached = inCluster("cluster", `apiVersion: kommander.mesosphere.io/v1beta1
kind: KommanderCluster
metadata:
  name: retail-production
  namespace: retail
  labels:
    environment: production
spec:
  kubeconfigRef:
    name: retail-production-kubeconfig
`)
