package mutation_test

import "strings"

// objectMutants break single objects: what their kinds allow, where their sources come from,
// who owns them.
var objectMutants = []mutant{
	// Schemas.
	{
		name: "interval", example: "homelab", rule: "schema-invalid",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "interval: 1h0m0s", "interval: «»hourly")},
	},
	{
		name: "enumeration-in-a-base-of-three-clusters", example: "acme", rule: "schema-invalid",
		edits: []edit{replace("infrastructure/controllers/base/velero/helmrelease.yaml", "install:\n    strategy:\n      name: RetryOnFailure\n      retryInterval: 2m0s\n    crds: CreateReplace", "install:\n    strategy:\n      name: RetryOnFailure\n      retryInterval: 2m0s\n    crds: «»Replace")},
	},
	{
		name: "number-in-a-ConfigMap", example: "homelab", rule: "schema-invalid",
		edits: []edit{replace("kubernetes/flux/cluster/cluster-vars.yaml", "CLUSTER_NAME: home", "CLUSTER_NAME: «»7")},
	},
	{
		name: "in-a-patch-of-one-cluster", example: "acme", rule: "schema-invalid",
		edits: []edit{replace("infrastructure/controllers/production-eu/velero-patch.yaml", "spec:\n  values:", "spec:\n  timeout: «»long\n  values:")},
	},
	{
		name: "in-a-patch-of-a-parent-for-all-releases", example: "homelab", rule: "schema-invalid",
		edits: []edit{replace("kubernetes/flux/cluster/ks.yaml", "  timeout: 5m0s\n", parentPatch("HelmRelease", "install:\n  crds: «»Replace"))},
	},
	{
		name: "quota-that-the-API-server-refuses", example: "acme", rule: "schema-invalid",
		edits: []edit{replace("tenants/base/team-c/limits.yaml", `pods: "50"`, `pods: «»"-50"`)},
	},
	{
		name: "required-field-removed", example: "homelab", rule: "schema-invalid",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/ks.yaml", "  sourceRef:\n    kind: GitRepository\n    name: flux-system\n", ""),
			mark("kubernetes/apps/media/jellyfin/ks.yaml", "«»spec:"),
		},
	},
	{
		name: "text-that-looks-like-a-number", example: "acme", rule: "schema-invalid",
		edits: []edit{replace("clusters/staging/cluster-vars.yaml", `INGRESS_REPLICAS: "1"`, `INGRESS_REPLICAS: «»1`)},
	},
	{
		name: "key-twice", example: "homelab", rule: "schema-invalid",
		edits: []edit{replace("kubernetes/apps/network/external-dns/app/helmrelease.yaml", "  timeout: 5m0s\n", "  timeout: 5m0s\n  «»timeout: 10m0s\n")},
	},
	{
		name: "no-YAML-in-a-listed-file", example: "homelab", rule: "schema-invalid",
		edits: []edit{
			replace("kubernetes/apps/network/external-dns/app/helmrelease.yaml", "    triggerLoopOnEvent: true\n", "    triggerLoopOnEvent: true\n«»\t"),
		},
	},
	{
		name: "no-YAML-in-a-folder-without-kustomization", example: "homelab", rule: "schema-invalid",
		edits: []edit{
			replace("kubernetes/apps/network/external-dns/ks.yaml", "  dependsOn:\n  - name: envoy-gateway\n  - name: kube-prometheus-stack\n", "  dependsOn:\n  - name: envoy-gateway\n  «»[kube-prometheus-stack]\n"),
		},
	},
	{
		name: "in-a-file-with-crlf", example: "acme", rule: "schema-invalid",
		edits: []edit{
			replace("tenants/base/team-b/limits.yaml", `requests.memory: 8Gi`, `requests.memory: «»8 Gi`),
			crlf("tenants/base/team-b/limits.yaml"),
		},
	},
	{
		name: "of-a-tenant", example: "classic", rule: "schema-invalid",
		target: "tenant-shop",
		edits:  []edit{replace("base/ocirepository.yaml", "operation: copy", "operation: «»unpack")},
	},
	{
		name: "value-that-a-definition-in-Git-forbids", example: "homelab", rule: "schema-invalid",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- helmrelease.yaml", "- crd.yaml\n- helmrelease.yaml\n- widget.yaml"),
			add("kubernetes/apps/media/jellyfin/app/crd.yaml", strings.ReplaceAll(widgets, "scope: Cluster", "scope: Namespaced")),
			add("kubernetes/apps/media/jellyfin/app/widget.yaml", "apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: one\nspec:\n  size: «»0\n"),
		},
	},
	{
		name: "selector-that-its-own-pods-do-not-match", example: "homelab", rule: "schema-invalid",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- helmrelease.yaml", "- deployment.yaml\n- helmrelease.yaml"),
			add("kubernetes/apps/media/jellyfin/app/deployment.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  selector:\n    matchLabels:\n      app: web\n"+
				"  template:\n    metadata:\n      labels:\n        app: «»wbe\n    spec:\n      containers:\n      - name: web\n        image: web:1\n"),
		},
	},
	{
		name: "typo", example: "homelab", rule: "schema-unknown-field",
		edits: []edit{replace("kubernetes/apps/network/external-dns/ks.yaml", "  dependsOn:", "  «»dependOn:")},
	},
	{
		name: "in-a-patch-of-one-cluster", example: "classic", rule: "schema-unknown-field",
		edits: []edit{replace("infrastructure/controllers/production/ingress-nginx-patch.yaml", "spec:\n", "spec:\n  «»reconcile: false\n")},
	},
	{
		name: "of-a-kustomization", example: "acme", rule: "schema-unknown-field",
		edits: []edit{replace("infrastructure/controllers/staging/kustomization.yaml", "patches:", "«»patchs:")},
	},
	{
		name: "wrong-indentation-in-a-base-of-three-clusters", example: "acme", rule: "schema-unknown-field",
		edits: []edit{replace("infrastructure/controllers/base/kyverno/helmrelease.yaml", "    cleanupOnFail: true\n    crds: CreateReplace\n", "  «»cleanupOnFail: true\n")},
	},
	{
		name: "of-a-HelmRelease-in-flow-style", example: "homelab", rule: "schema-unknown-field",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "chartRef:\n    kind: OCIRepository\n    name: jellyfin\n", "chartRef: {kind: OCIRepository, name: jellyfin, «»version: 4.1.1}\n")},
	},
	{
		name: "chart-and-chartRef", example: "acme", rule: "schema-cel-violation",
		edits: []edit{
			replace("infrastructure/controllers/base/kyverno/helmrelease.yaml", "spec:\n  chartRef:", "«»spec:\n  chart:\n    spec:\n      chart: kyverno\n      version: 3.9.0\n      sourceRef:\n        kind: HelmRepository\n        name: velero\n  chartRef:"),
		},
	},
	{
		name: "in-a-base-of-three-clusters", example: "acme", rule: "schema-cel-violation",
		edits: []edit{
			replace("infrastructure/controllers/base/kyverno/helmrelease.yaml", "  chartRef:\n    kind: OCIRepository\n    name: kyverno\n", ""),
			mark("infrastructure/controllers/base/kyverno/helmrelease.yaml", "«»spec:"),
		},
	},
	{
		name: "by-a-patch", example: "classic", rule: "schema-cel-violation",
		edits: []edit{
			replace("infrastructure/controllers/production/cert-manager-patch.yaml", "spec:\n", "«»spec:\n  chart:\n    spec:\n      chart: cert-manager\n      version: v1.21.1\n      sourceRef:\n        kind: HelmRepository\n        name: ingress-nginx\n"),
		},
	},
	{
		name: "version-of-no-release", example: "homelab", rule: "schema-invalid",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "helm.toolkit.fluxcd.io/v2", "«»helm.toolkit.fluxcd.io/v3")},
	},
	{
		name: "role-of-no-kind", example: "homelab", rule: "schema-invalid",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- helmrelease.yaml", "- access.yaml\n- helmrelease.yaml"),
			add("kubernetes/apps/media/jellyfin/app/access.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: jellyfin\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: «»ClusterRol\n  name: view\nsubjects:\n- kind: ServiceAccount\n  name: jellyfin\n  namespace: media\n"),
		},
	},
	{
		name: "expression-that-is-none", example: "homelab", rule: "schema-invalid",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/ks.yaml", "  prune: true\n", "  prune: true\n  healthCheckExprs:\n  - apiVersion: apps/v1\n    kind: Deployment\n    current: «»has(status.readyReplicas\n")},
	},
	{
		name: "letters-of-a-group-swapped", example: "homelab", rule: "schema-invalid",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "helm.toolkit.fluxcd.io/v2", "«»helm.toolkit.fluxcd.oi/v2")},
	},
	{
		name: "kind-of-nobody", example: "homelab", rule: "schema-missing",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- helmrelease.yaml", "- backup.yaml\n- helmrelease.yaml"),
			add("kubernetes/apps/media/jellyfin/app/backup.yaml", "«»apiVersion: backups.example.com/v1\nkind: Schedule\nmetadata:\n  name: nightly\nspec:\n  cron: 0 3 * * *\n"),
		},
	},

	// Sources.
	{
		name: "charts-without-TLS", example: "acme", rule: "source-insecure",
		edits: []edit{replace("infrastructure/controllers/base/velero/helmrepository.yaml", "url: https://", "url: «»http://")},
	},
	{
		name: "registry-without-TLS", example: "homelab", rule: "source-insecure",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/ocirepository.yaml", "  ref:\n", "  insecure: «»true\n  ref:\n")},
	},
	{
		name: "sync-of-the-cluster", example: "acme", rule: "source-insecure",
		edits: []edit{replace("clusters/staging/flux-system/flux-instance/helmrelease.yaml", "url: https://", "url: «»http://")},
	},
	{
		name: "sync-by-gotk", example: "classic", rule: "source-insecure",
		edits: []edit{replace("clusters/production/flux-system/gotk-sync.yaml", "url: ssh://git@git.classic.example/", "url: «»http://git.classic.example/")},
	},
	{
		name: "chart-without-version", example: "acme", rule: "source-mutable-ref",
		edits: []edit{
			replace("infrastructure/controllers/base/velero/helmrelease.yaml", "      version: 12.1.0\n", ""),
			mark("infrastructure/controllers/base/velero/helmrelease.yaml", "chart:\n    «»spec:"),
		},
	},
	{
		name: "any-version", example: "homelab", rule: "source-mutable-ref",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/ocirepository.yaml", "tag: 4.1.1", "semver: «»'*'")},
	},
	{
		name: "latest", example: "homelab", rule: "source-mutable-ref",
		edits: []edit{replace("kubernetes/apps/network/external-dns/app/ocirepository.yaml", "tag: 1.21.1", "tag: «»latest")},
	},
	{
		name: "patched-in-one-cluster", example: "classic", rule: "source-mutable-ref",
		edits: []edit{replace("infrastructure/controllers/production/kustomization.yaml", "patches:\n", "patches:\n- target:\n    kind: HelmRelease\n    name: ingress-nginx\n  patch: |\n    - op: replace\n      path: /spec/chart/spec/version\n      value: «»'*'\n")},
	},
	{
		name: "oci", example: "classic", rule: "source-helmrepository-oci",
		edits: []edit{replace("infrastructure/controllers/base/ingress-nginx/helmrepository.yaml", "  url: https://kubernetes.github.io/ingress-nginx\n", "  type: «»oci\n  url: oci://ghcr.io/example/charts\n")},
	},

	// Owners.
	{
		name: "two-Kustomizations-of-a-cluster", example: "acme", rule: "ownership-duplicate",
		edits: []edit{
			replace("infrastructure/configs/staging/kustomization.yaml", "resources:", "resources:\n- ../../controllers/base/velero"),
			mark("infrastructure/controllers/base/velero/helmrelease.yaml", "kind: «»HelmRelease"),
		},
	},
	{
		name: "two-files", example: "homelab", rule: "ownership-duplicate",
		edits: []edit{
			replace("kubernetes/apps/network/external-dns/app/kustomization.yaml", "- helmrelease.yaml", "- account.yaml\n- helmrelease.yaml"),
			add("kubernetes/apps/network/external-dns/app/account.yaml", "apiVersion: v1\nkind: «»ServiceAccount\nmetadata:\n  name: helm-installer\n  namespace: network\nautomountServiceAccountToken: true\n"),
		},
	},
	{
		name: "one-name-for-two-apps", example: "homelab", rule: "ownership-duplicate",
		edits: []edit{
			replace("kubernetes/apps/network/external-dns/app/kustomization.yaml", "resources:", "configMapGenerator:\n- name: settings\n  literals: [a=b]\n  options: {disableNameSuffixHash: true}\nresources:"),
			replace("kubernetes/apps/network/envoy-gateway/app/kustomization.yaml", "resources:", "configMapGenerator:\n- name: settings\n  literals: [a=c]\n  options: {disableNameSuffixHash: true}\nresources:"),
			mark("kubernetes/apps/network/external-dns/app/kustomization.yaml", "- «»name: settings"),
		},
	},
	{
		name: "not-listed", example: "homelab", rule: "graph-orphan-file",
		edits: []edit{add("kubernetes/apps/media/jellyfin/app/service.yaml", "apiVersion: «»v1\nkind: Service\nmetadata:\n  name: jellyfin-dlna\nspec:\n  ports:\n  - port: 1900\n")},
	},
	{
		name: "no-longer-listed", example: "acme", rule: "graph-orphan-file",
		edits: []edit{
			replace("infrastructure/configs/base/cluster-issuers/kustomization.yaml", "- internal.yaml\n", ""),
			mark("infrastructure/configs/base/cluster-issuers/internal.yaml", "apiVersion: «»cert-manager.io/v1\nkind: ClusterIssuer\nmetadata:\n  name: self-signed"),
		},
	},

	// Ignores.
	{
		name: "comment-without-reason", example: "homelab", rule: "ignore-invalid",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/ocirepository.yaml", "  interval: 1h0m0s", "  interval: 1h0m0s «»# fleetwright:ignore source-mutable-ref")},
	},
	{
		name: "annotation-of-no-rule", example: "homelab", rule: "ignore-invalid",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/ocirepository.yaml", "metadata:\n", "metadata:\n  annotations:\n    «»fleetwright.dev/ignore: \"source-mutable: we follow it\"\n")},
	},
	{
		name: "comment", example: "acme", rule: "ignore-unused",
		edits: []edit{replace("clusters/staging/tenants.yaml", "  path: ./tenants/staging", "  «»# fleetwright:ignore flux-path-missing the folder comes later\n  path: ./tenants/staging")},
	},
	{
		name: "annotation", example: "classic", rule: "ignore-unused",
		edits: []edit{replace("infrastructure/controllers/base/ingress-nginx/helmrelease.yaml", "metadata:\n", "metadata:\n  annotations:\n    «»fleetwright.dev/ignore: \"source-mutable-ref: we follow it\"\n")},
	},
	{
		name: "ignored-and-mended", example: "homelab", rule: "ignore-unused",
		edits: []edit{replace("kubernetes/apps/network/external-dns/ks.yaml", "  - name: kube-prometheus-stack", "  - name: prometheus # fleetwright:ignore flux-dependson-missing another repository makes it\n  - name: envoy-gateway-config «»# fleetwright:ignore flux-dependson-missing another repository makes it")},
	},
}
