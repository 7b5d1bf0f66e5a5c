package tenant

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// door is an action that affects objects outside a tenant's namespaces, and that only admission control can
// prevent. line is its number in docs/tenants.md. If several doors have the same line, the first open one is
// reported.
type door struct {
	line string
	// group and resource identify the kind that the tenant must be allowed to write.
	group, resource string
	// object is YAML. NAMESPACE and ACCOUNT in it are replaced by the tenant's.
	object string
	// updated reports whether the object already exists, without the change.
	updated bool
	// words identify a policy of another policy engine that closes the door: one of them is in the policy.
	words []string
	// workload reports whether a controller creates the object for the tenant's workloads.
	workload bool
	// template reports whether the object has a pod template from which a controller of the cluster creates
	// pods. The door is closed if a policy rejects the pod or the object.
	template bool
	// shared reports whether the door matters only to a tenant whose source is a branch of the platform's
	// repository.
	shared bool
	// confined reports whether a tenant that may issue tokens for the accounts of its namespace does not need
	// the door.
	confined bool
	// behind is the line of a door with a larger effect. This door is checked only if that one is closed.
	behind string
	// what describes what the tenant may do.
	what string
}

// doors are all doors in the order in which they are reported. Source: the controllers, which read the objects
// in dependsOn with their own account, and https://kubernetes.io/docs/concepts/security/multi-tenancy/
var doors = slices.Concat([]door{
	{line: "R3", group: fluxapi.KustomizeGroup, resource: "kustomizations", words: []string{"readyExpr", "dependsOn"},
		object: kustomizationOf(`dependsOn: [{name: probe, namespace: flux-system, readyExpr: "true"}]`),
		what:   "read other namespaces' Kustomizations (spec.dependsOn[].readyExpr)"},
	{line: "R6", group: fluxapi.KustomizeGroup, resource: "kustomizations", words: []string{"dependsOn"}, behind: "R3",
		object: kustomizationOf(`dependsOn: [{name: probe, namespace: flux-system}]`),
		what:   "learn which Kustomizations of other namespaces exist and are ready (spec.dependsOn)"},
	{line: "R4", group: fluxapi.HelmGroup, resource: "helmreleases", words: []string{"readyExpr", "dependsOn"},
		object: releaseOf(`dependsOn: [{name: probe, namespace: flux-system, readyExpr: "true"}]`),
		what:   "read other namespaces' HelmReleases (spec.dependsOn[].readyExpr)"},
	{line: "R6", group: fluxapi.HelmGroup, resource: "helmreleases", words: []string{"dependsOn"}, behind: "R4",
		object: releaseOf(`dependsOn: [{name: probe, namespace: flux-system}]`),
		what:   "learn which HelmReleases of other namespaces exist and are ready (spec.dependsOn)"},
	{line: "R5", group: fluxapi.OperatorGroup, resource: "resourcesets", words: []string{"readyExpr", "dependsOn"},
		object: resourceSetOf(`{apiVersion: v1, kind: ConfigMap, name: probe, namespace: flux-system, ready: true, readyExpr: "true"}`),
		what:   "read any object with a ResourceSet (spec.dependsOn[].readyExpr)"},
	// The operator's client ignores the namespace for cluster-scoped kinds.
	{line: "R5", group: fluxapi.OperatorGroup, resource: "resourcesets", words: []string{"readyExpr", "dependsOn"},
		object: resourceSetOf(`{apiVersion: v1, kind: Node, name: probe, namespace: NAMESPACE, ready: true, readyExpr: "true"}`),
		what:   "read Nodes, other Namespaces and the like with a ResourceSet that names its own namespace (spec.dependsOn[].readyExpr)"},
	{line: "R5", group: fluxapi.OperatorGroup, resource: "resourcesets", words: []string{"readyExpr", "dependsOn"},
		object: resourceSetOf(`{apiVersion: v1, kind: Namespace, name: probe, ready: true, readyExpr: "true"}`),
		what:   "read Nodes, other Namespaces and the like with a ResourceSet (spec.dependsOn[].readyExpr)"},
	{line: "A5", group: fluxapi.KustomizeGroup, resource: "kustomizations", words: []string{"kubeConfig"},
		object: kustomizationOf(`kubeConfig: {secretRef: {name: probe}}`),
		what:   "let Flux connect to any API server (spec.kubeConfig)"},
	{line: "A5", group: fluxapi.HelmGroup, resource: "helmreleases", words: []string{"kubeConfig"},
		object: releaseOf(`kubeConfig: {secretRef: {name: probe}}`),
		what:   "let Flux connect to any API server (spec.kubeConfig of a HelmRelease)"},
	{line: "S10", group: fluxapi.SourceGroup, resource: "gitrepositories/status", words: []string{"/status"}, updated: true,
		object: statusOf("source.toolkit.fluxcd.io/v1", "GitRepository", `artifact: {url: "http://example.com/probe.tar.gz"}`),
		what:   "write the status of sources, which decides what is deployed"},
	{line: "R14", group: fluxapi.ArtifactGroup, resource: "artifactgenerators/status", words: []string{"/status"}, updated: true,
		object: statusOf("source.extensions.fluxcd.io/v1beta1", "ArtifactGenerator", `inventory: [{name: probe, namespace: flux-system}]`),
		what:   "delete other namespaces' artifacts with the status of an ArtifactGenerator"},
	{line: "S11", group: fluxapi.SourceGroup, resource: "externalartifacts/status", words: []string{"/status"}, updated: true, behind: "S10",
		object: statusOf("source.toolkit.fluxcd.io/v1", "ExternalArtifact", `artifact: {url: "http://example.com/probe.tar.gz"}`),
		what:   "write the status of ExternalArtifacts, which decides what is deployed"},
	{line: "R15", group: fluxapi.KustomizeGroup, resource: "kustomizations/status", words: []string{"/status"}, updated: true, behind: "S10",
		object: statusOf("kustomize.toolkit.fluxcd.io/v1", "Kustomization", `inventory: {entries: [{id: flux-system_probe__ConfigMap, v: v1}]}`),
		what:   "write the status of Kustomizations, which decides what they delete"},
	{line: "R15", group: fluxapi.HelmGroup, resource: "helmreleases/status", words: []string{"/status"}, updated: true, behind: "S10",
		object: statusOf("helm.toolkit.fluxcd.io/v2", "HelmRelease", `storageNamespace: flux-system`),
		what:   "write the status of HelmReleases, which decides what is installed"},
	{line: "R15", group: fluxapi.ImageGroup, resource: "imagerepositories/status", words: []string{"/status"}, updated: true, behind: "S10",
		object: statusOf("image.toolkit.fluxcd.io/v1", "ImageRepository", `canonicalImageName: probe.invalid/probe`),
		what:   "write the status of ImageRepositories, which decides which images exist"},
	{line: "S18", group: fluxapi.ImageGroup, resource: "imageupdateautomations", words: []string{"ImageUpdateAutomation"}, shared: true,
		object: `{apiVersion: image.toolkit.fluxcd.io/v1, kind: ImageUpdateAutomation, spec: {interval: 1h, sourceRef: {kind: GitRepository, name: probe}, git: {checkout: {ref: {branch: probe}}, push: {branch: probe}}}}`,
		what:   "push to any branch of the platform's repository (ImageUpdateAutomation spec.git)"},
	{line: "N4", group: fluxapi.SourceGroup, resource: "gitrepositories", words: []string{"url", "GitRepository"},
		object: sourceAt("GitRepository", `url: "http://probe.kube-system.svc/probe"`),
		what:   "send requests to addresses inside of the cluster from source-controller (GitRepository spec.url)"},
	{line: "N4", group: fluxapi.SourceGroup, resource: "helmrepositories", words: []string{"url", "HelmRepository"},
		object: sourceAt("HelmRepository", `url: "http://probe.kube-system.svc/probe"`),
		what:   "send requests to addresses inside of the cluster from source-controller (HelmRepository spec.url)"},
	{line: "N4", group: fluxapi.SourceGroup, resource: "ocirepositories", words: []string{"url", "OCIRepository"},
		object: sourceAt("OCIRepository", `url: "oci://probe.kube-system.svc/probe"`),
		what:   "send requests to addresses inside of the cluster from source-controller (OCIRepository spec.url)"},
	{line: "N4", group: fluxapi.SourceGroup, resource: "buckets", words: []string{"endpoint", "Bucket"},
		object: sourceAt("Bucket", `bucketName: probe, endpoint: probe.kube-system.svc`),
		what:   "send requests to addresses inside of the cluster from source-controller (Bucket spec.endpoint)"},
	{line: "N1", group: fluxapi.NotificationGroup, resource: "providers", words: []string{"Provider"},
		object: `{apiVersion: notification.toolkit.fluxcd.io/v1beta3, kind: Provider, spec: {type: generic, address: "http://probe.kube-system.svc"}}`,
		what:   "send requests to any address from notification-controller (Provider)"},
	{line: "N2", group: fluxapi.NotificationGroup, resource: "receivers", words: []string{"oidcProviders", "generic-oidc"},
		object: `{apiVersion: notification.toolkit.fluxcd.io/v1, kind: Receiver, spec: {type: generic-oidc, oidcProviders: [{issuerURL: "http://probe.kube-system.svc"}], resources: [{kind: GitRepository, name: probe}]}}`,
		what:   "send requests to any issuer from notification-controller (Receiver spec.oidcProviders)"},
	{line: "N3", group: fluxapi.OperatorGroup, resource: "resourcesetinputproviders", words: []string{"ResourceSetInputProvider"},
		object: `{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSetInputProvider, spec: {type: ExternalService, url: "http://probe.kube-system.svc"}}`,
		what:   "send requests to any address from the Flux Operator (ResourceSetInputProvider)"},
	{line: "A6", group: fluxapi.OperatorGroup, resource: "fluxinstances", words: []string{"FluxInstance"},
		object: `{apiVersion: fluxcd.controlplane.io/v1, kind: FluxInstance, spec: {distribution: {version: 2.x, registry: ghcr.io/fluxcd}}}`,
		what:   "install Flux (FluxInstance)"},
	{line: "A7", resource: "secrets", words: []string{"service-account-token"}, confined: true,
		object: `{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token}`,
		what:   "create tokens of its accounts (Secret of type service-account-token)"},
	{line: "A8", resource: "pods", words: []string{"serviceAccountName"}, confined: true, workload: true,
		object: podOf("serviceAccountName: ACCOUNT"),
		what:   "run pods as Flux's account"},
	{line: "W1", resource: "pods", words: []string{"priorityClassName"}, workload: true,
		object: podOf("priorityClassName: system-cluster-critical"),
		what:   "evict others' pods (priorityClassName system-cluster-critical)"},
	{line: "H1", resource: "services", words: []string{"externalIPs"},
		object: `{apiVersion: v1, kind: Service, spec: {ports: [{port: 443}], externalIPs: [192.0.2.1]}}`,
		what:   "take over addresses (Service spec.externalIPs)"},
	{line: "H2", resource: "services", words: []string{"loadBalancerIP"}, behind: "H1",
		object: `{apiVersion: v1, kind: Service, spec: {type: LoadBalancer, ports: [{port: 443}], loadBalancerIP: 192.0.2.1}}`,
		what:   "choose a load balancer's address (Service spec.loadBalancerIP)"},
	{line: "H2", resource: "services", words: []string{"loadBalancerIPs"}, behind: "H1",
		object: `{apiVersion: v1, kind: Service, metadata: {annotations: {metallb.io/loadBalancerIPs: 192.0.2.1}}, spec: {type: LoadBalancer, ports: [{port: 443}]}}`,
		what:   "choose a load balancer's address (annotations such as metallb.io/loadBalancerIPs)"},
	{line: "H4", resource: "services", words: []string{"ExternalName"},
		object: `{apiVersion: v1, kind: Service, spec: {type: ExternalName, externalName: probe.flux-system.svc.cluster.local}}`,
		what:   "point a name at other namespaces (Service of type ExternalName)"},
	{line: "H5", group: networkingGroup, resource: "ingresses", words: []string{"host"},
		object: ingressOf("", `rules: [{host: probe.invalid}]`),
		what:   "serve hosts of others (Ingress spec.rules[].host)"},
	{line: "H6", group: networkingGroup, resource: "ingresses", words: []string{"tls"}, behind: "H5",
		object: ingressOf("", `tls: [{hosts: [probe.invalid]}]`),
		what:   "request certificates of others (Ingress spec.tls[].hosts)"},
	{line: "H7", group: networkingGroup, resource: "ingresses", words: []string{"defaultBackend"}, behind: "H5",
		object: ingressOf("", `defaultBackend: {service: {name: probe, port: {number: 80}}}`),
		what:   "serve every host (Ingress spec.defaultBackend)"},
	{line: "H8", group: networkingGroup, resource: "ingresses", words: []string{"server-alias"}, behind: "H5",
		object: ingressOf("nginx.ingress.kubernetes.io/server-alias: probe.invalid", ""),
		what:   "serve others' hosts (annotation server-alias)"},
	{line: "H9", group: networkingGroup, resource: "ingresses", words: []string{"snippet"}, behind: "H5",
		object: ingressOf("nginx.ingress.kubernetes.io/server-snippet: probe", ""),
		what:   "configure the ingress controller (annotations that end in -snippet)"},
	{line: "N5", group: networkingGroup, resource: "ingresses", words: []string{"auth-url"}, behind: "H5",
		object: ingressOf("nginx.ingress.kubernetes.io/auth-url: http://probe.invalid", ""),
		what:   "let the ingress controller call any address (annotation auth-url)"},
	{line: "N5", group: networkingGroup, resource: "ingresses", words: []string{"upstream-vhost"}, behind: "H5",
		object: ingressOf("nginx.ingress.kubernetes.io/upstream-vhost: probe.flux-system.svc", ""),
		what:   "route the ingress controller to other namespaces through a service mesh (annotation upstream-vhost)"},
	{line: "H10", group: networkingGroup, resource: "ingresses", words: []string{"auth-tls-secret"}, behind: "H5",
		object: ingressOf("nginx.ingress.kubernetes.io/auth-tls-secret: flux-system/probe", ""),
		what:   "let the ingress controller read other namespaces' Secrets (annotations that end in -secret)"},
	{line: "H12", group: gatewayGroup, resource: "gateways", words: []string{"hostname"},
		object: gatewayOf(`listeners: [{name: probe, port: 80, protocol: HTTP, hostname: probe.invalid}]`),
		what:   "listen for others' hosts (Gateway spec.listeners[].hostname)"},
	{line: "H12", group: gatewayGroup, resource: "listenersets", words: []string{"hostname"},
		object: `{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, spec: {parentRef: {name: probe}, listeners: [{name: probe, port: 80, protocol: HTTP, hostname: probe.invalid}]}}`,
		what:   "listen for others' hosts (ListenerSet spec.listeners[].hostname)"},
	{line: "H13", group: gatewayGroup, resource: "gateways", words: []string{"addresses"}, behind: "H12",
		object: gatewayOf(`addresses: [{value: 192.0.2.1}], listeners: []`),
		what:   "choose a gateway's address (Gateway spec.addresses)"},
	{line: "H11", group: gatewayGroup, resource: "httproutes", words: []string{"hostnames"},
		object: `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, spec: {parentRefs: [{name: probe}], hostnames: [probe.invalid]}}`,
		what:   "serve others' hosts (HTTPRoute spec.hostnames)"},
	{line: "H17", group: certManagerGroup, resource: "certificates", words: []string{"Certificate", "dnsNames"},
		object: certificateOf(`dnsNames: [probe.invalid]`),
		what:   "obtain certificates for hosts of others (Certificate spec.dnsNames)"},
	{line: "H17", group: certManagerGroup, resource: "certificates", words: []string{"Certificate", "commonName"},
		object: certificateOf(`commonName: probe.invalid`),
		what:   "obtain certificates for hosts of others (Certificate spec.commonName)"},
	{line: "H17", group: certManagerGroup, resource: "certificates", words: []string{"Certificate", "isCA"},
		object: certificateOf(`isCA: true`),
		what:   "sign certificates for others' hosts (Certificate spec.isCA)"},
	{line: "H18", group: certManagerGroup, resource: "certificaterequests", words: []string{"Certificate"},
		object: `{apiVersion: cert-manager.io/v1, kind: CertificateRequest, spec: {issuerRef: {kind: ClusterIssuer, name: probe}, request: cHJvYmU=}}`,
		what:   "obtain certificates for hosts of others (CertificateRequest)"},
}, templateDoors())

// templateDoors returns the doors A8 and W1 again, for the kinds whose controllers create pods.
func templateDoors() []door {
	var doors []door
	for _, w := range workloads {
		spec := func(pod string) string {
			template := `template: {spec: {` + pod + `, containers: [{name: probe, image: probe}]}}`
			if w.kind == "CronJob" {
				template = `jobTemplate: {spec: {` + template + `}}`
			}
			return `{apiVersion: ` + w.group + `/v1, kind: ` + w.kind + `, spec: {` + template + `}}`
		}
		doors = append(doors,
			door{line: "A9", group: w.group, resource: w.resource, words: []string{"serviceAccountName"}, confined: true, template: true, behind: "A8",
				object: spec("serviceAccountName: ACCOUNT"), what: "run pods as Flux's account (the template of a " + w.kind + ")"},
			door{line: "W1", group: w.group, resource: w.resource, words: []string{"priorityClassName"}, template: true,
				object: spec("priorityClassName: system-cluster-critical"), what: "evict others' pods (priorityClassName in the template of a " + w.kind + ")"})
	}
	return doors
}

// workloads are the kinds whose controllers create pods.
var workloads = []struct{ group, resource, kind string }{
	{appsGroup, "deployments", "Deployment"}, {appsGroup, "statefulsets", "StatefulSet"}, {appsGroup, "daemonsets", "DaemonSet"},
	{batchGroup, "jobs", "Job"}, {batchGroup, "cronjobs", "CronJob"},
}

func kustomizationOf(more string) string {
	return `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, spec: {interval: 1h, prune: true, serviceAccountName: ACCOUNT,
  sourceRef: {kind: GitRepository, name: probe}, ` + more + `}}`
}

func releaseOf(more string) string {
	return `{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, spec: {interval: 1h, serviceAccountName: ACCOUNT,
  chartRef: {kind: OCIRepository, name: probe}, ` + more + `}}`
}

func sourceAt(kind, more string) string {
	return `{apiVersion: source.toolkit.fluxcd.io/v1, kind: ` + kind + `, spec: {interval: 1h, ` + more + `}}`
}

func statusOf(apiVersion, kind, status string) string {
	return `{apiVersion: ` + apiVersion + `, kind: ` + kind + `, spec: {interval: 1h}, status: {` + status + `}}`
}

func gatewayOf(spec string) string {
	return `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, spec: {gatewayClassName: probe, ` + spec + `}}`
}

func resourceSetOf(dependency string) string {
	return `{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, spec: {serviceAccountName: ACCOUNT, dependsOn: [` + dependency + `]}}`
}

func podOf(more string) string {
	return `{apiVersion: v1, kind: Pod, spec: {` + more + `, containers: [{name: probe, image: probe}]}}`
}

func certificateOf(more string) string {
	return `{apiVersion: cert-manager.io/v1, kind: Certificate, spec: {secretName: probe, issuerRef: {kind: ClusterIssuer, name: probe}, ` + more + `}}`
}

func ingressOf(annotation, spec string) string {
	return `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {annotations: {` + annotation + `}}, spec: {` + spec + `}}`
}
