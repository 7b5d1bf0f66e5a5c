package mutation_test

// k0rdentMutants break what a management cluster of k0rdent refers to, and what may
// not change in it.
var k0rdentMutants = []mutant{
	// Templates, and the Release.
	{
		name: "typo-in-a-clusters-template", example: "k0rdent", rule: "k0rdent-template-missing",
		edits: []edit{replace("k0rdent/clusters/kcm-system/platform-tools.yaml", "template: azure-standalone-cp-1-0-45", "template: «»azure-standalone-cp-1-0-54")},
	},
	{
		name: "not-handed-to-the-namespace", example: "k0rdent", rule: "k0rdent-template-missing",
		edits: []edit{replace("k0rdent/clusters/team-red/red-production.yaml", "template: aws-standalone-cp-1-0-42", "template: «»azure-standalone-cp-1-0-45")},
	},
	{
		name: "service-of-another-version", example: "k0rdent", rule: "k0rdent-template-missing",
		edits: []edit{replace("k0rdent/services/certificates.yaml", "template: cert-manager-1-19-1", "template: «»cert-manager-1-19-2")},
	},
	{
		name: "template-removed", example: "k0rdent", rule: "k0rdent-template-missing",
		edits: []edit{
			remove("k0rdent/templates/services/ingress-nginx-4-13-3.yaml"),
			replace("k0rdent/templates/kustomization.yaml", "- services/ingress-nginx-4-13-3.yaml\n", ""),
			mark("k0rdent/access/servicetemplatechains.yaml", "    - name: ingress-nginx-4-13-3\n  - name: «»ingress-nginx-4-13-3\n"),
		},
	},
	{
		name: "provider-of-another-version", example: "k0rdent", rule: "k0rdent-template-missing",
		edits: []edit{replace("k0rdent/release/release.yaml", "template: cluster-api-provider-aws-1-0-25", "template: «»cluster-api-provider-aws-1-0-26")},
	},
	{
		name: "Release-of-another-version", example: "k0rdent", rule: "k0rdent-template-missing",
		edits: []edit{replace("k0rdent/management/management.yaml", "release: kcm-1-11-4", "release: «»kcm-1-11-5")},
	},

	// Chains and credentials.
	{
		name: "chain-before-the-last-change", example: "k0rdent", rule: "k0rdent-chain-missing",
		edits: []edit{replace("k0rdent/access/accessmanagement.yaml", "- aws-1-0-43-4601ad", "- «»aws-1-0-42-0f0f0f")},
	},
	{
		name: "credential-of-a-cluster", example: "k0rdent", rule: "k0rdent-credential-missing",
		edits: []edit{replace("k0rdent/clusters/kcm-system/platform-tools.yaml", "credential: azure", "credential: «»azur")},
	},
	{
		name: "credential-not-handed-on", example: "k0rdent", rule: "k0rdent-credential-missing",
		edits: []edit{
			replace("k0rdent/access/accessmanagement.yaml", "    - openstack\n", ""),
			mark("k0rdent/clusters/team-blue/blue-staging.yaml", "credential: «»openstack"),
		},
	},
	{
		name: "upgrade-to-what-the-chain-lacks", example: "k0rdent", rule: "k0rdent-upgrade-unsupported",
		edits: []edit{replace("k0rdent/access/clustertemplatechains.yaml", "    - name: aws-standalone-cp-1-0-43\n", "    - name: «»azure-standalone-cp-1-0-45\n")},
	},

	{
		name: "identity-of-a-credential", example: "k0rdent", rule: "k0rdent-credential-missing",
		edits: []edit{replace("k0rdent/credentials/aws.yaml", "    kind: AWSClusterStaticIdentity\n    name: aws\n", "    kind: AWSClusterStaticIdentity\n    name: «»aws-eu\n")},
	},

	{
		name: "cluster-without-a-credential", example: "k0rdent", rule: "k0rdent-credential-missing",
		edits: []edit{replace("k0rdent/clusters/kcm-system/platform-tools.yaml", "  credential: azure\n", ""), mark("k0rdent/clusters/kcm-system/platform-tools.yaml", "«»spec:\n")},
	},
	{
		name: "identity-without-a-secret", example: "k0rdent", rule: "k0rdent-credential-missing",
		edits: []edit{
			replace("k0rdent/credentials/aws.yaml", "  secretRef: aws-secret\n", ""),
			mark("k0rdent/credentials/aws.yaml", "«»spec:\n  allowedNamespaces"),
		},
	},
	{
		name: "identity-without-its-namespace", example: "k0rdent", rule: "k0rdent-credential-missing",
		edits: []edit{
			replace("k0rdent/credentials/azure.yaml", "    name: azure\n    namespace: kcm-system\n", "    name: azure\n"),
			mark("k0rdent/credentials/azure.yaml", "  «»identityRef:\n"),
		},
	},

	{
		name: "cluster-without-a-resource-template", example: "k0rdent", rule: "k0rdent-resource-template-missing",
		edits: []edit{
			replace("k0rdent/credentials/azure.yaml", "name: azure-resource-template", "name: azure-cluster-resource-template"),
			mark("k0rdent/clusters/kcm-system/platform-tools.yaml", "  credential: «»azure\n"),
		},
	},
	{
		name: "resource-template-in-the-namespace-of-the-identity", example: "k0rdent", rule: "k0rdent-resource-template-missing",
		edits: []edit{
			replace("k0rdent/clusters/team-blue/resource-templates/openstack.yaml", "name: openstack-resource-template", "name: openstack"),
			replace("k0rdent/clusters/team-blue/blue-staging.yaml", "  dryRun: true\n", ""),
			mark("k0rdent/clusters/team-blue/blue-staging.yaml", "  credential: «»openstack\n"),
		},
	},

	// What fits together.
	{
		name: "credential-of-another-cloud", example: "k0rdent", rule: "k0rdent-cluster-unfit",
		edits: []edit{replace("k0rdent/clusters/kcm-system/platform-tools.yaml", "credential: azure", "credential: «»vsphere")},
	},
	{
		name: "service-for-another-Kubernetes", example: "k0rdent", rule: "k0rdent-cluster-unfit",
		edits: []edit{
			replace("k0rdent/templates/clusters/aws-standalone-cp-1-0-42.yaml", "spec:\n", "spec:\n  k8sVersion: v1.31.8+k0s.0\n"),
			replace("k0rdent/templates/services/ingress-nginx-4-13-2.yaml", "spec:\n", "spec:\n  k8sConstraint: '>=1.32.0'\n"),
			mark("k0rdent/clusters/team-red/red-production.yaml", "      template: «»ingress-nginx-4-13-2\n"),
		},
	},
	{
		name: "constraint-that-is-none", example: "k0rdent", rule: "k0rdent-cluster-unfit",
		edits: []edit{replace("k0rdent/templates/services/baseline-1-4-0.yaml", "k8sConstraint: '>=1.32.0'", "k8sConstraint: «»from 1.32 on")},
	},
	{
		name: "provider-that-the-Release-lacks", example: "k0rdent", rule: "k0rdent-provider-missing",
		edits: []edit{replace("k0rdent/management/management.yaml", "- name: cluster-api-provider-vsphere", "- name: «»cluster-api-provider-vshpere")},
	},
	{
		name: "provider-that-a-cluster-needs", example: "k0rdent", rule: "k0rdent-provider-missing", since: true,
		edits: []edit{
			replace("k0rdent/management/management.yaml", "  - name: cluster-api-provider-azure\n", ""),
			mark("k0rdent/clusters/kcm-system/platform-tools.yaml", "  template: «»azure-standalone-cp-1-0-45\n"),
		},
	},
	{
		name: "policy-of-a-cluster", example: "k0rdent", rule: "k0rdent-reference-missing",
		edits: []edit{
			add("k0rdent/clusters/policy.yaml", auditPolicy("Metadata")),
			replace("k0rdent/clusters/kustomization.yaml", "resources:\n", "resources:\n- policy.yaml\n"),
			replace("k0rdent/clusters/kcm-system/platform-tools.yaml", "  credential: azure\n", "  credential: azure\n  auditPolicy: «»strikt\n"),
		},
	},
	{
		name: "level-of-a-policy", example: "k0rdent", rule: "k0rdent-policy-invalid",
		edits: []edit{
			add("k0rdent/clusters/policy.yaml", auditPolicy("«»Requests")),
			replace("k0rdent/clusters/kustomization.yaml", "resources:\n", "resources:\n- policy.yaml\n"),
		},
	},
	{
		name: "chart-from-a-source", example: "k0rdent", rule: "k0rdent-source-missing",
		edits: []edit{replace("k0rdent/templates/services/ingress-nginx-4-13-3.yaml", "        name: ingress-nginx\n", "        name: «»ingres-nginx\n")},
	},
	{
		name: "source-of-another-namespace", example: "k0rdent", rule: "k0rdent-source-missing",
		edits: []edit{
			replace("k0rdent/templates/sources.yaml", "  name: cluster-baseline\n  namespace: kcm-system\n", "  name: cluster-baseline\n  namespace: flux-system\n"),
			mark("k0rdent/templates/services/baseline-1-4-0.yaml", "      name: «»cluster-baseline\n"),
		},
	},
	{
		name: "dependency-of-services", example: "k0rdent", rule: "k0rdent-service-refused",
		edits: []edit{replace("k0rdent/services/certificates.yaml", "  - baseline\n", "  - «»basline\n")},
	},
	{
		name: "services-in-a-circle", example: "k0rdent", rule: "k0rdent-service-refused",
		edits: []edit{replace("k0rdent/services/baseline.yaml", "  serviceSpec:\n", "  dependsOn:\n  - «»certificates\n  serviceSpec:\n")},
	},
	{
		name: "dependency-without-its-namespace", example: "k0rdent", rule: "k0rdent-service-refused",
		edits: []edit{replace("k0rdent/clusters/team-red/red-production.yaml", "      template: ingress-nginx-4-13-2\n",
			"      template: ingress-nginx-4-13-2\n      dependsOn:\n      - name: «»ingress-nginx\n")},
	},
	{
		name: "a-second-AccessManagement", example: "k0rdent", rule: "k0rdent-singleton",
		edits: []edit{
			add("k0rdent/access/teams.yaml", "apiVersion: k0rdent.mirantis.com/v1beta1\nkind: AccessManagement\nmetadata:\n  name: «»teams\nspec:\n  accessRules: []\n"),
			replace("k0rdent/access/kustomization.yaml", "- servicetemplatechains.yaml\n", "- servicetemplatechains.yaml\n- teams.yaml\n"),
		},
	},
	{
		name: "upgrades-with-a-version-and-without", example: "k0rdent", rule: "k0rdent-upgrade-unsupported",
		edits: []edit{replace("k0rdent/access/clustertemplatechains.yaml", "    - name: aws-standalone-cp-1-0-43\n", "    - name: aws-standalone-cp-1-0-43\n      version: 1.0.43\n    - name: «»aws-standalone-cp-1-0-42\n")},
	},

	// Placement.
	{
		name: "services-for-no-cluster", example: "k0rdent", rule: "k0rdent-placement-empty",
		edits: []edit{replace("k0rdent/services/certificates.yaml", "environment: production", "environment: prod"), mark("k0rdent/services/certificates.yaml", "  «»clusterSelector:")},
	},
	{
		name: "services-by-an-empty-selector", example: "k0rdent", rule: "k0rdent-placement-empty",
		edits: []edit{replace("k0rdent/services/certificates.yaml", "  clusterSelector:\n    matchLabels:\n      environment: production\n", "  «»clusterSelector: {}\n")},
	},
	{
		name: "access-for-everybody", example: "k0rdent", rule: "k0rdent-placement-empty",
		edits: []edit{replace("k0rdent/access/accessmanagement.yaml", "      list:\n      - team-red\n", "      «»list: []\n")},
	},

	// Order.
	{
		name: "Management-without-dependsOn", example: "k0rdent", rule: "k0rdent-release-order",
		edits: []edit{
			replace("clusters/management/k0rdent.yaml", "  dependsOn:\n  - name: k0rdent-release\n", ""),
			mark("k0rdent/management/management.yaml", "kind: «»Management"),
		},
	},
	{
		name: "Release-without-health", example: "k0rdent", rule: "k0rdent-release-order",
		edits: []edit{
			replace("clusters/management/k0rdent.yaml", "  - apiVersion: k0rdent.mirantis.com/v1beta1\n    kind: Release\n    current: has(status.ready) && status.ready\n", ""),
			mark("k0rdent/management/management.yaml", "kind: «»Management"),
		},
	},
	{
		name: "Management-beside-its-Release", example: "k0rdent", rule: "k0rdent-release-order",
		edits: []edit{
			replace("k0rdent/release/kustomization.yaml", "- release.yaml\n", ""),
			replace("k0rdent/management/kustomization.yaml", "- management.yaml\n", "- management.yaml\n- ../release/release.yaml\n"),
			mark("k0rdent/management/management.yaml", "kind: «»Management"),
		},
	},
	{
		name: "chain-beside-its-template", example: "k0rdent", rule: "k0rdent-apply-order",
		edits: []edit{
			replace("k0rdent/templates/kustomization.yaml", "- clusters/aws-standalone-cp-1-0-43.yaml\n", ""),
			replace("k0rdent/access/kustomization.yaml", "- clustertemplatechains.yaml\n", "- clustertemplatechains.yaml\n- ../templates/clusters/aws-standalone-cp-1-0-43.yaml\n"),
			mark("k0rdent/access/clustertemplatechains.yaml", "«»apiVersion: k0rdent.mirantis.com/v1beta1\nkind: ClusterTemplateChain\nmetadata:\n  name: aws-1-0-43-4601ad\n"),
		},
	},
	{
		name: "clusters-without-their-credentials", example: "k0rdent", rule: "k0rdent-apply-order",
		edits: []edit{
			replace("clusters/management/k0rdent.yaml", "  dependsOn:\n  - name: k0rdent-access\n", "  dependsOn:\n  - name: k0rdent-templates\n"),
			mark("k0rdent/clusters/kcm-system/platform-tools.yaml", "«»apiVersion: k0rdent.mirantis.com/v1beta1\n"),
			mark("k0rdent/clusters/kcm-system/warehouse.yaml", "«»apiVersion: k0rdent.mirantis.com/v1beta1\n"),
			mark("k0rdent/clusters/team-blue/blue-staging.yaml", "«»apiVersion: k0rdent.mirantis.com/v1beta1\n"),
			mark("k0rdent/clusters/team-red/red-production.yaml", "«»apiVersion: k0rdent.mirantis.com/v1beta1\n"),
		},
	},

	// Schemas.
	{
		name: "resources-in-1.11", example: "k0rdent", rule: "k0rdent-access-version",
		edits: []edit{replace("k0rdent/access/accessmanagement.yaml", "    clusterTemplateChains:\n    - aws-1-0-43-4601ad\n",
			"    «»resources:\n    - kind: ClusterTemplateChain\n      names:\n      - aws-1-0-43-4601ad\n")},
	},
	{
		name: "a-chart-and-a-kustomization", example: "k0rdent", rule: "schema-cel-violation",
		edits: []edit{
			replace("k0rdent/templates/services/baseline-1-4-0.yaml", "  kustomize:\n", "  helm:\n    chartSpec:\n      chart: a\n      version: 1.0.0\n      interval: 10m0s\n      sourceRef:\n        kind: HelmRepository\n        name: kcm-templates\n  kustomize:\n"),
			mark("k0rdent/templates/services/baseline-1-4-0.yaml", "«»spec:\n"),
		},
	},
	{
		name: "none-of-them", example: "k0rdent", rule: "schema-cel-violation",
		edits: []edit{
			replace("k0rdent/templates/services/cert-manager-1-19-1.yaml", `  helm:
    chartSpec:
      chart: cert-manager
      version: 1.19.1
      interval: 10m0s
      sourceRef:
        kind: HelmRepository
        name: jetstack
`, "  version: 1.19.1\n"),
			mark("k0rdent/templates/services/cert-manager-1-19-1.yaml", "«»spec:\n"),
		},
	},
	{
		name: "typo-in-a-template", example: "k0rdent", rule: "schema-unknown-field",
		edits: []edit{replace("k0rdent/clusters/kcm-system/platform-tools.yaml", "  credential: azure", "  dryrun: true\n  credential: azure"), mark("k0rdent/clusters/kcm-system/platform-tools.yaml", "  «»dryrun: true")},
	},
	{
		name: "no-cert-manager", example: "k0rdent", rule: "k0rdent-prerequisite-missing",
		edits: []edit{replace("k0rdent/management/management.yaml", "      config:\n", "      config:\n        regional:\n          cert-manager:\n            enabled: «»false\n")},
	},

	// Changes.
	{
		name: "version-of-a-template", example: "k0rdent", rule: "k0rdent-template-edited", since: true,
		edits: []edit{replace("k0rdent/templates/clusters/aws-standalone-cp-1-0-43.yaml", "version: 1.0.43", "version: «»1.0.44")},
	},
	{
		name: "chain-extended-in-place", example: "k0rdent", rule: "k0rdent-template-edited", since: true,
		edits: []edit{
			replace("k0rdent/access/clustertemplatechains.yaml", "  - name: openstack-standalone-cp-1-0-46\n", "  - name: azure-standalone-cp-1-0-45\n  - name: openstack-standalone-cp-1-0-46\n"),
			mark("k0rdent/access/clustertemplatechains.yaml", "  «»supportedTemplates:\n  - name: azure"),
		},
	},
	{
		name: "a-data-source-later", example: "k0rdent", rule: "k0rdent-template-edited", since: true,
		edits: []edit{replace("k0rdent/clusters/kcm-system/platform-tools.yaml", "  credential: azure\n", "  credential: azure\n  dataSource: «»etcd\n")},
	},
	{
		name: "cluster-moved-where-no-upgrade-leads", example: "k0rdent", rule: "k0rdent-upgrade-path", since: true,
		edits: []edit{replace("k0rdent/clusters/team-blue/blue-staging.yaml", "template: openstack-standalone-cp-1-0-46", "template: «»vsphere-standalone-cp-1-0-42")},
	},
	{
		name: "cluster-out-with-its-credential", example: "k0rdent", rule: "k0rdent-removal-order", since: true,
		edits: []edit{
			remove("k0rdent/clusters/kcm-system/platform-tools.yaml"),
			replace("k0rdent/clusters/kustomization.yaml", "- kcm-system/platform-tools.yaml\n", ""),
			remove("k0rdent/credentials/azure.yaml"),
			replace("k0rdent/credentials/kustomization.yaml", "- azure.yaml\n", ""),
			mark("clusters/management/k0rdent.yaml", "path: «»./k0rdent/clusters\n"),
		},
	},
	{
		name: "cluster-out-with-its-access", example: "k0rdent", rule: "k0rdent-removal-order", since: true,
		edits: []edit{
			remove("k0rdent/clusters/team-red/red-production.yaml"),
			replace("k0rdent/clusters/kustomization.yaml", "- team-red/red-production.yaml\n", ""),
			replace("k0rdent/access/accessmanagement.yaml", "    credentials:\n    - aws\n", ""),
			mark("clusters/management/k0rdent.yaml", "path: «»./k0rdent/clusters\n"),
		},
	},
	{
		name: "cluster-out-with-its-provider", example: "k0rdent", rule: "k0rdent-removal-order", since: true,
		edits: []edit{
			remove("k0rdent/clusters/team-blue/blue-staging.yaml"),
			replace("k0rdent/clusters/kustomization.yaml", "- team-blue/blue-staging.yaml\n", ""),
			replace("k0rdent/management/management.yaml", "  - name: cluster-api-provider-openstack\n", ""),
			replace("k0rdent/release/release.yaml", "  - name: cluster-api-provider-openstack\n    template: cluster-api-provider-openstack-1-0-28\n", ""),
			mark("clusters/management/k0rdent.yaml", "path: «»./k0rdent/clusters\n"),
		},
	},
	{
		name: "cluster-out-with-its-provider-disabled", example: "k0rdent", rule: "k0rdent-removal-order", since: true,
		edits: []edit{
			remove("k0rdent/clusters/team-blue/blue-staging.yaml"),
			replace("k0rdent/clusters/kustomization.yaml", "- team-blue/blue-staging.yaml\n", ""),
			replace("k0rdent/management/management.yaml", "  - name: cluster-api-provider-openstack\n", ""),
			mark("clusters/management/k0rdent.yaml", "path: «»./k0rdent/clusters\n"),
		},
	},

	// Versions of the API.
	{
		name: "services-of-an-old-version", example: "k0rdent", rule: "k0rdent-api-version",
		edits: []edit{replace("k0rdent/services/baseline.yaml", "apiVersion: k0rdent.mirantis.com/v1beta1\n", "apiVersion: «»k0rdent.mirantis.com/v1alpha1\n")},
	},

	// The bootstrap.
	{
		name: "value-of-kcm-in-the-helmfile", example: "k0rdent", rule: "bootstrap-values-drift",
		edits: []edit{replace("bootstrap/management/helmfile.yaml", "- name: kcm\n", "- name: kcm\n  values:\n  - replicas: «»3\n")},
	},
	{
		name: "version-of-kcm-in-the-helmfile", example: "k0rdent", rule: "bootstrap-version-drift",
		edits: []edit{replace("bootstrap/management/helmfile.yaml", "- name: kcm\n", "- name: kcm\n  version: «»1.11.3\n")},
	},
}

// auditPolicy is a ClusterAuditPolicy of a level.
func auditPolicy(level string) string {
	return "apiVersion: k0rdent.mirantis.com/v1beta1\nkind: ClusterAuditPolicy\nmetadata:\n  name: strict\n  namespace: kcm-system\nspec:\n  policy:\n    rules:\n    - level: " + level + "\n"
}
