package mutation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/finding"
)

// metaOf begins a manifest.
func metaOf(apiVersion, kind, more string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: extra}\n" + more
}

// forbidden are manifests that the cluster of the example classic refuses its tenant, whose profile is edit and whose host
// is shop.example.com.
var forbidden = map[string]string{
	// What belongs to the whole cluster.
	"Namespace":                 metaOf("v1", "Namespace", ""),
	"ClusterRole":               metaOf("rbac.authorization.k8s.io/v1", "ClusterRole", "rules: []\n"),
	"ClusterRoleBinding":        metaOf("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\nsubjects: [{kind: ServiceAccount, name: shop-helm, namespace: shop}]\n"),
	"PriorityClass":             metaOf("scheduling.k8s.io/v1", "PriorityClass", "value: 1000\n"),
	"StorageClass":              metaOf("storage.k8s.io/v1", "StorageClass", "provisioner: example.com/disk\n"),
	"PersistentVolume":          metaOf("v1", "PersistentVolume", "spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /}}\n"),
	"ValidatingAdmissionPolicy": metaOf("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "spec: {policyName: extra, validationActions: [Audit]}\n"),
	"IngressClass":              metaOf("networking.k8s.io/v1", "IngressClass", "spec: {controller: example.com/own}\n"),
	"GatewayClass":              metaOf("gateway.networking.k8s.io/v1", "GatewayClass", "spec: {controllerName: example.com/own}\n"),
	"ClusterIssuer":             metaOf("cert-manager.io/v1", "ClusterIssuer", "spec: {selfSigned: {}}\n"),
	// Kinds that its role does not have.
	"ResourceQuota": metaOf("v1", "ResourceQuota", "spec: {hard: {pods: \"1000\"}}\n"),
	"LimitRange":    metaOf("v1", "LimitRange", "spec: {limits: [{type: Container}]}\n"),
	"NetworkPolicy": metaOf("networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {}, ingress: [{}]}\n"),
	"Pod":           metaOf("v1", "Pod", "spec: {containers: [{name: one, image: registry.example.com/one:1}]}\n"),
	"Endpoints":     metaOf("v1", "Endpoints", "subsets: [{addresses: [{ip: 10.0.0.1}], ports: [{port: 80}]}]\n"),
	"EndpointSlice": metaOf("discovery.k8s.io/v1", "EndpointSlice", "addressType: IPv4\nendpoints: [{addresses: [10.0.0.1]}]\n"),
	"Gateway":       metaOf("gateway.networking.k8s.io/v1", "Gateway", "spec: {gatewayClassName: public, listeners: [{name: http, port: 80, protocol: HTTP, hostname: shop.example.com}]}\n"),
	"Certificate":   metaOf("cert-manager.io/v1", "Certificate", "spec: {secretName: extra, dnsNames: [shop.example.com], issuerRef: {name: public, kind: ClusterIssuer}}\n"),
	"Alert":         metaOf("notification.toolkit.fluxcd.io/v1beta3", "Alert", "spec: {providerRef: {name: extra}, eventSources: [{kind: HelmRelease, name: '*'}]}\n"),
	"Provider":      metaOf("notification.toolkit.fluxcd.io/v1beta3", "Provider", "spec: {type: generic, address: https://example.com}\n"),
	// More rights than it has.
	"RoleBinding to cluster-admin":           metaOf("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: [{kind: ServiceAccount, name: shop-helm, namespace: shop}]\n"),
	"RoleBinding of another account":         metaOf("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: [{kind: ServiceAccount, name: default, namespace: shop}]\n"),
	"RoleBinding of a person":                metaOf("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]\n"),
	"RoleBinding to admin":                   metaOf("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}\nsubjects: [{kind: ServiceAccount, name: shop-helm, namespace: shop}]\n"),
	"Role for everything":                    metaOf("rbac.authorization.k8s.io/v1", "Role", "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]\n"),
	"Role with what the tenant doesn't have": metaOf("rbac.authorization.k8s.io/v1", "Role", "rules: [{apiGroups: [''], resources: [resourcequotas], verbs: [create, patch]}]\n"),
	// Hosts of others.
	"Ingress of another host":          metaOf("networking.k8s.io/v1", "Ingress", "spec: {rules: [{host: bank.example.com}]}\n"),
	"Ingress of every host":            metaOf("networking.k8s.io/v1", "Ingress", "spec: {rules: [{http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: shop, port: {number: 80}}}}]}}]}\n"),
	"Ingress with a default backend":   metaOf("networking.k8s.io/v1", "Ingress", "spec: {defaultBackend: {service: {name: shop, port: {number: 80}}}}\n"),
	"Ingress with another host's TLS":  metaOf("networking.k8s.io/v1", "Ingress", "spec: {rules: [{host: shop.example.com}], tls: [{hosts: [bank.example.com], secretName: bank}]}\n"),
	"Ingress of a wildcard":            metaOf("networking.k8s.io/v1", "Ingress", "spec: {rules: [{host: '*.example.com'}]}\n"),
	"Ingress of a host below its own":  metaOf("networking.k8s.io/v1", "Ingress", "spec: {rules: [{host: www.shop.example.com}]}\n"),
	"HTTPRoute of another host":        metaOf("gateway.networking.k8s.io/v1", "HTTPRoute", "spec: {parentRefs: [{name: public, namespace: gateways}], hostnames: [bank.example.com]}\n"),
	"HTTPRoute of every host":          metaOf("gateway.networking.k8s.io/v1", "HTTPRoute", "spec: {parentRefs: [{name: public, namespace: gateways}]}\n"),
	"GRPCRoute of another host":        metaOf("gateway.networking.k8s.io/v1", "GRPCRoute", "spec: {parentRefs: [{name: public, namespace: gateways}], hostnames: [shop.example.com, bank.example.com]}\n"),
	"Ingress with a host's annotation": "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: extra, annotations: {nginx.ingress.kubernetes.io/server-alias: bank.example.com}}\nspec: {rules: [{host: shop.example.com}]}\n",
	"Service with a host's annotation": "apiVersion: v1\nkind: Service\nmetadata: {name: extra, annotations: {external-dns.alpha.kubernetes.io/hostname: bank.example.com}}\nspec: {ports: [{port: 80}]}\n",
	// Flux's objects.
	"GitRepository of another URL":              metaOf("source.toolkit.fluxcd.io/v1", "GitRepository", "spec: {interval: 1h, url: https://git.example.net/other/team, ref: {branch: main}}\n"),
	"HelmRepository of another URL":             metaOf("source.toolkit.fluxcd.io/v1", "HelmRepository", "spec: {interval: 1h, url: https://charts.example.net}\n"),
	"Bucket":                                    metaOf("source.toolkit.fluxcd.io/v1", "Bucket", "spec: {interval: 1h, endpoint: example.net, bucketName: other}\n"),
	"HelmRelease without account":               metaOf("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec: {interval: 1h, chartRef: {kind: OCIRepository, name: podinfo}}\n"),
	"HelmRelease of another account":            metaOf("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec: {interval: 1h, serviceAccountName: admin, chartRef: {kind: OCIRepository, name: podinfo}}\n"),
	"HelmRelease of the default account":        metaOf("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec: {interval: 1h, serviceAccountName: default, chartRef: {kind: OCIRepository, name: podinfo}}\n"),
	"HelmRelease of an account of its own":      metaOf("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec: {interval: 1h, serviceAccountName: extra, chartRef: {kind: OCIRepository, name: podinfo}}\n"+"---\n"+metaOf("v1", "ServiceAccount", "")),
	"Kustomization of the default account":      metaOf("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec: {interval: 1h, prune: true, path: ./more, serviceAccountName: default, sourceRef: {kind: GitRepository, name: own}}\n"+ownSource),
	"Kustomization of an account of its own":    metaOf("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec: {interval: 1h, prune: true, path: ./more, serviceAccountName: extra, sourceRef: {kind: GitRepository, name: own}}\n"+ownSource+"---\n"+metaOf("v1", "ServiceAccount", "")),
	"HelmRelease of another namespace's source": metaOf("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec: {interval: 1h, serviceAccountName: shop-helm, chartRef: {kind: OCIRepository, name: cert-manager, namespace: flux-system}}\n"),
	"HelmRelease into another namespace":        metaOf("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec: {interval: 1h, serviceAccountName: shop-helm, targetNamespace: kube-system, chartRef: {kind: OCIRepository, name: podinfo}}\n"),
	"HelmRelease to another cluster":            metaOf("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec: {interval: 1h, serviceAccountName: shop-helm, kubeConfig: {secretRef: {name: other}}, chartRef: {kind: OCIRepository, name: podinfo}}\n"),
	"Kustomization that waits for the platform": metaOf("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec: {interval: 1h, prune: true, path: ./more, serviceAccountName: shop-helm, sourceRef: {kind: GitRepository, name: own}, dependsOn: [{name: flux-system, namespace: flux-system}]}\n"+ownSource),
	"HelmRelease that waits for the platform":   metaOf("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec: {interval: 1h, serviceAccountName: shop-helm, chartRef: {kind: GitRepository, name: own}, dependsOn: [{name: cert-manager, namespace: flux-system}]}\n"+ownSource),
	"Kustomization without account":             metaOf("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec: {interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: extra}}\n"),
	// An allowed URL, fetched in another way.
	"GitRepository with submodules":            gitRepository("recurseSubmodules: true"),
	"GitRepository through a proxy":            gitRepository("proxySecretRef: {name: proxy}"),
	"GitRepository with a controller's rights": gitRepository("provider: azure"),
	// Workloads, of which the API server refuses the template or the pods.
	"Deployment of a system's priority":   workloadOf("Deployment", "priorityClassName: system-cluster-critical", ""),
	"StatefulSet of a node's priority":    workloadOf("StatefulSet", "priorityClassName: system-node-critical", ""),
	"CronJob of a system's priority":      workloadOf("CronJob", "priorityClassName: system-cluster-critical", ""),
	"Deployment that runs as Flux":        workloadOf("Deployment", "serviceAccountName: shop-helm", ""),
	"Job that runs as Flux":               workloadOf("Job", "serviceAccount: shop-helm", ""),
	"privileged Deployment":               workloadOf("Deployment", "hostname: one", "privileged: true, "),
	"Deployment in the host's network":    workloadOf("Deployment", "hostNetwork: true", ""),
	"DaemonSet with a folder of the host": workloadOf("DaemonSet", "volumes: [{name: host, hostPath: {path: /}}]", ""),
	"Secret with the token of an account": "apiVersion: v1\nkind: Secret\nmetadata: {name: extra, annotations: {kubernetes.io/service-account.name: shop-helm}}\ntype: kubernetes.io/service-account-token\n",
	// What the platform's check reads from the tenant's repository.
	"Secret in plaintext":             metaOf("v1", "Secret", "stringData: {password: Xk29vQ7mTz4pLw8e}\n"),
	"GitRepository of another branch": metaOf("source.toolkit.fluxcd.io/v1", "GitRepository", "spec: {interval: 1h, url: 'ssh://git@git.classic.example/platform/fleet.git', secretRef: {name: shop-source}, ref: {branch: main}}\n"),
	"GitRepository of a tag":          metaOf("source.toolkit.fluxcd.io/v1", "GitRepository", "spec: {interval: 1h, url: 'ssh://git@git.classic.example/platform/fleet.git', secretRef: {name: shop-source}, ref: {branch: tenant/shop, tag: v1}}\n"),
	"GitRepository of every branch":   metaOf("source.toolkit.fluxcd.io/v1", "GitRepository", "spec: {interval: 1h, url: 'ssh://git@git.classic.example/platform/fleet.git', secretRef: {name: shop-source}}\n"),
}

// ownSource is a GitRepository with the tenant's own URL, after another manifest.
const ownSource = "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: own}\nspec: {interval: 1h, url: 'ssh://git@git.classic.example/platform/fleet.git', secretRef: {name: shop-source}, ref: {branch: tenant/shop}}\n"

// gitRepository has the tenant's own URL.
func gitRepository(more string) string {
	return metaOf("source.toolkit.fluxcd.io/v1", "GitRepository", "spec: {interval: 1h, url: 'ssh://git@git.classic.example/platform/fleet.git', secretRef: {name: shop-source}, ref: {branch: tenant/shop}, "+more+"}\n")
}

// workloadOf is a workload that the level restricted admits, except for fields of its pods and of their security.
func workloadOf(kind, pod, security string) string {
	group, template := "apps/v1", `template: {metadata: {labels: {app: extra}}, spec: {`+pod+`, restartPolicy: Always, containers: [{
  name: one, image: "registry.example.com/one@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
  resources: {requests: {cpu: 1m, memory: 1Mi}, limits: {memory: 1Mi}},
  securityContext: {`+security+`allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, runAsNonRoot: true, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}}]}}`
	switch kind {
	case "Job", "CronJob":
		group, template = "batch/v1", strings.Replace(template, "Always", "Never", 1)
		if kind == "CronJob" {
			template = `schedule: "0 0 * * *", jobTemplate: {spec: {` + template + `}}`
		}
	default:
		template = "selector: {matchLabels: {app: extra}}, " + template
		if kind == "StatefulSet" {
			template = "serviceName: extra, " + template
		}
	}
	return metaOf(group, kind, "spec: {"+template+"}\n")
}

// allowed are manifests that the cluster of the example classic lets its tenant apply.
var allowed = map[string]string{
	"ConfigMap":             metaOf("v1", "ConfigMap", "data: {a: b}\n"),
	"Service":               metaOf("v1", "Service", "spec: {ports: [{port: 80}]}\n"),
	"ServiceAccount":        metaOf("v1", "ServiceAccount", ""),
	"Role within its own":   metaOf("rbac.authorization.k8s.io/v1", "Role", "rules: [{apiGroups: [''], resources: [configmaps], verbs: [get, create, patch]}, {apiGroups: [apps], resources: [deployments], verbs: [patch]}, {apiGroups: [''], resources: [pods], verbs: [get]}]\n"),
	"RoleBinding to a Role": metaOf("rbac.authorization.k8s.io/v1", "RoleBinding", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: extra}\nsubjects: [{kind: ServiceAccount, name: default, namespace: shop}]\n"),
	"Ingress":               metaOf("networking.k8s.io/v1", "Ingress", "spec: {rules: [{host: shop.example.com}], tls: [{hosts: [shop.example.com], secretName: shop}]}\n"),
	"HTTPRoute":             metaOf("gateway.networking.k8s.io/v1", "HTTPRoute", "spec: {parentRefs: [{name: public, namespace: gateways}], hostnames: [shop.example.com]}\n"),
	"HTTPRoute of a mesh":   metaOf("gateway.networking.k8s.io/v1", "HTTPRoute", "spec: {parentRefs: [{group: '', kind: Service, name: shop}]}\n"),
	"Deployment":            workloadOf("Deployment", "priorityClassName: high", ""),
	"CronJob":               workloadOf("CronJob", "serviceAccountName: default", ""),
	"GitRepository":         gitRepository("timeout: 1m"),
	"PodDisruptionBudget":   metaOf("policy/v1", "PodDisruptionBudget", "spec: {minAvailable: 1, selector: {matchLabels: {app: shop}}}\n"),
}

// judged are the errors about a file of the tenant's in both checks: that of its own repository, and that of the platform's.
func judged(t *testing.T, text string) (own, platform []finding.Finding) {
	t.Helper()
	m := mutant{target: generators.PlatformTarget, edits: []edit{
		replace("tenant-shop:production/kustomization.yaml", "- ../base", "- ../base\n- extra.yaml"),
		add("tenant-shop:production/extra.yaml", text),
		add("tenant-shop:more/more.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more, namespace: shop}\n"),
	}}
	broken, err := m.breakIt(load(t, "classic"))
	if err != nil {
		t.Fatal(err)
	}
	errors := func(content files, sources map[string]files) []finding.Finding {
		report, err := validate(content, nil, sources)
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(report.Findings, func(f finding.Finding) bool { return f.Severity != finding.Error })
	}
	return errors(broken["tenant-shop"], nil), errors(broken[generators.PlatformTarget], map[string]files{"shop-flux/shop": broken["tenant-shop"]})
}

// rulesOf are the rules of findings, each once where they follow each other.
func rulesOf(findings []finding.Finding) (ids []string) {
	for _, f := range findings {
		ids = append(ids, f.Rule)
	}
	return slices.Compact(ids)
}

// Each check reports a mistake once, with a way out that leads to no other finding.
func TestATenantsMistakeIsReportedOnce(t *testing.T) {
	const elsewhere = `it exists in namespace "shop-flux", but a reference to another namespace is refused: declare a source in namespace shop`
	for name, c := range map[string]struct{ text, own, platform, hint string }{
		"dependency on the platform":     {forbidden["Kustomization that waits for the platform"], "tenant-boundary", "tenant-object-refused", ""},
		"account that exists":            {forbidden["Kustomization of the default account"], "tenant-boundary", "tenant-object-refused", "set spec.serviceAccountName: shop-helm"},
		"account that does not exist":    {forbidden["HelmRelease of another account"], "tenant-boundary", "tenant-service-account-missing", ""},
		"path of the tenant's branch":    {metaOf("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec: {interval: 1h, prune: true, path: ./none, serviceAccountName: shop-helm, sourceRef: {kind: GitRepository, name: own}}\n"+ownSource), "flux-path-missing", "flux-path-missing", ""},
		"source of the sync's namespace": {metaOf("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec: {interval: 1h, prune: true, path: ./more, serviceAccountName: shop-helm, sourceRef: {kind: GitRepository, name: shop}}\n"), "flux-source-missing", "flux-source-missing", elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own, platform := judged(t, c.text)
			for _, check := range []struct {
				found []finding.Finding
				want  string
			}{{own, c.own}, {platform, c.platform}} {
				if len(check.found) != 1 || check.found[0].Rule != check.want || c.hint != "" && check.found[0].Hint != c.hint {
					t.Errorf("want %s (%s), got %+v", check.want, c.hint, check.found)
				}
			}
		})
	}
}

// What the platform's check reports of a tenant's repository, the tenant's own check reports, too, and the other way round.
func TestTheTenantsCheckAgrees(t *testing.T) {
	if len(forbidden) < 25 {
		t.Errorf("only %d manifests", len(forbidden))
	}
	for name, text := range allowed {
		t.Run("allowed "+name, func(t *testing.T) {
			t.Parallel()
			if own, platform := judged(t, text); len(own)+len(platform) > 0 {
				t.Errorf("the tenant's own check reports %q, and the platform's %q", rulesOf(own), rulesOf(platform))
			}
		})
	}
	for name, text := range forbidden {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agree(t, text)
		})
	}
}

// agree holds both checks against each other: a rule that is not about tenants reports the same in both.
func agree(t *testing.T, text string) {
	t.Helper()
	foundByOwn, foundByPlatform := judged(t, text)
	own, platform := rulesOf(foundByOwn), rulesOf(foundByPlatform)
	if len(platform) == 0 {
		t.Errorf("the platform's check reports nothing, and the tenant's own %q", own)
	}
	ofTenants := slices.ContainsFunc(platform, func(id string) bool { return strings.HasPrefix(id, "tenant-") })
	if slices.Contains(own, "tenant-boundary") != ofTenants && !slices.Equal(own, platform) {
		t.Errorf("the tenant's own check reports %q, and the platform's %q", own, platform)
	}
}
