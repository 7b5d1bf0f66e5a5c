package mutation_test

import "strings"

// fluxMutants break what Flux follows: sources, paths, dependencies, variables, builds.
var fluxMutants = []mutant{
	{
		name: "of-a-budget", example: "homelab", rule: "schema-api-removed",
		edits: []edit{add("kubernetes/flux/cluster/budget.yaml", "apiVersion: «»policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a, namespace: flux-system}\nspec: {minAvailable: 1, selector: {matchLabels: {a: b}}}\n")},
	},
	// References of Flux's objects.
	{
		name: "typo-of-what-an-external-secret-creates", example: "homelab", rule: "flux-secret-missing",
		edits: []edit{add("kubernetes/flux/cluster/provider.yaml", `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: slack-token, namespace: flux-system}
spec: {refreshInterval: 1h, secretStoreRef: {kind: ClusterSecretStore, name: vault}, dataFrom: [{extract: {key: slack}}]}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: slack, namespace: flux-system}
spec: {type: slack, channel: general, secretRef: {name: «»slack-tokne}}
`)},
	},
	{
		name: "of-a-kustomization", example: "homelab", rule: "flux-service-account-missing",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/ks.yaml", "serviceAccountName: kustomize-controller", "serviceAccountName: «»deployer")},
	},
	{
		name: "of-an-alert-and-a-policy", example: "homelab", rule: "flux-reference-missing",
		edits: []edit{add("kubernetes/flux/cluster/alert.yaml", `apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: all, namespace: flux-system}
spec: {providerRef: {name: «»slack}, eventSources: [{kind: Kustomization, name: "*"}]}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: «flux-kind-missing»ImagePolicy
metadata: {name: podinfo, namespace: flux-system}
spec: {imageRepositoryRef: {name: «»podinfo}, policy: {semver: {range: 6.x}}}
`)},
	},
	// Sources.
	{
		name: "renamed", example: "homelab", rule: "flux-source-missing",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/ocirepository.yaml", "name: jellyfin", "name: jelly-fin"),
			mark("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "kind: OCIRepository\n    name: «»jellyfin"),
		},
	},
	{
		name: "typo-in-one-of-three-clusters", example: "acme", rule: "flux-source-missing",
		edits: []edit{
			replace("clusters/staging/infrastructure.yaml", "    name: flux-system\n  timeout: 10m0s\n  wait: true\n---", "    name: «»flux-systems\n  timeout: 10m0s\n  wait: true\n---"),
		},
	},
	{
		name: "of-a-base-that-three-clusters-share", example: "acme", rule: "flux-source-missing",
		edits: []edit{
			replace("infrastructure/controllers/base/velero/helmrelease.yaml", "kind: HelmRepository\n        name: velero", "kind: HelmRepository\n        name: «»velero-charts"),
		},
	},
	{
		name: "file-no-longer-listed", example: "homelab", rule: "flux-source-missing",
		edits: []edit{
			replace("kubernetes/apps/network/external-dns/app/kustomization.yaml", "- ocirepository.yaml\n", ""),
			mark("kubernetes/apps/network/external-dns/app/helmrelease.yaml", "chartRef:\n    kind: OCIRepository\n    name: «»external-dns"),
		},
	},
	{
		name: "of-the-other-kind", example: "homelab", rule: "flux-source-missing",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "kind: OCIRepository\n    name: jellyfin", "kind: HelmChart\n    name: «»jellyfin"),
		},
	},
	{
		name: "patched-in-one-cluster", example: "classic", rule: "flux-source-missing",
		edits: []edit{
			replace("infrastructure/controllers/production/cert-manager-patch.yaml", "spec:\n", "spec:\n  chartRef:\n    kind: OCIRepository\n    name: «»cert-manager-next\n"),
		},
	},
	{
		name: "in-a-file-with-crlf", example: "homelab", rule: "flux-source-missing",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "kind: OCIRepository\n    name: jellyfin", "kind: OCIRepository\n    name: «»jellyfinn"),
			crlf("kubernetes/apps/media/jellyfin/app/*.yaml"),
		},
	},

	{
		name: "of-an-artifact", example: "homelab", rule: "flux-source-missing",
		edits: []edit{add("kubernetes/flux/cluster/parts.yaml", strings.Replace(parts, "name: flux-system}]", "name: «»flux-systems}]", 1))},
	},

	// Paths.
	{
		name: "of-a-copy-into-an-artifact", example: "homelab", rule: "flux-path-missing",
		edits: []edit{add("kubernetes/flux/cluster/parts.yaml", strings.Replace(parts, `"@repo/kubernetes/apps/media`, `«»"@repo/kubernetes/app/media`, 1))},
	},
	{
		name: "of-all-apps", example: "homelab", rule: "flux-path-missing",
		edits: []edit{replace("kubernetes/flux/cluster/ks.yaml", "path: ./kubernetes/apps", "path: «»./kubernetes/app"), homelabLow},
	},
	{
		name: "of-one-app", example: "homelab", rule: "flux-path-missing",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/ks.yaml", "path: ./kubernetes/apps/media/jellyfin/app", "path: «»./kubernetes/apps/media/jellyfin/apps")},
	},
	{
		name: "moved-folder-of-a-cluster", example: "acme", rule: "flux-path-missing",
		edits: []edit{replace("clusters/production-us/tenants.yaml", "path: ./tenants/production-us", "path: «»./tenants/us")},
	},
	{
		name: "of-the-cluster-itself", example: "acme", rule: "flux-path-missing",
		edits: []edit{replace("clusters/staging/flux-system/flux-instance/helmrelease.yaml", "path: clusters/staging", "path: «»clusters/stage")},
	},
	{
		name: "of-a-tenant-in-its-repository", example: "homelab", rule: "flux-path-missing",
		tenants: true,
		edits:   []edit{replace("kubernetes/tenants/home/friend-patch.yaml", "path: ./home", "path: «»./house")},
	},
	{
		name: "one-path-for-two-Kustomizations", example: "homelab", rule: "flux-path-overlap",
		edits: []edit{
			replace("kubernetes/apps/network/envoy-gateway/ks.yaml", "path: ./kubernetes/apps/network/envoy-gateway/config", "path: «»./kubernetes/apps/network/envoy-gateway/app"),
		},
	},
	{
		name: "a-path-inside-of-another", example: "acme", rule: "flux-path-overlap",
		edits: []edit{
			replace("clusters/staging/infrastructure.yaml", "path: ./infrastructure/configs/staging", "path: «»./infrastructure/controllers/staging/cilium"),
		},
	},

	// Dependencies.
	{
		name: "typo", example: "homelab", rule: "flux-dependson-missing",
		edits: []edit{replace("kubernetes/apps/network/external-dns/ks.yaml", "- name: kube-prometheus-stack", "- name: «»prometheus-stack")},
	},
	{
		name: "removed-with-its-Kustomization", example: "acme", rule: "flux-dependson-missing",
		edits: []edit{replace("clusters/production-eu/tenants.yaml", "  - name: infra-configs", "  - name: «»infra-config")},
	},
	{
		name: "of-a-HelmRelease-in-three-clusters", example: "acme", rule: "flux-dependson-missing",
		edits: []edit{replace("infrastructure/controllers/base/velero/helmrelease.yaml", "dependsOn:\n  - name: kube-prometheus-stack", "dependsOn:\n  - name: «»prometheus")},
	},
	{
		name: "of-a-HelmRelease-in-another-namespace", example: "homelab", rule: "flux-dependson-missing",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "spec:\n  chartRef:", "spec:\n  dependsOn:\n  - name: «»envoy-gateway\n  chartRef:")},
	},
	{
		name: "typo-beside-what-fails", example: "acme", rule: "flux-dependson-missing",
		edits: []edit{
			replace("clusters/staging/tenants.yaml", "  - name: infra-configs", "  - name: «»infra-config"),
			replace("infrastructure/controllers/staging/kustomization.yaml", "- namespaces.yaml", "- «flux-build-failed»gone.yaml"),
		},
	},
	{
		name: "of-all-apps-by-a-patch-of-their-parent", example: "homelab", rule: "flux-dependson-missing",
		edits: []edit{replace("kubernetes/flux/cluster/ks.yaml", "  timeout: 5m0s\n", parentPatch("", "dependsOn:\n- name: «»infrastructure"))},
	},
	{
		name: "of-all-releases-by-a-patch-in-a-patch", example: "homelab", rule: "flux-dependson-missing",
		edits: []edit{replace("kubernetes/flux/cluster/ks.yaml", "  timeout: 5m0s\n", parentPatch("HelmRelease", "dependsOn:\n- name: «»operator"))},
	},
	{
		name: "flow-style", example: "homelab", rule: "flux-dependson-missing",
		edits: []edit{replace("kubernetes/apps/network/external-dns/ks.yaml", "dependsOn:\n  - name: envoy-gateway\n  - name: kube-prometheus-stack\n", "dependsOn: [{name: envoy-gateway}, {name: «»kube-prom}]\n")},
	},
	{
		name: "of-a-Kustomization-on-a-HelmRelease", example: "acme", rule: "flux-dependson-kind",
		edits: []edit{replace("clusters/staging/tenants.yaml", "- name: infra-configs", "- name: «»velero")},
	},
	{
		name: "of-a-HelmRelease-on-a-Kustomization", example: "acme", rule: "flux-dependson-kind",
		edits: []edit{replace("infrastructure/controllers/base/velero/helmrelease.yaml", "dependsOn:\n  - name: kube-prometheus-stack", "dependsOn:\n  - name: «»infra-configs")},
	},
	{
		name: "of-a-controller-that-is-waited-for", example: "homelab", rule: "flux-dependson-no-wait",
		edits: []edit{replace("kubernetes/apps/cert-manager/cert-manager/ks.yaml", "  timeout: 5m0s\n  wait: true\n---", "  timeout: 5m0s\n  wait: «»false\n---")},
	},
	{
		name: "wait-removed", example: "acme", rule: "flux-dependson-no-wait",
		edits: []edit{
			replace("clusters/staging/infrastructure.yaml", "  timeout: 10m0s\n  wait: true\n---", "  timeout: 10m0s\n---"),
			mark("clusters/staging/infrastructure.yaml", "name: infra-controllers\n  namespace: flux-system\n«»spec:"),
		},
	},
	{
		name: "two-apps", example: "homelab", rule: "flux-dependson-cycle",
		edits: []edit{
			replace("kubernetes/apps/network/envoy-gateway/ks.yaml", "name: envoy-gateway\n  namespace: flux-system\nspec:\n", "name: envoy-gateway\n  namespace: flux-system\nspec:\n  dependsOn:\n  - name: «»external-dns\n"),
		},
	},
	{
		name: "itself", example: "homelab", rule: "flux-dependson-cycle",
		edits: []edit{replace("kubernetes/apps/network/external-dns/ks.yaml", "- name: kube-prometheus-stack", "- name: «»external-dns")},
	},
	{
		name: "through-three-clusters-own-files", example: "acme", rule: "flux-dependson-cycle",
		edits: []edit{
			replace("clusters/*/infrastructure.yaml", "name: infra-controllers\n  namespace: flux-system\nspec:\n", "name: infra-controllers\n  namespace: flux-system\nspec:\n  dependsOn:\n  - name: «»tenants\n"),
		},
	},
	{
		name: "HelmReleases", example: "classic", rule: "flux-dependson-cycle",
		edits: []edit{
			replace("infrastructure/controllers/base/cert-manager/helmrelease.yaml", "spec:\n  chartRef:", "spec:\n  dependsOn:\n  - name: «»ingress-nginx\n  chartRef:"),
		},
	},
	{
		name: "what-the-parent-waits-for", example: "homelab", rule: "flux-dependson-cycle",
		edits: []edit{
			replace("kubernetes/flux/cluster/ks.yaml", "timeout: 5m0s\n", "timeout: 5m0s\n  wait: true\n"),
			replace("kubernetes/apps/media/jellyfin/ks.yaml", "- name: envoy-gateway", "- name: «»cluster-apps"),
		},
	},

	// Patches, namespaces and health checks.
	{
		name: "misspelt-name", example: "homelab", rule: "flux-patch-target-missing",
		edits: []edit{replace("kubernetes/tenants/home/kustomization.yaml", "- path: friend-patch.yaml\n",
			"- path: friend-patch.yaml\n- target:\n    kind: ResourceQuota\n    name: «»frend\n  patch: '[{\"op\": \"remove\", \"path\": \"/spec/hard/pods\"}]'\n")},
	},
	{
		name: "misspelt-kind-in-a-patch-of-all-apps", example: "homelab", rule: "flux-patch-target-missing",
		edits: []edit{replace("kubernetes/flux/cluster/ks.yaml", "  timeout: 5m0s\n", strings.Replace(parentPatch("HelmRelease", "upgrade:\n  crds: CreateReplace"), "    kind: HelmRelease\n", "    kind: «»HelmReleases\n", 1))},
	},
	{
		name: "of-a-Flux-Kustomization", example: "homelab", rule: "flux-patch-target-missing",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/ks.yaml", "  postBuild:\n", "  patches:\n  - target: {kind: HelmRelease, name: «»jelly}\n    patch: '[{\"op\": \"remove\", \"path\": \"/spec/upgrade\"}]'\n  postBuild:\n")},
	},
	{
		name: "of-a-FluxInstance", example: "homelab", rule: "flux-patch-target-missing",
		edits: []edit{replace("kubernetes/apps/flux-system/flux-instance/app/helmrelease.yaml", "            name: flux-system\n",
			"            name: flux-system\n        - patch: '[{\"op\": \"remove\", \"path\": \"/metadata/labels\"}]'\n          target:\n            kind: Deployment\n            name: «»kustomise-controller\n")},
	},
	{
		name: "renamed", example: "homelab", rule: "flux-namespace-missing",
		edits: []edit{
			replace("kubernetes/apps/media/namespace.yaml", "kind: Namespace\nmetadata:\n  name: media", "kind: Namespace\nmetadata:\n  name: media-apps"),
			mark("kubernetes/apps/media/jellyfin/ks.yaml", "targetNamespace: «»media"),
		},
	},
	{
		name: "renamed-and-spoken-of", example: "homelab", rule: "flux-namespace-missing",
		edits: []edit{
			replace("kubernetes/apps/media/namespace.yaml", "kind: Namespace\nmetadata:\n  name: media", "kind: Namespace\nmetadata:\n  name: media-apps"),
			mark("kubernetes/apps/media/jellyfin/ks.yaml", "targetNamespace: «»media"),
			add(".github/workflows/e2e.yaml", "jobs:\n  test:\n    steps:\n      - run: kubectl -n media wait --for=condition=ready pods --all\n"),
		},
	},
	{
		name: "of-a-HelmRelease", example: "homelab", rule: "flux-healthcheck-missing",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/ks.yaml", "  wait: true\n", "  healthChecks:\n  - apiVersion: helm.toolkit.fluxcd.io/v2\n    kind: HelmRelease\n    name: «»jellyfish\n    namespace: media\n")},
	},
}

// parentPatch is a patch of cluster-apps for the spec of all its children; for a kind that is
// given, one that each child applies to its objects of that kind.
func parentPatch(kind, spec string) string {
	patch := func(kind, spec string) string {
		return "patches:\n- target:\n    kind: " + kind + "\n  patch: |\n" +
			indented("    ", "apiVersion: any/v1\nkind: "+kind+"\nmetadata:\n  name: any\nspec:\n"+indented("  ", spec))
	}
	if kind != "" {
		spec = patch(kind, spec)
	}
	return "  timeout: 5m0s\n" + indented("  ", patch("Kustomization", spec))
}

// indented are the lines of a text behind a margin.
func indented(margin, text string) string {
	return margin + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+margin) + "\n"
}

// parts makes an artifact of a folder.
const parts = `apiVersion: source.extensions.fluxcd.io/v1beta1
kind: «flux-kind-missing»ArtifactGenerator
metadata: {name: parts, namespace: flux-system}
spec:
  sources: [{alias: repo, kind: GitRepository, name: flux-system}]
  artifacts:
  - name: media
    copy: [{from: "@repo/kubernetes/apps/media/**", to: "@artifact/"}]
`
