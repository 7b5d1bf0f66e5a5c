package mutation_test

// kommanderMutants break what a management repository of Kommander refers to, and
// where its applications and projects go.
var kommanderMutants = []mutant{
	// Applications.
	{
		name: "version-without-a-definition", example: "kommander", rule: "kommander-app-missing",
		edits: []edit{replace("workspaces/retail/content/applications/reloader.yaml", "name: reloader-0.0.121", "name: «»reloader-0.0.122")},
	},
	{
		name: "definition-removed", example: "kommander", rule: "kommander-app-missing",
		edits: []edit{
			remove("services/reloader/1.0.5/kustomization.yaml"),
			remove("services/reloader/1.0.5/reloader.yaml"),
			remove("services/reloader/1.0.5/defaults/cm.yaml"),
			remove("services/reloader/1.0.5/defaults/kustomization.yaml"),
			mark("projects/checkout/content/applications/reloader-checkout.yaml", "name: «»reloader-1.0.5"),
		},
	},
	{
		name: "kind-of-an-application", example: "kommander", rule: "kommander-app-missing",
		edits: []edit{replace("workspaces/retail/content/applications/traefik-internal.yaml", "kind: ClusterApp", "kind: «»ClusterApps")},
	},
	{
		name: "version-for-one-cluster", example: "kommander", rule: "kommander-app-missing",
		edits: []edit{replace("workspaces/retail/content/applications/kube-prometheus-stack.yaml", "  - clusterSelector:\n", "  - appVersion: «»41.0.0\n    clusterSelector:\n")},
	},
	{
		name: "application-named-as-a-step", example: "kommander", rule: "kommander-name-taken",
		edits: []edit{
			replace("clusters/kommander_host-cluster/apps/kommander.yaml", "  name: apps-kommander\n", "  name: traefik\n"),
			replace("clusters/management/kommander.yaml", "    name: apps-kommander\n", "    name: traefik\n"),
			mark("kommander/applications/traefik.yaml", "  name: «»traefik\n"),
		},
	},
	{
		name: "application-installed-twice", example: "kommander", rule: "kommander-release-shared",
		edits: []edit{replace("workspaces/retail/content/applications/traefik-internal.yaml", "    name: traefik-10.30.1\n", "    name: «»reloader-0.0.121\n")},
	},
	{
		name: "application-that-a-step-keeps-applying", example: "kommander", rule: "kommander-handover",
		edits: []edit{
			replace("kommander/app-management/kustomization.yaml", "  kustomize.toolkit.fluxcd.io/ssa: IfNotPresent\n", ""),
			mark("kommander/core-applications/kommander-appmanagement.yaml", "    name: «»kommander-appmanagement-0.4.0\n"),
		},
	},
	{
		name: "version-that-a-step-does-not-install", example: "kommander", rule: "kommander-handover",
		edits: []edit{
			add("services/kommander-appmanagement/0.5.0/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- release.yaml\n"),
			add("services/kommander-appmanagement/0.5.0/release.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: kommander-appmanagement\n  namespace: ${releaseNamespace}\n"+
				"spec:\n  interval: 10m0s\n  chart:\n    spec:\n      chart: kommander-appmanagement\n      version: v2.5.0\n      sourceRef:\n        kind: HelmRepository\n        name: mesosphere.github.io-kommander-charts\n        namespace: kommander-flux\n"),
			replace("kommander/core-applications/kommander-appmanagement.yaml", "    name: kommander-appmanagement-0.4.0\n", "    name: «»kommander-appmanagement-0.5.0\n"),
		},
	},
	{
		name: "version-of-a-chartRef-that-an-application-does-not-have", example: "kommander", rule: "kommander-handover",
		edits: []edit{
			replace("kommander/app-management/kustomization.yaml", "- ../../services/kommander-appmanagement/0.4.0\n", "- release.yaml\n"),
			add("kommander/app-management/release.yaml", "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata:\n  name: kommander-appmanagement\n  namespace: kommander\n"+
				"spec:\n  interval: 10m0s\n  layerSelector:\n    mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip\n    operation: copy\n  ref:\n    tag: v2.3.0\n  url: oci://registry.example.com/charts/kommander-appmanagement\n"+
				"---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: kommander-appmanagement\n  namespace: kommander\n"+
				"spec:\n  interval: 10m0s\n  chartRef:\n    kind: OCIRepository\n    name: kommander-appmanagement\n"),
			mark("kommander/core-applications/kommander-appmanagement.yaml", "    name: «»kommander-appmanagement-0.4.0\n"),
		},
	},
	{
		name: "typo-in-a-catalog's-label", example: "kommander", rule: "kommander-catalog-label",
		edits: []edit{replace("workspaces/retail/content/catalogs/retail-applications.yaml", "    kommander.d2iq.io/gitrepository-type: catalog\n", "    kommander.d2iq.io/gitrepositry-type: «»catalog\n")},
	},

	// Definitions, which Kommander builds.
	{
		name: "file-of-a-definition", example: "kommander", rule: "flux-build-failed",
		edits: []edit{replace("services/reloader/1.0.5/kustomization.yaml", "- reloader.yaml\n", "- «»reloder.yaml\n")},
	},
	{
		name: "field-of-a-definition", example: "kommander", rule: "schema-unknown-field",
		edits: []edit{replace("services/reloader/1.0.5/reloader.yaml", "  chart:\n    spec:\n", "  «»chrt:\n    spec:\n")},
	},
	{
		name: "interval-of-a-definition", example: "kommander", rule: "schema-invalid",
		edits: []edit{replace("services/reloader/1.0.5/reloader.yaml", "  interval: 10m0s\n", "  interval: «»10 minutes\n")},
	},
	{
		name: "file-of-a-definition-that-a-step-builds", example: "kommander", rule: "flux-build-failed",
		edits: []edit{replace("services/gatekeeper/3.10.0/kustomization.yaml", "- gatekeeper.yaml\n", "- «»gatekeper.yaml\n")},
	},

	// Overrides.
	{
		name: "typo-in-an-override", example: "kommander", rule: "kommander-override-missing",
		edits: []edit{replace("workspaces/retail/content/applications/kube-prometheus-stack.yaml", "  configOverrides:\n    name: kube-prometheus-stack-overrides", "  configOverrides:\n    name: «»kube-prometheus-stack-override")},
	},
	{
		name: "override-for-a-cluster-in-another-namespace", example: "kommander", rule: "kommander-override-missing",
		edits: []edit{
			replace("workspaces/retail/content/applications/kube-prometheus-stack.yaml", "  name: kube-prometheus-stack-staging-overrides\n  namespace: retail\n", "  name: kube-prometheus-stack-staging-overrides\n  namespace: kommander\n"),
			mark("workspaces/retail/content/applications/kube-prometheus-stack.yaml", "    configMapName: «»kube-prometheus-stack-staging-overrides"),
		},
	},
	{
		name: "key-of-an-override", example: "kommander", rule: "kommander-override-values",
		edits: []edit{
			replace("workspaces/retail/content/applications/kube-prometheus-stack.yaml", "  values.yaml: |\n    grafana:", "  values.yml: |\n    grafana:"),
			mark("workspaces/retail/content/applications/kube-prometheus-stack.yaml", "  name: «»kube-prometheus-stack-overrides\n  namespace"),
		},
	},
	{
		name: "override-that-is-a-list", example: "kommander", rule: "kommander-override-values",
		edits: []edit{replace("workspaces/retail/content/applications/kube-prometheus-stack.yaml", "  values.yaml: |\n    grafana:", "  values.yaml: «»|\n    - grafana:")},
	},
	{
		name: "password-in-an-override", example: "kommander", rule: "secret-hardcoded",
		edits: []edit{replace("workspaces/retail/content/applications/kube-prometheus-stack.yaml", "    grafana:\n", "    grafana:\n      adminPassword: «»fd2cX9xqLr4tVbN7\n")},
	},
	{
		name: "token-in-the-address-of-a-catalog", example: "kommander", rule: "secret-hardcoded",
		edits: []edit{replace("workspaces/retail/content/catalogs/retail-applications.yaml", "  url: https://", "  url: «»https://bot:fd2cX9xqLr4tVbN7@")},
	},
	{
		name: "credentials-of-gitea-in-clear", example: "kommander", rule: "sops-plaintext-secret",
		edits: []edit{
			add("workspaces/retail/content/git.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: retail-applications\n  namespace: retail\nstringData:\n  username: retail\n  «»password: fd2cX9xqLr4tVbN7\n"),
			replace("workspaces/retail/content/kustomization.yaml", "resources:\n", "resources:\n- git.yaml\n"),
		},
	},

	// Placement.
	{
		name: "cluster-that-is-not-attached", example: "kommander", rule: "kommander-placement-empty",
		edits: []edit{replace("workspaces/retail/content/applications/traefik-internal.yaml", "- retail-production", "- «»retail-prod")},
	},
	{
		name: "project-for-a-cluster-that-is-not-attached", example: "kommander", rule: "kommander-placement-empty",
		edits: []edit{replace("projects/search/project.yaml", "name: retail-staging", "name: «»retail-stage")},
	},
	{
		name: "project-for-no-cluster", example: "kommander", rule: "kommander-placement-empty",
		edits: []edit{replace("projects/search/project.yaml", "    clusters:\n    - name: retail-production\n    - name: retail-staging\n", "    «»clusters: []\n")},
	},
	{
		name: "project-without-placement", example: "kommander", rule: "kommander-placement-empty",
		edits: []edit{
			replace("projects/search/project.yaml", "  placement:\n    clusters:\n    - name: retail-production\n    - name: retail-staging\n", ""),
			mark("projects/search/project.yaml", "«»spec:\n"),
		},
	},
	{
		name: "label-that-no-cluster-has", example: "kommander", rule: "kommander-placement-empty",
		edits: []edit{replace("projects/checkout/project.yaml", "environment: production", "environment: prod"), mark("projects/checkout/project.yaml", "    «»clusterSelector:")},
	},

	// Workspaces, roles and groups.
	{
		name: "workspace-of-a-project", example: "kommander", rule: "kommander-workspace-missing",
		edits: []edit{replace("projects/checkout/project.yaml", "    name: retail\n", "    name: «»retial\n")},
	},
	{
		name: "project-in-another-namespace", example: "kommander", rule: "kommander-workspace-missing",
		edits: []edit{replace("projects/checkout/project.yaml", "namespace: retail\n", "namespace: «»kommander\n")},
	},
	{
		name: "typo-in-a-namespace", example: "kommander", rule: "kommander-workspace-missing",
		edits: []edit{replace("workspaces/retail/content/applications/reloader.yaml", "namespace: retail", "namespace: «»retial")},
	},
	{
		name: "typo-in-a-role", example: "kommander", rule: "kommander-role-missing",
		edits: []edit{replace("projects/checkout/content/bindings.yaml", "    name: deployer\n", "    name: «»deploier\n")},
	},
	{
		name: "two-roles", example: "kommander", rule: "kommander-binding-role",
		edits: []edit{
			replace("projects/checkout/content/bindings.yaml", "  projectRoleRef:\n    name: deployer\n", "  projectRoleRef:\n    name: deployer\n  workspaceRoleRef:\n    name: project-edit\n"),
			mark("projects/checkout/content/bindings.yaml", "«»spec:\n  projectRoleRef:\n    name: deployer\n"),
		},
	},
	{
		name: "no-role", example: "kommander", rule: "kommander-binding-role",
		edits: []edit{
			replace("projects/checkout/content/bindings.yaml", "  projectRoleRef:\n    name: deployer\n", ""),
			mark("projects/checkout/content/bindings.yaml", "«»spec:\n  virtualGroupRef:\n    name: checkout-team"),
		},
	},
	{
		name: "group-that-is-not-there", example: "kommander", rule: "kommander-group-missing",
		edits: []edit{replace("projects/checkout/content/bindings.yaml", "    name: checkout-team", "    name: «»checkout-teams")},
	},

	// Schemas.
	{
		name: "typo-in-an-AppDeployment", example: "kommander", rule: "schema-unknown-field",
		edits: []edit{replace("workspaces/retail/content/applications/traefik-internal.yaml", "  clusterSelector:\n", "  «»clusterSelectors:\n")},
	},
	{
		name: "subject-of-a-role", example: "kommander", rule: "schema-invalid",
		edits: []edit{replace("projects/checkout/content/roles.yaml", "    verbs:\n    - get\n    - list\n    - watch\n    - patch\n", "    verbs: «»get\n")},
	},
	{
		name: "field-of-a-certificate", example: "kommander", rule: "schema-unknown-field",
		edits: []edit{replace("kommander/gitea/certificate.yaml", "  secretName:", "  «»secretname:")},
	},

	// Changes.
	{
		name: "no-cert-manager", example: "kommander", rule: "kommander-prerequisite-missing",
		edits: []edit{
			replace("infrastructure/controllers/base/cert-manager/ocirepository.yaml", "charts/cert-manager", "charts/trust-manager"),
			mark("kommander/root-ca/root-ca.yaml", "kind: «»ClusterIssuer\nmetadata:\n  name: selfsigned-issuer\n"),
		},
	},
	{
		name: "no-Kommander", example: "kommander", rule: "kommander-prerequisite-missing",
		edits: []edit{
			remove("kommander/applications/kommander.yaml"),
			replace("kommander/applications/kustomization.yaml", "- kommander.yaml\n", ""),
			mark("kommander/cluster/kommandercluster.yaml", "kind: «»KommanderCluster\n"),
		},
	},
	{
		name: "workspace-out-with-its-clusters", example: "kommander", rule: "kommander-removal-order", since: true,
		edits: []edit{
			remove("projects/*/*.yaml"), remove("projects/*/content/*.yaml"), remove("projects/*/content/*/*.yaml"),
			replace("kommander/projects/kustomization.yaml", "resources:\n- ../../projects/checkout\n- ../../projects/search\n", "resources: []\n"),
			replace("kommander/project-content/kustomization.yaml", "resources:\n- ../../projects/checkout/content\n- ../../projects/search/content\n", "resources: []\n"),
			remove("workspaces/retail/*.yaml"), remove("workspaces/retail/content/*.yaml"), remove("workspaces/retail/content/*/*.yaml"),
			replace("kommander/workspaces/kustomization.yaml", "resources:\n- ../../workspaces/retail\n", "resources: []\n"),
			replace("kommander/workspace-content/kustomization.yaml", "- ../../workspaces/retail/content\n", ""),
			mark("clusters/management/kommander.yaml", "path: «»./kommander/workspaces\n"),
		},
	},
	{
		name: "namespace-of-a-project", example: "kommander", rule: "kommander-namespace-changed", since: true,
		edits: []edit{replace("projects/search/project.yaml", "namespaceName: search", "namespaceName: «»search-eu")},
	},
}
