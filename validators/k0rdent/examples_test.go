package k0rdent

import (
	"strings"

	"github.com/fleetwright/fleetwright/validators/rule"
)

// chains are the templates with the upgrade from one to the other.
var chains = chain("aws-standalone-cp-1-0-43")

// access is an AccessManagement with a rule that hands something to namespaces.
func access(targets, what string) string {
	return `-- clusters/prod/access.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: AccessManagement
metadata:
  name: kcm
spec:
  accessRules:
  - targetNamespaces:
      ` + targets + `
    ` + what + "\n"
}

// service is a MultiClusterService for the clusters that a selector selects.
func service(selector string) string {
	return `-- clusters/prod/service.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: MultiClusterService
metadata:
  name: ingress
spec:
  clusterSelector: ` + selector + `
  serviceSpec:
    services:
    - name: ingress
      namespace: ingress
      template: ingress-4-13-3
`
}

// waiting lets a Kustomization wait until its Release is ready.
const waiting = `  wait: true
  healthCheckExprs:
  - apiVersion: k0rdent.mirantis.com/v1beta1
    kind: Release
    current: has(status.ready) && status.ready
`

// managedBy has a Management of a version in the right order.
func managedBy(version string) string { return stepsOf(version, "release", waiting, "") }

// clusterStep is a Kustomization of its own for clusters, and those that it applies.
func clusterStep(marker, clusters string) string {
	return "-- clusters/prod/clusters.yaml --\n" + strings.Replace(kustomization("k0rdent", ""), "path: ./k0rdent\n", "path: ./k0rdent"+marker+"\n", 1) +
		"-- k0rdent/none.yaml --\n# The clusters are in other files.\n" + strings.ReplaceAll(clusters, "-- clusters/prod/", "-- k0rdent/")
}

// ordered has the templates, the chains and the clusters of files in Kustomizations that wait for each
// other.
func ordered(files string) string {
	steps, on := "", ""
	for _, step := range []struct{ name, file string }{{"templates", "templates.yaml"}, {"services", "ingress.yaml"}, {"chains", "chain.yaml"}, {"deployments", "cluster.yaml"}} {
		at := "-- clusters/prod/" + step.file + " --\n"
		if !strings.Contains(files, at) {
			continue
		}
		files = strings.Replace(files, at, "-- "+step.name+"/"+step.file+" --\n", 1)
		steps += "---\n" + kustomization(step.name, on)
		on = "  dependsOn:\n  - name: " + step.name + "\n"
	}
	return files + "-- clusters/prod/order.yaml --\n" + strings.TrimPrefix(steps, "---\n")
}

// serviceTemplates are a template of services, and the cluster that gets them.
const serviceTemplates = templates + `-- clusters/prod/ingress.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ServiceTemplate
metadata:
  name: ingress-4-13-3
  namespace: kcm-system
spec:
  helm:
    chartSpec:
      chart: ingress
      version: 4.13.3
      interval: 10m0s
      sourceRef:
        kind: HelmRepository
        name: kcm
`

// services are those of a cluster: a database, and one of a name with more fields.
func services(name, more string) string {
	return cluster("aws-standalone-cp-1-0-43", "aws") + `  serviceSpec:
    services:
    - name: database
      namespace: data
      template: ingress-4-13-3
    - name: ` + name + `
      template: ingress-4-13-3
    ` + more + "\n"
}

// dependent is a MultiClusterService that depends on another one.
func dependent(name, on string) string {
	text := strings.Replace(service("{matchLabels: {environment: tools}}"), "name: ingress\nspec:\n", "name: "+name+"\nspec:\n", 1)
	text = strings.Replace(text, "service.yaml", name+".yaml", 1)
	if on != "" {
		text = strings.Replace(text, "  serviceSpec:\n", "  dependsOn:\n  - "+on+"\n  serviceSpec:\n", 1)
	}
	return text
}

// policy is a ClusterAuditPolicy with a rule of a level.
func policy(name, level string) string {
	return `-- clusters/prod/policy.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterAuditPolicy
metadata:
  name: ` + name + `
  namespace: kcm-system
spec:
  policy:
    rules:
    - level: ` + level + "\n"
}

// authentication is a ClusterAuthentication with an issuer.
func authentication(url string) string {
	return `-- clusters/prod/authentication.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterAuthentication
metadata:
  name: people
  namespace: kcm-system
spec:
  authenticationConfiguration:
    jwt:
    - issuer:
        url: ` + url + `
        audiences: [kubernetes]
      claimMappings:
        username:
          claim: sub
          prefix: ""
`
}

// enabled are a Release with the providers of AWS, Azure and k0smotron, and a Management with some.
func enabled(providers ...string) string {
	release := releaseOf("1.11.4")
	spec, templates, _ := strings.Cut(release, "---\n")
	spec += "  providers:\n"
	for _, name := range []string{"cluster-api-provider-aws", "cluster-api-provider-azure", "cluster-api-provider-k0sproject-k0smotron"} {
		spec += "  - name: " + name + "\n    template: " + name + "-1-0-25\n"
		templates += "---\n" + strings.NewReplacer("kcm-1-11-4", name+"-1-0-25", "chart: kcm", "chart: "+name, "1.11.4", "1.0.25").Replace(providerTemplateOf(release))
	}
	m := managementOf("1.11.4", "") + "  providers:\n"
	for _, name := range providers {
		m += "  - name: " + name + "\n"
	}
	return "-- clusters/prod/steps.yaml --\n" + kustomization("release", waiting) + "---\n" + kustomization("management", "  dependsOn:\n  - name: release\n") +
		"-- release/release.yaml --\n" + spec + "---\n" + templates + "-- management/management.yaml --\n" + m
}

// providerTemplateOf is the first ProviderTemplate beside a Release.
func providerTemplateOf(release string) string { return strings.Split(release, "---\n")[1] }

// azure is a template of clusters in Azure.
var azure = strings.NewReplacer("template.yaml", "azure.yaml", "aws-standalone-cp", "azure-standalone-cp").Replace(edited("aws-standalone-cp-1-0-45", "1.0.45"))

// versionedAs are the templates with the version of Kubernetes that clusters get, and the range of
// those that services are for.
func versionedAs(version, constraint string) string {
	return strings.NewReplacer(
		"name: aws-standalone-cp-1-0-43\n  namespace: kcm-system\nspec:\n", "name: aws-standalone-cp-1-0-43\n  namespace: kcm-system\nspec:\n  k8sVersion: "+version+"\n",
		"name: ingress-4-13-3\n  namespace: kcm-system\nspec:\n", "name: ingress-4-13-3\n  namespace: kcm-system\nspec:\n  k8sConstraint: '"+constraint+"'\n",
	).Replace(serviceTemplates)
}

// second is an AccessManagement beside that of access.
func second(name string) string {
	return strings.NewReplacer("access.yaml", "second.yaml", "name: kcm\n", "name: "+name+"\n").Replace(access("list: [team]", "credentials: [aws]"))
}

// withCertManager has kcm in Git, with the switch of its own cert-manager, and other files; its chart
// makes the Management.
func withCertManager(enabled, files string) string {
	return strings.Replace(base, "  values:\n    controller:\n", "  values:\n    regional:\n      cert-manager:\n        enabled: "+enabled+"\n    controller:\n", 1) +
		templates + files
}

// certManager is cert-manager as a release of its own.
const certManager = `-- clusters/prod/cert-manager.yaml --
apiVersion: v1
kind: Namespace
metadata:
  name: cert-manager
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: cert-manager
  namespace: cert-manager
spec:
  interval: 1h
  url: oci://quay.io/jetstack/charts/cert-manager
  ref:
    tag: v1.21.1
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cert-manager
  namespace: cert-manager
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: cert-manager
  values:
    crds:
      enabled: true
`

// base is a management cluster on which Git owns what kcm would make.
var base = rule.FluxSync + `-- clusters/prod/kcm.yaml --
apiVersion: v1
kind: Namespace
metadata:
  name: kcm-system
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata:
  name: kcm
  namespace: kcm-system
spec:
  interval: 1h
  url: https://charts.example.com/kcm
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: kcm
  namespace: kcm-system
spec:
  interval: 1h
  chart:
    spec:
      chart: kcm
      version: 1.11.4
      sourceRef:
        kind: HelmRepository
        name: kcm
  values:
    controller:
      createManagement: false
      createAccessManagement: false
      createRelease: false
      createTemplates: false
`

// templates are two versions of a template, and a credential with its identity.
const templates = `-- clusters/prod/templates.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterTemplate
metadata:
  name: aws-standalone-cp-1-0-42
  namespace: kcm-system
spec:
  helm:
    chartSpec:
      chart: aws-standalone-cp
      version: 1.0.42
      interval: 10m0s
      sourceRef:
        kind: HelmRepository
        name: kcm
---
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterTemplate
metadata:
  name: aws-standalone-cp-1-0-43
  namespace: kcm-system
spec:
  helm:
    chartSpec:
      chart: aws-standalone-cp
      version: 1.0.43
      interval: 10m0s
      sourceRef:
        kind: HelmRepository
        name: kcm
---
apiVersion: k0rdent.mirantis.com/v1beta1
kind: Credential
metadata:
  name: aws
  namespace: kcm-system
spec:
  identityRef:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: AWSClusterStaticIdentity
    name: aws
---
` + identity

// identity is that of the credential.
const identity = `apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSClusterStaticIdentity
metadata:
  name: aws
spec:
  secretRef: aws-secret
`

// chain allows an upgrade to a template.
func chain(to string) string {
	return templates + `-- clusters/prod/chain.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterTemplateChain
metadata:
  name: aws-1-0-43
  namespace: kcm-system
spec:
  supportedTemplates:
  - name: aws-standalone-cp-1-0-42
    availableUpgrades:
    - name: ` + to + `
  - name: aws-standalone-cp-1-0-43
`
}

// cluster is a ClusterDeployment with a template and a credential.
func cluster(template, credential string) string {
	return `-- clusters/prod/cluster.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterDeployment
metadata:
  name: tools
  namespace: kcm-system
  labels:
    environment: tools
spec:
  template: ` + template + `
  credential: ` + credential + `
  config:
    region: eu-central-1
`
}

// releaseOf is a Release of a version, with its templates.
func releaseOf(version string) string {
	dashed := strings.ReplaceAll(version, ".", "-")
	text := `apiVersion: k0rdent.mirantis.com/v1beta1
kind: Release
metadata:
  name: kcm-` + dashed + `
spec:
  version: ` + version + `
  kcm:
    template: kcm-` + dashed + `
  capi:
    template: cluster-api-1-1-15
`
	for _, t := range [][2]string{{"kcm", version}, {"cluster-api", "1.1.15"}} {
		text += `---
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ProviderTemplate
metadata:
  name: ` + t[0] + "-" + strings.ReplaceAll(t[1], ".", "-") + `
spec:
  helm:
    chartSpec:
      chart: ` + t[0] + `
      version: ` + t[1] + `
      interval: 10m0s
      sourceRef:
        kind: HelmRepository
        name: kcm
`
	}
	return text
}

// managementOf is a Management with the Release of a version.
func managementOf(version, marker string) string {
	return `apiVersion: k0rdent.mirantis.com/v1beta1
kind: ` + strings.TrimSpace("Management "+marker) + `
metadata:
  name: kcm
spec:
  release: kcm-` + strings.ReplaceAll(version, ".", "-") + "\n"
}

// managed has the Management and its Release in one Kustomization.
func managed(marker string) string {
	return "-- clusters/prod/k0rdent.yaml --\n" + releaseOf("1.11.4") + "---\n" + managementOf("1.11.4", marker)
}

// steps has them in two Kustomizations, the second of which depends on another.
func steps(on, wait, marker string) string { return stepsOf("1.11.4", on, wait, marker) }

func stepsOf(version, on, wait, marker string) string {
	return "-- clusters/prod/steps.yaml --\n" + kustomization("release", wait) + "---\n" +
		kustomization("management", "  dependsOn:\n  - name: "+on+"\n") +
		"-- release/release.yaml --\n" + releaseOf(version) + "-- management/management.yaml --\n" + managementOf(version, marker)
}

func kustomization(name, spec string) string {
	return `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: ` + name + `
  namespace: flux-system
spec:
  interval: 1h
  retryInterval: 1m
  path: ./` + name + `
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
` + spec
}

// edited is a template of a name with a version of its chart.
func edited(name, version string) string {
	return `-- clusters/prod/template.yaml --
apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterTemplate
metadata:
  name: ` + name + `
  namespace: kcm-system
spec:
  helm:
    chartSpec:
      chart: aws-standalone-cp
      version: ` + version + `
      interval: 10m0s
      sourceRef:
        kind: HelmRepository
        name: kcm
`
}

// from is a template whose chart is in a source of a name.
func from(source string) string {
	return strings.Replace(edited("aws-standalone-cp-1-0-43", "1.0.43"), "name: kcm\n", "name: "+source+"\n", 1)
}
