package mutation_test

// tenantMutants break what keeps tenants apart.
var tenantMutants = []mutant{
	// Accounts.
	{
		name: "Kustomization-of-a-tenant", example: "homelab", rule: "tenant-service-account-missing",
		edits: []edit{
			replace("kubernetes/tenants/base/friend/sync.yaml", "  serviceAccountName: friend\n", ""),
			mark("kubernetes/tenants/base/friend/sync.yaml", "«»spec:\n  decryption:"),
		},
	},
	{
		name: "account-that-is-not-there", example: "acme", rule: "tenant-service-account-missing",
		tenants: true,
		edits:   []edit{replace("tenants/base/team-a/sync.yaml", "serviceAccountName: team-a\n", "serviceAccountName: «»team-b\n")},
	},
	{
		name: "of-the-platform-under-lockdown", example: "acme", rule: "tenant-service-account-missing",
		edits: []edit{
			replace("clusters/staging/tenants.yaml", "  serviceAccountName: kustomize-controller\n", ""),
			mark("clusters/staging/tenants.yaml", "«»spec:"),
		},
	},
	{
		name: "HelmRelease-of-the-platform-under-lockdown", example: "classic", rule: "tenant-service-account-missing",
		edits: []edit{
			replace("infrastructure/controllers/base/metrics-server/helmrelease.yaml", "  serviceAccountName: helm-controller\n", ""),
			mark("infrastructure/controllers/base/metrics-server/helmrelease.yaml", "«»spec:\n  chart:"),
		},
	},
	{
		name: "HelmRelease-in-the-tenants-repository", example: "classic", rule: "tenant-service-account-missing",
		tenants: true,
		edits: []edit{
			replace("tenant-shop:base/helmrelease.yaml", "  serviceAccountName: shop-helm\n", ""),
			mark("tenant-shop:base/helmrelease.yaml", "«»spec:\n  chartRef:"),
		},
	},

	// References.
	{
		name: "of-a-tenant-to-the-platforms-source", example: "classic", rule: "tenant-cross-namespace-ref",
		tenants: true,
		edits: []edit{
			replace("tenant-shop:base/helmrelease.yaml", "    name: podinfo\n  interval", "    name: cert-manager\n    namespace: «»flux-system\n  interval"),
		},
	},
	{
		name: "of-the-platform-under-lockdown", example: "homelab", rule: "tenant-cross-namespace-ref",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "kind: OCIRepository\n    name: jellyfin", "kind: OCIRepository\n    name: external-dns\n    namespace: «»network"),
		},
	},
	{
		name: "of-a-tenants-Kustomization", example: "acme", rule: "tenant-cross-namespace-ref",
		edits: []edit{
			replace("tenants/base/team-c/sync.yaml", "kind: OCIRepository\n    name: team-c", "kind: GitRepository\n    name: team-a\n    namespace: «»team-a-flux"),
		},
	},

	// What belongs to the whole cluster.
	{
		name: "ClusterRole", example: "classic", rule: "tenant-cluster-scoped",
		tenants: true,
		edits: []edit{
			replace("tenant-shop:base/kustomization.yaml", "- helmrelease.yaml", "- helmrelease.yaml\n- role.yaml"),
			add("tenant-shop:base/role.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: «»ClusterRole\nmetadata:\n  name: shop\nrules:\n- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [get]\n"),
		},
	},
	{
		name: "in-one-environment", example: "acme", rule: "tenant-cluster-scoped",
		tenants: true,
		edits: []edit{
			replace("tenant-team-b:staging/kustomization.yaml", "- ../base", "- ../base\n- priority.yaml"),
			add("tenant-team-b:staging/priority.yaml", "apiVersion: scheduling.k8s.io/v1\nkind: «»PriorityClass\nmetadata:\n  name: team-b\nvalue: 1000\n"),
		},
	},

	// What the platform allows, as the tenant's repository knows it.
	{
		name: "PriorityClass", example: "homelab", rule: "tenant-boundary",
		edits: []edit{
			add("team/tenant.yaml", "apiVersion: fleetwright.dev/v1alpha1\nkind: TenantBoundary\nmetadata:\n  name: team\nspec:\n  paths: [team/production]\n  namespaces: [team]\n  syncNamespace: team-flux\n  serviceAccountName: team-helm\n"),
			add("team/production/priority.yaml", "apiVersion: scheduling.k8s.io/v1\nkind: «»PriorityClass\nmetadata:\n  name: team\nvalue: 1000\n"),
		},
	},

	{
		name: "host-of-another-team", example: "classic", rule: "tenant-boundary",
		target: "tenant-shop",
		edits: []edit{
			replace("tenant-shop:production/kustomization.yaml", "- ../base", "- ../base\n- ingress.yaml"),
			add("tenant-shop:production/ingress.yaml", "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: shop\nspec:\n  rules:\n  - host: «»bank.example.com\n"),
		},
	},
	{
		name: "cluster-admin", example: "classic", rule: "tenant-boundary",
		target: "tenant-shop",
		edits: []edit{
			replace("tenant-shop:production/kustomization.yaml", "- ../base", "- ../base\n- admin.yaml"),
			add("tenant-shop:production/admin.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: ada\nsubjects:\n- apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: ada\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: «»cluster-admin\n"),
		},
	},

	// What the cluster refuses.
	{
		name: "host-of-another-team", example: "classic", rule: "tenant-object-refused",
		tenants: true,
		edits: []edit{
			replace("tenant-shop:production/kustomization.yaml", "- ../base", "- ../base\n- ingress.yaml"),
			add("tenant-shop:production/ingress.yaml", "apiVersion: networking.k8s.io/v1\nkind: «»Ingress\nmetadata:\n  name: shop\nspec:\n  rules:\n  - host: bank.example.com\n"),
		},
	},
	{
		name: "kind-that-the-role-lacks", example: "acme", rule: "tenant-object-refused",
		tenants: true,
		edits: []edit{
			replace("tenant-team-b:staging/kustomization.yaml", "- ../base", "- ../base\n- quota.yaml"),
			add("tenant-team-b:staging/quota.yaml", "apiVersion: v1\nkind: «»ResourceQuota\nmetadata:\n  name: more\nspec:\n  hard:\n    pods: \"1000\"\n"),
		},
	},

	// Roles.
	{
		name: "in-its-own-namespace", example: "homelab", rule: "tenant-cluster-admin",
		edits: []edit{
			replace("kubernetes/tenants/base/friend/rbac.yaml", "  kind: Role\n  name: friend-helm", "  kind: ClusterRole\n  name: «»cluster-admin"),
		},
	},
	{
		name: "of-the-whole-cluster", example: "acme", rule: "tenant-cluster-admin",
		edits: []edit{
			replace("tenants/production-eu/kustomization.yaml", "patches:", "- admin.yaml\npatches:"),
			add("tenants/production-eu/admin.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata:\n  name: team-b\nsubjects:\n- kind: ServiceAccount\n  name: team-b\n  namespace: team-b-flux\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: «»cluster-admin\n"),
		},
	},
	{
		name: "quota", example: "homelab", rule: "tenant-rbac-excess",
		edits: []edit{
			replace("kubernetes/tenants/base/friend/rbac.yaml", "  name: friend-reconciler\n  namespace: friend\n  labels:\n    toolkit.fluxcd.io/tenant: friend\nrules:\n", "  name: friend-reconciler\n  namespace: friend\n  labels:\n    toolkit.fluxcd.io/tenant: friend\nrules:\n- apiGroups: ['']\n  resources: [«»resourcequotas]\n  verbs: [get, patch]\n"),
		},
	},
	{
		name: "in-the-namespace-of-Flux", example: "classic", rule: "tenant-rbac-excess",
		edits: []edit{
			replace("tenants/production/kustomization.yaml", "patches:", "- access.yaml\npatches:"),
			add("tenants/production/access.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: shop\n  namespace: flux-system\nsubjects:\n- kind: ServiceAccount\n  name: shop\n  namespace: shop-flux\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: «»edit\n"),
		},
	},
	{
		name: "in-another-tenants-namespace", example: "acme", rule: "tenant-rbac-excess",
		edits: []edit{
			replace("tenants/base/team-a/kustomization.yaml", "- rbac.yaml", "- rbac.yaml\n- more.yaml"),
			add("tenants/base/team-a/more.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: team-a-helper, namespace: «flux-namespace-missing»team-c}\nsubjects: [{kind: ServiceAccount, name: team-a, namespace: team-a-flux}]\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: «»admin}\n"),
		},
	},
	{
		name: "bind", example: "homelab", rule: "tenant-rbac-escalation",
		edits: []edit{
			replace("kubernetes/tenants/base/friend/rbac.yaml", "  name: friend-reconciler\n  namespace: friend\n  labels:\n    toolkit.fluxcd.io/tenant: friend\nrules:\n", "  name: friend-reconciler\n  namespace: friend\n  labels:\n    toolkit.fluxcd.io/tenant: friend\nrules:\n- apiGroups: [rbac.authorization.k8s.io]\n  resources: [roles]\n  «»verbs: [create, bind]\n"),
		},
	},
	{
		name: "everything", example: "acme", rule: "tenant-rbac-escalation",
		edits: []edit{
			replace("tenants/base/team-b/rbac.yaml", "  name: team-b-helm\n  namespace: team-b\n  labels:\n    toolkit.fluxcd.io/tenant: team-b\nrules:\n", "  name: team-b-helm\n  namespace: team-b\n  labels:\n    toolkit.fluxcd.io/tenant: team-b\nrules:\n- apiGroups: ['*']\n  resources: ['*']\n  «»verbs: ['*']\n"),
		},
	},
	{
		name: "impersonate-in-a-file-with-crlf", example: "classic", rule: "tenant-rbac-escalation",
		edits: []edit{
			replace("tenants/base/shop/rbac.yaml", "  name: shop-helm\n  namespace: shop\n  labels:\n    toolkit.fluxcd.io/tenant: shop\nrules:\n", "  name: shop-helm\n  namespace: shop\n  labels:\n    toolkit.fluxcd.io/tenant: shop\nrules:\n- apiGroups:\n  - \"\"\n  resources:\n  - serviceaccounts\n  «»verbs:\n  - impersonate\n"),
			crlf("tenants/base/shop/rbac.yaml"),
		},
	},

	// Lockdown.
	{
		name: "of-a-FluxInstance", example: "acme", rule: "tenant-lockdown-missing",
		edits: []edit{replace("clusters/staging/flux-system/flux-instance/helmrelease.yaml", "multitenant: true", "multitenant: «»false")},
	},
	{
		name: "of-gotk-components", example: "classic", rule: "tenant-lockdown-missing",
		edits: []edit{
			replace("clusters/production/flux-system/kustomization.yaml", "components:\n- fleetwright\n", ""),
			mark("clusters/production/flux-system/kustomization.yaml", "«»resources:"),
		},
	},
	{
		name: "one-flag-of-gotk-components", example: "classic", rule: "tenant-lockdown-missing",
		edits: []edit{
			replace("clusters/staging/flux-system/fleetwright/kustomization.yaml", "value: --no-remote-bases=true", "value: --no-remote-base=true"),
			mark("clusters/staging/flux-system/kustomization.yaml", "«»resources:"),
		},
	},

	// Namespaces.
	{
		name: "no-level", example: "homelab", rule: "tenant-namespace-unlabelled",
		edits: []edit{
			replace("kubernetes/tenants/base/friend/namespaces.yaml", "  name: friend\n  labels:\n    pod-security.kubernetes.io/audit: restricted\n    pod-security.kubernetes.io/enforce: restricted\n", "  name: friend\n  «»labels:\n    pod-security.kubernetes.io/audit: restricted\n"),
		},
	},
	{
		name: "privileged-in-a-base-of-three-clusters", example: "acme", rule: "tenant-namespace-unlabelled",
		edits: []edit{
			replace("tenants/base/team-a/namespaces.yaml", "  name: team-a-jobs\n  labels:\n    pod-security.kubernetes.io/audit: restricted\n    pod-security.kubernetes.io/enforce: restricted\n", "  name: team-a-jobs\n  labels:\n    pod-security.kubernetes.io/audit: restricted\n    pod-security.kubernetes.io/enforce: «»privileged\n"),
		},
	},
	{
		name: "policies-of-some-pods", example: "homelab", rule: "tenant-network-policy-missing",
		tenants: true,
		edits: []edit{
			write("kubernetes/tenants/base/friend/network-policy.yaml", "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: default-deny\n  namespace: friend\nspec:\n  podSelector:\n    matchLabels: {app: web}\n  policyTypes: [Ingress]\n"),
			mark("kubernetes/tenants/base/friend/namespaces.yaml", "name: «»friend\n  labels:"),
		},
	},
	{
		name: "policies-no-longer-listed", example: "classic", rule: "tenant-network-policy-missing",
		tenants: true,
		edits: []edit{
			replace("tenants/base/shop/kustomization.yaml", "- network-policy.yaml\n", "# network-policy.yaml: to be discussed\n"),
			mark("tenants/base/shop/namespaces.yaml", "name: «»shop\n  labels:"),
		},
	},
	{
		name: "of-one-of-two-namespaces", example: "homelab", rule: "tenant-quota-missing",
		tenants: true,
		edits: []edit{
			replace("kubernetes/tenants/base/friend/limits.yaml", "kind: ResourceQuota\nmetadata:\n  name: friend\n  namespace: friend\n", "kind: ResourceQuota\nmetadata:\n  name: friend\n  namespace: friend-flux\n"),
			mark("kubernetes/tenants/base/friend/namespaces.yaml", "name: «»friend\n  labels:"),
		},
	},

	// Sources.
	{
		name: "sync-of-a-tenant", example: "homelab", rule: "tenant-source-not-allowed",
		edits: []edit{replace("kubernetes/tenants/base/friend/sync.yaml", "url: https://git.home.example/friend/apps.git", "url: «»https://git.home.example/foe/apps.git")},
	},
	{
		name: "chart-in-the-tenants-repository", example: "classic", rule: "tenant-source-not-allowed",
		tenants: true,
		edits:   []edit{replace("tenant-shop:base/ocirepository.yaml", "url: oci://ghcr.io/stefanprodan/charts/podinfo", "url: «»oci://ghcr.io/stefan-prodan/charts/podinfo")},
	},
	{
		name: "tightened-policy-in-two-clusters", example: "acme", rule: "tenant-source-not-allowed",
		edits: []edit{
			replace("tenants/base/team-b/sync.yaml", "  ref:\n", "  recurseSubmodules: «»true\n  ref:\n"),
		},
	},

	// Admission.
	{
		name: "dependencies-in-other-namespaces", example: "homelab", rule: "tenant-admission-missing",
		edits: []edit{
			replace("kubernetes/tenants/base/friend/admission-policy.yaml", "d.?namespace.orValue(\"\") in [string(object.metadata.namespace)] + [\"friend\"] ||", "true ||"),
			mark("kubernetes/tenants/base/friend/rbac.yaml", "  kind: Role\n  name: «»friend-helm"),
		},
	},
	{
		name: "addresses-of-Services", example: "classic", rule: "tenant-admission-missing",
		edits: []edit{
			replace("tenants/base/shop/admission-policy.yaml", "variables.spec.?externalIPs.orValue([]).size() == 0", "true"),
			mark("tenants/base/shop/rbac.yaml", "  kind: Role\n  name: «»shop-helm"),
		},
	},
	{
		name: "proxies-of-sources", example: "classic", rule: "tenant-admission-bypass",
		edits: []edit{
			replace("tenants/base/shop/admission-policy.yaml", "'!has(variables.spec.proxySecretRef)'", "'true'"),
			mark("tenants/base/shop/admission-policy.yaml", "  «»validations:\n  - expression: |-\n      variables.url in"),
		},
	},
	{
		name: "dependency-that-reads", example: "classic", rule: "tenant-cross-namespace-ref",
		tenants: true,
		edits: []edit{
			replace("tenant-shop:base/helmrelease.yaml", "  interval:", "  dependsOn:\n  - name: cert-manager\n    namespace: flux-system\n    readyExpr: «»dep.status.observedGeneration > 0\n  interval:"),
		},
	},
}
