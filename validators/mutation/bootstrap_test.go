package mutation_test

// bootstrapMutants make what a bootstrap installs another thing than Git says.
var bootstrapMutants = []mutant{
	{
		name: "written-out-and-left-behind", example: "homelab", rule: "bootstrap-version-drift",
		edits: []edit{replace("bootstrap/helmfile.yaml", "- name: cilium\n  namespace: kube-system\n", "- name: cilium\n  namespace: kube-system\n  version: «»1.19.6\n")},
	},
	{
		name: "of-one-of-three-clusters", example: "acme", rule: "bootstrap-version-drift",
		edits: []edit{replace("bootstrap/production-us/helmfile.yaml", "- name: coredns\n  namespace: kube-system\n", "- name: coredns\n  namespace: kube-system\n  version: «»1.40.0\n")},
	},
	{
		name: "patched-in-Git", example: "acme", rule: "bootstrap-version-drift",
		edits: []edit{
			replace("infrastructure/controllers/staging/kustomization.yaml", "patches:\n", "patches:\n- target:\n    kind: OCIRepository\n    name: coredns\n  patch: |\n    - op: replace\n      path: /spec/ref/tag\n      value: 9.9.9\n"),
			mark("bootstrap/staging/helmfile.yaml", "    «»version: '{{ readFile"),
		},
	},
	{
		name: "definitions-of-another-version", example: "homelab", rule: "bootstrap-version-drift",
		edits: []edit{replace("bootstrap/crds.yaml", "- name: envoy-gateway\n  namespace: network\n", "- name: envoy-gateway\n  namespace: network\n  version: «»1.8.0\n")},
	},
	{
		name: "another-chart", example: "homelab", rule: "bootstrap-chart-drift",
		edits: []edit{replace("bootstrap/helmfile.yaml", "- name: cilium\n  namespace: kube-system\n", "- name: cilium\n  namespace: kube-system\n  chart: «»oci://quay.io/cilium/charts/cilium-enterprise\n")},
	},
	{
		name: "value-of-its-own", example: "homelab", rule: "bootstrap-values-drift",
		edits: []edit{replace("bootstrap/helmfile.yaml", "- name: coredns\n  namespace: kube-system\n", "- name: coredns\n  namespace: kube-system\n  values:\n  - replicaCount: «»3\n")},
	},
	{
		name: "variable-that-Flux-replaces", example: "homelab", rule: "bootstrap-substitution",
		edits: []edit{
			replace("kubernetes/apps/kube-system/coredns/app/helmrelease.yaml", "  annotations:\n    kustomize.toolkit.fluxcd.io/substitute: disabled\n", ""),
			replace("kubernetes/apps/kube-system/coredns/app/helmrelease.yaml", "fullnameOverride: coredns", "fullnameOverride: coredns-${CLUSTER_NAME}"),
			mark("bootstrap/templates/values.yaml.gotmpl", "«»{{ readFile"),
		},
	},
	{
		name: "patch-that-the-bootstrap-does-not-see", example: "acme", rule: "bootstrap-overlay",
		edits: []edit{
			replace("infrastructure/controllers/staging/kustomization.yaml", "patches:\n", "patches:\n- path: coredns-patch.yaml\n"),
			add("infrastructure/controllers/staging/coredns-patch.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: coredns\n  namespace: flux-system\nspec:\n  values:\n    replicaCount: 5\n"),
			mark("bootstrap/templates/values.yaml.gotmpl", "«»{{ readFile"),
		},
	},
	{
		name: "another-namespace", example: "homelab", rule: "bootstrap-identity-drift",
		edits: []edit{replace("bootstrap/helmfile.yaml", "- name: cert-manager\n  namespace: cert-manager\n", "- name: cert-manager\n  namespace: «»certificates\n")},
	},
	{
		name: "another-release-name-in-Git", example: "acme", rule: "bootstrap-identity-drift",
		edits: []edit{
			replace("infrastructure/controllers/staging/cilium/helmrelease.yaml", "releaseName: cilium", "releaseName: cilium-cni"),
			mark("bootstrap/staging/helmfile.yaml", "- name: «»cilium\n"),
		},
	},
	{
		name: "application-removed", example: "homelab", rule: "bootstrap-helmrelease-missing",
		edits: []edit{
			remove("kubernetes/apps/kube-system/coredns/app/*.yaml"),
			remove("kubernetes/apps/kube-system/coredns/ks.yaml"),
			replace("kubernetes/apps/kube-system/kustomization.yaml", "- coredns/ks.yaml\n", ""),
			mark("bootstrap/helmfile.yaml", "- name: «»coredns\n"),
		},
	},
	{
		name: "need-of-nothing", example: "homelab", rule: "bootstrap-order",
		edits: []edit{replace("bootstrap/helmfile.yaml", "  - kube-system/cilium\n  - cert-manager/cert-manager\n", "  - kube-system/cilium\n  - «»cert-manager/cert-managers\n")},
	},
	{
		name: "needs-in-a-circle", example: "homelab", rule: "bootstrap-order",
		edits: []edit{
			replace("bootstrap/helmfile.yaml", "  needs:\n  - flux-system/flux-operator\n", "  needs:\n  - «»flux-system/flux-operator\n"),
			replace("bootstrap/helmfile.yaml", "  - kube-system/cilium\n  - cert-manager/cert-manager\n", "  - kube-system/cilium\n  - cert-manager/cert-manager\n  - «»flux-system/flux-instance\n"),
		},
	},
	{
		name: "a-hook-that-applies-nothing", example: "homelab", rule: "bootstrap-order",
		edits: []edit{
			replace("bootstrap/helmfile.yaml", "  - flux-system/flux-operator\n  hooks:\n", "  - flux-system/flux-operator\n  hooks:\n  - events: [postsync]\n    command: kubectl\n    args:\n    - apply\n    - --«»filename=../kubernetes/flux/clusters/ks.yaml\n"),
		},
	},
	{
		name: "a-hook-that-waits-for-its-own-release", example: "homelab", rule: "bootstrap-order",
		edits: []edit{
			replace("bootstrap/helmfile.yaml", "  hooks:\n  - events:\n    - postsync\n    command: kubectl\n    args:\n    - wait\n    - --for=create\n    - --timeout=5m\n    - crd/ciliumloadbalancerippools.cilium.io\n",
				"  hooks:\n  - events:\n    - presync\n    command: kubectl\n    args:\n    - wait\n    - --for=create\n    - --timeout=5m\n    - crd/ciliumloadbalancerippools.«»cilium.io\n"),
		},
	},
	{
		name: "dns-before-the-network", example: "homelab", rule: "bootstrap-order",
		edits: []edit{
			replace("bootstrap/helmfile.yaml", "  needs:\n  - kube-system/cilium\n- name: cert-manager\n", "- name: cert-manager\n"),
			mark("bootstrap/helmfile.yaml", "- name: «»coredns\n"),
		},
	},
	{
		name: "an-operator-that-is-not-installed", example: "homelab", rule: "bootstrap-operator-missing",
		edits: []edit{
			replace("bootstrap/helmfile.yaml", "- name: flux-operator\n  namespace: flux-system\n", "- name: flux-operator\n  namespace: flux-system\n  installed: false\n"),
			mark("bootstrap/helmfile.yaml", "- name: «»flux-instance\n"),
		},
	},
	{
		name: "a-hook-that-applies-what-Flux-does-not", example: "homelab", tenants: true, rule: "bootstrap-object-missing",
		edits: []edit{
			replace("bootstrap/helmfile.yaml", "  - flux-system/flux-operator\n  hooks:\n", "  - flux-system/flux-operator\n  hooks:\n  - events: [postsync]\n    command: kubectl\n    args:\n    - apply\n    - --«»filename=policy.yaml\n"),
			add("bootstrap/policy.yaml", "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: boot\n  namespace: flux-system\nspec:\n  podSelector: {}\n  policyTypes: [Ingress]\n"),
		},
	},
	{
		name: "values-of-a-folder-that-is-gone", example: "homelab", rule: "bootstrap-template-path",
		edits: []edit{
			replace("bootstrap/helmfile.yaml", "helmrelease: kubernetes/apps/kube-system/coredns/app/helmrelease.yaml", "helmrelease: kubernetes/apps/kube-system/dns/app/helmrelease.yaml"),
			mark("bootstrap/helmfile.yaml", "    - «»templates/values.yaml.gotmpl"),
		},
	},
	{
		name: "values-out-of-a-ConfigMap", example: "homelab", rule: "bootstrap-values-from",
		edits: []edit{
			replace("kubernetes/apps/kube-system/coredns/app/helmrelease.yaml", "  values:\n", "  valuesFrom:\n  - kind: ConfigMap\n    name: coredns-values\n  values:\n"),
			add("kubernetes/apps/kube-system/coredns/app/values.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: coredns-values\n  namespace: kube-system\n  labels:\n    reconcile.fluxcd.io/watch: Enabled\ndata:\n  values.yaml: |\n    prometheus:\n      service:\n        enabled: true\n"),
			replace("kubernetes/apps/kube-system/coredns/app/kustomization.yaml", "resources:\n", "resources:\n- values.yaml\n"),
			mark("bootstrap/helmfile.yaml", "- name: «»coredns\n"),
		},
	},
	{
		name: "field-that-helmfile-does-not-know", example: "homelab", rule: "bootstrap-refused",
		edits: []edit{replace("bootstrap/helmfile.yaml", "- name: coredns\n  namespace: kube-system\n", "- name: coredns\n  namespace: kube-system\n  «»wiat: true\n")},
	},
	{
		name: "key-that-the-HelmRelease-does-not-have", example: "acme", rule: "bootstrap-refused",
		edits: []edit{
			replace("bootstrap/templates/values.yaml.gotmpl", "| get \"spec.values\" (dict)", "| get \"spec.valuez\""),
			mark("bootstrap/templates/values.yaml.gotmpl", "«»{{ readFile"),
		},
	},
	{
		name: "Flux-of-another-version", example: "homelab", rule: "bootstrap-flux-drift",
		edits: []edit{add("bootstrap/flux/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- github.com/fluxcd/flux2/manifests/install?ref=«»v2.2.2\n")},
	},
	{
		name: "Flux-of-another-version-on-one-cluster", example: "acme", rule: "bootstrap-flux-drift",
		edits: []edit{add("bootstrap/staging/flux/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- https://github.com/fluxcd/flux2/releases/download/«»v2.2.2/install.yaml\n")},
	},
	{
		name: "declared-and-mended", example: "homelab", rule: "bootstrap-intended-stale",
		edits: []edit{replace("kubernetes/apps/kube-system/coredns/app/helmrelease.yaml", "  annotations:\n", "  annotations:\n    fleetwright.dev/bootstrap-intended: «»'values.replicaCount: one node comes first'\n")},
	},
	// ChartMuseum, which Kommander's installer brings before Flux.
	{
		name: "value-of-chartmuseum-in-the-helmfile", example: "kommander", rule: "bootstrap-values-drift",
		edits: []edit{replace("bootstrap/management/helmfile.yaml", "- name: chartmuseum\n  namespace", "- name: chartmuseum\n  values:\n  - persistence:\n      size: «»8Gi\n  namespace")},
	},
	{
		name: "version-of-chartmuseum-in-the-helmfile", example: "kommander", rule: "bootstrap-version-drift",
		edits: []edit{replace("bootstrap/management/helmfile.yaml", "- name: chartmuseum\n  namespace", "- name: chartmuseum\n  version: «»3.8.0\n  namespace")},
	},
	{
		name: "chartmuseum-before-it-moved", example: "kommander", rule: "bootstrap-identity-drift",
		edits: []edit{replace("bootstrap/management/helmfile.yaml", "- name: chartmuseum\n  namespace: kommander", "- name: chartmuseum\n  namespace: «»chartmuseum")},
	},
	{
		name: "values-of-chartmuseum-in-its-defaults", example: "kommander", rule: "bootstrap-values-from",
		edits: []edit{
			replace("services/chartmuseum/3.9.0/chartmuseum.yaml", "  values:\n", "  valuesFrom:\n  - kind: ConfigMap\n    name: chartmuseum-3.9.0-d2iq-defaults\n  values:\n"),
			replace("services/chartmuseum/3.9.0/defaults/cm.yaml", "{}", "replicaCount: 3"),
			mark("bootstrap/management/helmfile.yaml", "- name: «»chartmuseum\n  namespace"),
		},
	},
}
