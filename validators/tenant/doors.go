package tenant

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// door is something that reaches out of a tenant's namespaces, and that only admission can
// refuse. Line is its number in docs/tenants.md; of several with the same, the first that is
// open is reported.
type door struct {
	line string
	// resource that the tenant must be allowed to write, with its group.
	group, resource string
	// object in YAML; NAMESPACE and ACCOUNT are the tenant's.
	object string
	// updated says that the object is there before, without what changes.
	updated bool
	// words of which one is in the policy of another engine that refuses it.
	words []string
	// workload says that a controller creates the object for the tenant's workloads.
	workload bool
	// confined says that who may issue tokens of the namespace's accounts needs no door.
	confined bool
	// behind is the line of a door that leads to the same: it is looked at where that one
	// is closed.
	behind string
	// what the tenant may do.
	what string
}

// doors in the order in which they are told.
// Source: the controllers, which read what dependsOn names with their own account, and
// https://kubernetes.io/docs/concepts/security/multi-tenancy/
var doors = []door{
	{line: "R3", group: kustomizeGroup, resource: "kustomizations", words: []string{"readyExpr", "dependsOn"},
		object: kustomizationOf(`dependsOn: [{name: probe, namespace: flux-system, readyExpr: "true"}]`),
		what:   "read other namespaces' Kustomizations (spec.dependsOn[].readyExpr)"},
	{line: "R4", group: helmGroup, resource: "helmreleases", words: []string{"readyExpr", "dependsOn"},
		object: `{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, spec: {interval: 1h, serviceAccountName: ACCOUNT,
  chartRef: {kind: OCIRepository, name: probe}, dependsOn: [{name: probe, namespace: flux-system, readyExpr: "true"}]}}`,
		what: "read other namespaces' HelmReleases (spec.dependsOn[].readyExpr)"},
	{line: "R5", group: operatorGroup, resource: "resourcesets", words: []string{"readyExpr", "dependsOn"},
		object: resourceSetOf(`{apiVersion: v1, kind: ConfigMap, name: probe, namespace: flux-system, ready: true, readyExpr: "true"}`),
		what:   "read any object with a ResourceSet (spec.dependsOn[].readyExpr)"},
	// The operator's client drops the namespace of kinds that belong to the whole cluster.
	{line: "R5", group: operatorGroup, resource: "resourcesets", words: []string{"readyExpr", "dependsOn"},
		object: resourceSetOf(`{apiVersion: v1, kind: Node, name: probe, namespace: NAMESPACE, ready: true, readyExpr: "true"}`),
		what:   "read Nodes, other Namespaces and the like with a ResourceSet that names its own namespace (spec.dependsOn[].readyExpr)"},
	{line: "R5", group: operatorGroup, resource: "resourcesets", words: []string{"readyExpr", "dependsOn"},
		object: resourceSetOf(`{apiVersion: v1, kind: Namespace, name: probe, ready: true, readyExpr: "true"}`),
		what:   "read Nodes, other Namespaces and the like with a ResourceSet (spec.dependsOn[].readyExpr)"},
	{line: "A5", group: kustomizeGroup, resource: "kustomizations", words: []string{"kubeConfig"},
		object: kustomizationOf(`kubeConfig: {secretRef: {name: probe}}`),
		what:   "let Flux connect to any API server (spec.kubeConfig)"},
	{line: "S10", group: sourceGroup, resource: "gitrepositories/status", words: []string{"/status"}, updated: true,
		object: `{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, spec: {interval: 1h, url: "https://example.com/probe"}, status: {artifact: {url: "http://example.com/probe.tar.gz"}}}`,
		what:   "write the status of sources, which says what is deployed"},
	{line: "R14", group: artifactGroup, resource: "artifactgenerators/status", words: []string{"/status"}, updated: true,
		object: `{apiVersion: source.extensions.fluxcd.io/v1beta1, kind: ArtifactGenerator, spec: {}, status: {inventory: [{name: probe, namespace: flux-system}]}}`,
		what:   "delete other namespaces' artifacts by the status of an ArtifactGenerator"},
	{line: "N1", group: notificationGroup, resource: "providers", words: []string{"Provider"},
		object: `{apiVersion: notification.toolkit.fluxcd.io/v1beta3, kind: Provider, spec: {type: generic, address: "http://probe.kube-system.svc"}}`,
		what:   "send requests to any address from notification-controller (Provider)"},
	{line: "N2", group: notificationGroup, resource: "receivers", words: []string{"oidcProviders", "generic-oidc"},
		object: `{apiVersion: notification.toolkit.fluxcd.io/v1, kind: Receiver, spec: {type: generic-oidc, oidcProviders: [{issuerURL: "http://probe.kube-system.svc"}], resources: [{kind: GitRepository, name: probe}]}}`,
		what:   "send requests to any issuer from notification-controller (Receiver spec.oidcProviders)"},
	{line: "N3", group: operatorGroup, resource: "resourcesetinputproviders", words: []string{"ResourceSetInputProvider"},
		object: `{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSetInputProvider, spec: {type: ExternalService, url: "http://probe.kube-system.svc"}}`,
		what:   "send requests to any address from the Flux Operator (ResourceSetInputProvider)"},
	{line: "A6", group: operatorGroup, resource: "fluxinstances", words: []string{"FluxInstance"},
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
	{line: "H4", resource: "services", words: []string{"ExternalName"},
		object: `{apiVersion: v1, kind: Service, spec: {type: ExternalName, externalName: probe.flux-system.svc.cluster.local}}`,
		what:   "lead a name to other namespaces (Service of type ExternalName)"},
	{line: "H5", group: networkingGroup, resource: "ingresses", words: []string{"host"},
		object: ingressOf("", `rules: [{host: probe.invalid}]`),
		what:   "serve others' hosts (Ingress spec.rules[].host)"},
	{line: "H6", group: networkingGroup, resource: "ingresses", words: []string{"tls"}, behind: "H5",
		object: ingressOf("", `tls: [{hosts: [probe.invalid]}]`),
		what:   "request others' certificates (Ingress spec.tls[].hosts)"},
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
		what:   "lead the ingress controller to other namespaces through a service mesh (annotation upstream-vhost)"},
	{line: "H11", group: "gateway.networking.k8s.io", resource: "httproutes", words: []string{"hostnames"},
		object: `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, spec: {parentRefs: [{name: probe}], hostnames: [probe.invalid]}}`,
		what:   "serve others' hosts (HTTPRoute spec.hostnames)"},
	{line: "H17", group: certManagerGroup, resource: "certificates", words: []string{"Certificate", "dnsNames"},
		object: certificateOf(`dnsNames: [probe.invalid]`),
		what:   "have certificates for others' hosts (Certificate spec.dnsNames)"},
	{line: "H17", group: certManagerGroup, resource: "certificates", words: []string{"Certificate", "commonName"},
		object: certificateOf(`commonName: probe.invalid`),
		what:   "have certificates for others' hosts (Certificate spec.commonName)"},
	{line: "H17", group: certManagerGroup, resource: "certificates", words: []string{"Certificate", "isCA"},
		object: certificateOf(`isCA: true`),
		what:   "sign certificates for others' hosts (Certificate spec.isCA)"},
	{line: "H18", group: certManagerGroup, resource: "certificaterequests", words: []string{"Certificate"},
		object: `{apiVersion: cert-manager.io/v1, kind: CertificateRequest, spec: {issuerRef: {kind: ClusterIssuer, name: probe}, request: cHJvYmU=}}`,
		what:   "have certificates for others' hosts (CertificateRequest)"},
}

func kustomizationOf(more string) string {
	return `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, spec: {interval: 1h, prune: true, serviceAccountName: ACCOUNT,
  sourceRef: {kind: GitRepository, name: probe}, ` + more + `}}`
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

// probe is an object that is tried on the admission policies, in a namespace.
func probe(text, namespace, flux string) *reconcile.Object {
	value := map[string]any{}
	text = strings.NewReplacer("NAMESPACE", namespace, "ACCOUNT", flux).Replace(text)
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		panic(err) // it holds nothing but texts of this package
	}
	metadata, _ := value["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		value["metadata"] = metadata
	}
	metadata["name"], metadata["namespace"] = "probe", namespace
	o := &reconcile.Object{Value: value}
	o.APIVersion, _ = value["apiVersion"].(string)
	o.Kind, _ = value["kind"].(string)
	o.Name, o.Namespace = "probe", namespace
	if group, _, found := strings.Cut(o.APIVersion, "/"); found {
		o.Group = group
	}
	return o
}

// place is where a tenant may write something: a namespace, as an account.
type place struct {
	namespace string
	by        account
	grant     grant
}

// mayWrite finds where a tenant may write a resource, as an account of the namespace if
// there is one; false where it may not, or where that is not known.
func (c *cluster) mayWrite(t *tenant, group, resource string) (place, bool) {
	var elsewhere []place
	for _, namespace := range t.sorted() {
		for _, g := range c.index.bound[namespace] {
			if g.other || g.account.name == "" || c.ownerOf(g.account) != t || !c.allows(g, group, resource) {
				continue
			}
			if g.account.namespace == namespace {
				return place{namespace, g.account, g}, true
			}
			elsewhere = append(elsewhere, place{namespace, g.account, g})
		}
	}
	if len(elsewhere) == 0 {
		return place{}, false
	}
	return elsewhere[0], true
}

// workloads are kinds whose controllers create pods.
var workloads = [][2]string{{appsGroup, "deployments"}, {appsGroup, "statefulsets"}, {appsGroup, "daemonsets"}, {"batch", "jobs"}, {"batch", "cronjobs"}}

// reaches finds where a tenant may do what a door is about.
func (c *cluster) reaches(t *tenant, d door) (place, bool) {
	at, may := c.mayWrite(t, d.group, d.resource)
	for i := 0; d.workload && !may && i < len(workloads); i++ {
		at, may = c.mayWrite(t, workloads[i][0], workloads[i][1])
	}
	if may && d.confined {
		if _, issues := c.mayWrite(t, "", "serviceaccounts/token"); issues {
			return place{}, false
		}
	}
	return at, may
}

// allows says whether a grant lets somebody create or patch a resource.
func (c *cluster) allows(g grant, group, resource string) bool {
	if g.isBuiltIn() && len(c.Find(reconcile.Identity{Group: rbacGroup, Kind: g.roleKind, Name: g.roleName})) == 0 {
		return g.roleName == "cluster-admin" || g.roleName != "view" && slices.Contains(aggregated, group)
	}
	id := reconcile.Identity{Group: rbacGroup, Kind: g.roleKind, Name: g.roleName}
	if g.roleKind == "Role" {
		id.Namespace = g.namespace
	}
	for _, o := range c.Find(id) {
		for i := range o.List("rules") {
			rule := policyRule{groups: texts(o, "rules", i, "apiGroups"), resources: texts(o, "rules", i, "resources"), verbs: texts(o, "rules", i, "verbs")}
			if rule.allows("create", group, resource) || rule.allows("patch", group, resource) {
				return true
			}
		}
	}
	return false
}

// aggregated are the groups of which Kubernetes' roles edit and admin grant the kinds that
// are judged here: its own, and those that Flux adds.
// Source: config/rbac of flux2, ClusterRole flux-edit.
var aggregated = []string{"", appsGroup, "batch", networkingGroup, kustomizeGroup, helmGroup, sourceGroup, artifactGroup, imageGroup, notificationGroup}
