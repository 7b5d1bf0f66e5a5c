package e2e

// A grant says who may do an action in a namespace of a tenant's workloads: docs/tenants.md
// in a form that the test can check. Only Flux's two accounts of the tenant may do more than
// ask who they are, and only in its workload namespaces.
type grant int

const (
	nobody       grant = iota
	anyone             // with a token at all
	accounts           // both accounts, with every profile
	helmOnly           // helm's account; with profile admin both
	chartAuthors       // with the profiles edit and admin
	admins             // with profile admin
	ruled              // accounts to which spec.access.rules grants it
)

// A place is where an action happens.
type place int

const (
	clusterWide place = iota // the whole cluster, without a namespace
	inWorkloads              // each workload namespace of the account's tenant
	inSync                   // the tenant's sync namespace
	inOthers                 // the platform's namespaces, other tenants', and those of its own tenant that are not the account's
)

// A row of the table is every verb on every resource, written RESOURCE[.GROUP][/SUBRESOURCE],
// with the line of the threat model in docs/tenants.md that it belongs to.
type row struct {
	line                   string
	who                    grant
	where                  place
	verbs, resources, name string
}

const (
	apply = "get list watch create patch delete"
	read  = "get list watch"
	write = "create update patch delete deletecollection"
)

// table lists what a tenant may do, and what it may not. TENANT and NAMESPACE in a name are
// replaced by the tenant and the namespace of the place.
var table = []row{
	// Objects of repositories and charts.
	{"Z1", accounts, inWorkloads, apply, "configmaps secrets services persistentvolumeclaims", ""},
	{"W4", accounts, inWorkloads, apply, "deployments.apps statefulsets.apps daemonsets.apps cronjobs.batch jobs.batch", ""},
	{"W4", accounts, inWorkloads, apply, "horizontalpodautoscalers.autoscaling poddisruptionbudgets.policy", ""},
	{"H5", accounts, inWorkloads, "get list watch patch delete", "ingresses.networking.k8s.io httproutes.gateway.networking.k8s.io grpcroutes.gateway.networking.k8s.io", ""},
	{"A1", accounts, inWorkloads, apply, "kustomizations.kustomize.toolkit.fluxcd.io helmreleases.helm.toolkit.fluxcd.io", ""},
	{"S1", accounts, inWorkloads, "get list watch patch delete", "gitrepositories.source.toolkit.fluxcd.io ocirepositories.source.toolkit.fluxcd.io", ""},
	{"S1", accounts, inWorkloads, "get list watch patch delete", "helmrepositories.source.toolkit.fluxcd.io buckets.source.toolkit.fluxcd.io", ""},
	{"W4", accounts, inWorkloads, read, "pods events replicasets.apps", ""},
	{"Z1", helmOnly, inWorkloads, "update", "configmaps secrets services deployments.apps helmreleases.helm.toolkit.fluxcd.io", ""},
	{"A12", chartAuthors, inWorkloads, apply, "serviceaccounts roles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io", ""},
	{"Z9", ruled, inWorkloads, apply + " update", "certificates.cert-manager.io externalsecrets.external-secrets.io secretstores.external-secrets.io", ""},
	{"Z9", ruled, inWorkloads, apply + " update", "servicemonitors.monitoring.coreos.com prometheusrules.monitoring.coreos.com", ""},
	{"W4", admins, inWorkloads, "deletecollection", "configmaps secrets deployments.apps kustomizations.kustomize.toolkit.fluxcd.io", ""},

	// The limits of the tenant.
	{"A17", nobody, inWorkloads, write, "resourcequotas limitranges", "TENANT"},
	{"A17", admins, inWorkloads, read, "resourcequotas limitranges", "TENANT"},
	{"A17", nobody, inWorkloads, "update patch", "resourcequotas/status", "TENANT"},
	{"A17", admins, inWorkloads, apply + " update", "networkpolicies.networking.k8s.io", "default-deny"},
	{"A14", nobody, inWorkloads, "update patch delete", "namespaces", "NAMESPACE"},
	{"A14", nobody, inWorkloads, "update", "namespaces/finalize", "NAMESPACE"},
	{"A14", admins, inWorkloads, "get", "namespaces", "NAMESPACE"},

	// Ways into running pods, and into other accounts.
	{"Z11", admins, inWorkloads, "create delete", "pods", ""},
	{"A18", admins, inWorkloads, "create", "pods/exec pods/attach pods/portforward pods/proxy pods/eviction services/proxy", ""},
	{"A18", admins, inWorkloads, "get", "pods/log pods/exec pods/portforward services/proxy", ""},
	{"W5", nobody, inWorkloads, "patch", "pods/ephemeralcontainers", ""},
	{"W6", nobody, inWorkloads, "patch", "pods/status", ""},
	{"W6", nobody, inWorkloads, "create", "pods/binding bindings", ""},
	{"A19", nobody, inWorkloads, "create patch", "endpointslices.discovery.k8s.io", ""},
	{"H16", nobody, inWorkloads, "update patch", "services/status ingresses.networking.k8s.io/status", ""},
	{"A10", admins, inWorkloads, "create", "serviceaccounts/token", "TENANT-helm"},
	{"A10", admins, inWorkloads, "create", "serviceaccounts/token", "default"},
	{"A11", admins, inWorkloads, "impersonate", "serviceaccounts", "TENANT-helm"},
	{"A11", admins, inWorkloads, "impersonate", "serviceaccounts", "default"},
	{"A12", nobody, inWorkloads, "bind", "clusterroles.rbac.authorization.k8s.io", "cluster-admin"},
	{"A12", nobody, inWorkloads, "escalate", "roles.rbac.authorization.k8s.io", ""},

	// Its sync namespace, with its source and its keys.
	{"A16", nobody, inSync, "get patch delete", "secrets", "sops-age"},
	{"A16", nobody, inSync, "list watch create", "secrets configmaps", ""},
	{"S17", nobody, inSync, "get update patch delete", "gitrepositories.source.toolkit.fluxcd.io ocirepositories.source.toolkit.fluxcd.io", "TENANT"},
	{"S17", nobody, inSync, "get update patch delete", "kustomizations.kustomize.toolkit.fluxcd.io", "TENANT"},
	{"A15", nobody, inSync, "create", "gitrepositories.source.toolkit.fluxcd.io kustomizations.kustomize.toolkit.fluxcd.io helmreleases.helm.toolkit.fluxcd.io", ""},
	{"A15", nobody, inSync, "create", "pods deployments.apps roles.rbac.authorization.k8s.io rolebindings.rbac.authorization.k8s.io", ""},
	{"A15", nobody, inSync, "get patch", "serviceaccounts", "TENANT"},
	{"A10", nobody, inSync, "create", "serviceaccounts/token", "TENANT"},
	{"A11", nobody, inSync, "impersonate", "serviceaccounts", "TENANT"},
	{"A15", nobody, inSync, "get patch delete", "namespaces", "NAMESPACE"},

	// Other namespaces.
	{"A15", nobody, inOthers, "get list create patch", "configmaps", "cluster-vars"},
	{"A16", nobody, inOthers, "get list watch create", "secrets", "sops-age"},
	{"A15", nobody, inOthers, "get list create patch delete", "deployments.apps", "source-controller"},
	{"A15", nobody, inOthers, "get list create", "pods", ""},
	{"A18", nobody, inOthers, "create", "pods/exec pods/portforward", ""},
	{"A15", nobody, inOthers, "create", "services networkpolicies.networking.k8s.io rolebindings.rbac.authorization.k8s.io", ""},
	{"A15", nobody, inOthers, "get list create patch", "gitrepositories.source.toolkit.fluxcd.io kustomizations.kustomize.toolkit.fluxcd.io", "flux-system"},
	{"A15", nobody, inOthers, "create", "helmreleases.helm.toolkit.fluxcd.io", ""},
	{"A10", nobody, inOthers, "create", "serviceaccounts/token", "default"},
	{"A11", nobody, inOthers, "impersonate", "serviceaccounts", "kustomize-controller"},
	{"A15", nobody, inOthers, "get patch delete", "namespaces", "NAMESPACE"},

	// The whole cluster.
	{"A13", nobody, clusterWide, "list create deletecollection", "namespaces", ""},
	{"A16", nobody, clusterWide, "list", "secrets configmaps pods gitrepositories.source.toolkit.fluxcd.io kustomizations.kustomize.toolkit.fluxcd.io", ""},
	{"A13", nobody, clusterWide, "list create", "nodes persistentvolumes", ""},
	{"A13", nobody, clusterWide, "get", "nodes/proxy", "node"},
	{"A13", nobody, clusterWide, "create patch", "customresourcedefinitions.apiextensions.k8s.io", "kustomizations.kustomize.toolkit.fluxcd.io"},
	{"A13", nobody, clusterWide, "get create patch delete", "validatingadmissionpolicies.admissionregistration.k8s.io", "tenant-TENANT-sources"},
	{"A13", nobody, clusterWide, "patch delete", "validatingadmissionpolicybindings.admissionregistration.k8s.io", "tenant-TENANT-accounts"},
	{"A13", nobody, clusterWide, "create", "mutatingwebhookconfigurations.admissionregistration.k8s.io validatingwebhookconfigurations.admissionregistration.k8s.io", ""},
	{"A13", nobody, clusterWide, "create", "clusterroles.rbac.authorization.k8s.io clusterrolebindings.rbac.authorization.k8s.io", ""},
	{"A13", nobody, clusterWide, "patch delete", "clusterroles.rbac.authorization.k8s.io", "admin"},
	{"A12", nobody, clusterWide, "bind", "clusterroles.rbac.authorization.k8s.io", "cluster-admin"},
	{"A12", nobody, clusterWide, "escalate", "clusterroles.rbac.authorization.k8s.io", ""},
	{"A13", nobody, clusterWide, "create", "storageclasses.storage.k8s.io priorityclasses.scheduling.k8s.io runtimeclasses.node.k8s.io ingressclasses.networking.k8s.io", ""},
	{"A13", nobody, clusterWide, "create", "apiservices.apiregistration.k8s.io certificatesigningrequests.certificates.k8s.io", ""},
	{"A13", nobody, clusterWide, "create", "tokenreviews.authentication.k8s.io subjectaccessreviews.authorization.k8s.io", ""},
	{"A11", nobody, clusterWide, "impersonate", "users", "admin"},
	{"A11", nobody, clusterWide, "impersonate", "groups", "system:masters"},
	{"Z14", anyone, clusterWide, "create", "selfsubjectaccessreviews.authorization.k8s.io selfsubjectreviews.authentication.k8s.io", ""},
	{"A13", nobody, clusterWide, "get", "/metrics /logs /debug/pprof", ""},
	{"Z14", anyone, clusterWide, "get", "/version /healthz", ""},
}

// judged lists actions that the authorizer allows a tenant, and that an admission policy of the tenant
// refuses: to use a source of others, to serve every host, and to write to a source's status what Flux
// has pulled.
var judged = []row{
	{"S1", accounts, inWorkloads, "create", "gitrepositories.source.toolkit.fluxcd.io ocirepositories.source.toolkit.fluxcd.io", ""},
	{"S1", accounts, inWorkloads, "create", "helmrepositories.source.toolkit.fluxcd.io buckets.source.toolkit.fluxcd.io", ""},
	{"H7", accounts, inWorkloads, "create", "ingresses.networking.k8s.io", ""},
	{"H11", accounts, inWorkloads, "create", "httproutes.gateway.networking.k8s.io grpcroutes.gateway.networking.k8s.io", ""},
	{"S10", admins, inWorkloads, "patch", "ocirepositories.source.toolkit.fluxcd.io/status externalartifacts.source.toolkit.fluxcd.io/status", "judged"},
}

// bodies are the smallest valid objects that a tenant may create, by resource, without the name, which the action
// has. ACCOUNT is replaced by the account that the admission policy requires.
var bodies = map[string]string{
	"configmaps":               `{apiVersion: v1, kind: ConfigMap}`,
	"secrets":                  `{apiVersion: v1, kind: Secret}`,
	"services":                 `{apiVersion: v1, kind: Service, spec: {ports: [{port: 80}]}}`,
	"serviceaccounts":          `{apiVersion: v1, kind: ServiceAccount}`,
	"serviceaccounts/token":    `{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, spec: {audiences: []}}`,
	"pods":                     `{apiVersion: v1, kind: Pod, spec: ` + leastPod + `}`,
	"pods/eviction":            `{apiVersion: policy/v1, kind: Eviction}`,
	"persistentvolumeclaims":   `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
	"deployments":              `{apiVersion: apps/v1, kind: Deployment, spec: ` + leastWorkload + `}`,
	"daemonsets":               `{apiVersion: apps/v1, kind: DaemonSet, spec: ` + leastWorkload + `}`,
	"statefulsets":             `{apiVersion: apps/v1, kind: StatefulSet, spec: ` + leastWorkload + `}`,
	"jobs":                     `{apiVersion: batch/v1, kind: Job, spec: {template: {spec: ` + leastPod + `}}}`,
	"cronjobs":                 `{apiVersion: batch/v1, kind: CronJob, spec: {schedule: "0 3 1 1 *", jobTemplate: {spec: {template: {spec: ` + leastPod + `}}}}}`,
	"horizontalpodautoscalers": `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}`,
	"poddisruptionbudgets":     `{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}}`,
	"ingresses":                `{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}}`,
	"httproutes":               `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, spec: {parentRefs: [{name: web}]}}`,
	"grpcroutes":               `{apiVersion: gateway.networking.k8s.io/v1, kind: GRPCRoute, spec: {parentRefs: [{name: web}]}}`,
	"certificates":             `{apiVersion: cert-manager.io/v1, kind: Certificate, spec: {secretName: web, issuerRef: {name: web}}}`,
	"networkpolicies":          `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {}}}`,
	"roles":                    `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]}`,
	"rolebindings":             `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {kind: Role, name: web}}`,
	"kustomizations":           `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, spec: {interval: 1h, prune: true, serviceAccountName: ACCOUNT, sourceRef: {kind: GitRepository, name: web}}}`,
	"helmreleases":             `{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, spec: {interval: 1h, serviceAccountName: ACCOUNT, chartRef: {kind: OCIRepository, name: web}}}`,
	"gitrepositories":          `{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, spec: {interval: 1h, url: "https://git.example.com/anybody/anything"}}`,
	"ocirepositories":          `{apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, spec: {interval: 1h, url: "oci://registry.example.com/anybody/anything"}}`,
	"helmrepositories":         `{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmRepository, spec: {interval: 1h, url: "https://charts.example.com"}}`,
	"buckets":                  `{apiVersion: source.toolkit.fluxcd.io/v1, kind: Bucket, spec: {interval: 1h, endpoint: s3.example.com, bucketName: anybody}}`,
	"selfsubjectaccessreviews": `{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {nonResourceAttributes: {verb: get, path: /version}}}`,
	"selfsubjectreviews":       `{apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview}`,

	"status":   `{status: {observedGeneration: 7}}`,
	"bind":     `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}}`,
	"escalate": `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`,
}

// Pods that every pod security level admits.
const (
	leastPod = `{restartPolicy: Never, securityContext: {runAsNonRoot: true, runAsUser: 10001, seccompProfile: {type: RuntimeDefault}}, ` +
		`containers: [{name: web, image: "example.com/web:1.0.0", securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}`
	leastTemplate = `{metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "example.com/web:1.0.0"}]}}`
	leastWorkload = `{selector: {matchLabels: {app: web}}, template: ` + leastTemplate + `}`
)
