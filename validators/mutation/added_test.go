package mutation_test

// addedMutants are those of rules that go run -tags tools ./tools/newrule scaffolded. They may stay here, or move
// to the table of their domain.
var addedMutants = []mutant{
	{
		name: "marker-of-a-policy-that-does-not-exist", example: "homelab", rule: "flux-image-marker-unmatched",
		edits: []edit{add("kubernetes/flux/cluster/automation.yaml", "apiVersion: image.toolkit.fluxcd.io/v1\nkind: «flux-kind-missing»ImageUpdateAutomation\nmetadata: {name: fleet, namespace: flux-system}\nspec: {interval: 30m, sourceRef: {kind: GitRepository, name: flux-system}, git: {commit: {author: {email: flux@example.org}}}, update: {strategy: Setters}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: default}\nspec: {containers: [{name: web, image: 'nginx:1.29.0'}]} «»# {\"$imagepolicy\": \"flux-system:web\"}\n")},
	},
	{
		name: "generator-of-an-encrypted-file", example: "homelab", rule: "sops-not-decrypted",
		edits: []edit{
			add("kubernetes/apps/default/web/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nconfigMapGenerator:\n  - name: web\n    namespace: default\n    envs:\n      - «»web.env\n"),
			add("kubernetes/apps/default/web/web.env", "password=ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]\nsops_lastmodified=2026-01-01T00:00:00Z\nsops_mac=ENC[AES256_GCM,data:bWFj,iv:c29tZQ==,tag:dGFn,type:str]\nsops_version=3.13.3\n"),
		},
	},
	{
		name: "pod-in-a-namespace-that-refuses-it", example: "homelab", rule: "flux-pod-security",
		edits: []edit{add("kubernetes/flux/cluster/pod.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: web, labels: {pod-security.kubernetes.io/enforce: baseline}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: web}\n«»spec: {hostNetwork: true, containers: [{name: web, image: 'nginx:1.29.0'}]}\n")},
	},
	{
		name: "typo-in-the-label-of-a-selector", example: "homelab", rule: "flux-selector-unmatched",
		edits: []edit{add("kubernetes/flux/cluster/service.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: default, labels: {app: podinfo}}\nspec: {containers: [{name: web, image: 'nginx:1.29.0'}]}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: default}\nspec: {selector: {app: «»podinf}, ports: [{port: 80}]}\n")},
	},
	{
		name: "typo-in-the-role-of-a-binding", example: "acme", rule: "flux-object-reference-missing",
		edits: []edit{replace("tenants/base/team-c/rbac.yaml", "  kind: Role\n  name: team-c-reconciler\n", "  kind: Role\n  name: «»team-c-reconcilr\n")},
	},
	{
		name: "typo-in-the-path-of-one-sync", example: "classic", rule: "graph-root-unreached",
		edits: []edit{replace("clusters/staging/flux-system/gotk-sync.yaml", "path: ./clusters/staging", "path: «»./clusters/stagign")},
	},
	{
		name: "typo-in-the-source-of-one-sync", example: "classic", rule: "graph-root-unreached",
		edits: []edit{replace("clusters/staging/flux-system/gotk-sync.yaml", "    kind: GitRepository\n    name: flux-system\n", "    kind: GitRepository\n    name: «»flux-systems\n")},
	},
	{
		name: "typo-in-the-source-kind-of-one-sync", example: "classic", rule: "graph-root-unreached",
		edits: []edit{replace("clusters/staging/flux-system/gotk-sync.yaml", "    kind: GitRepository\n    name: flux-system\n", "    kind: GitRepo\n    name: «»flux-system\n")},
	},
	{
		name: "typo-in-the-kind-of-one-sync", example: "classic", rule: "graph-root-unreached",
		edits: []edit{replace("clusters/staging/flux-system/gotk-sync.yaml", "kind: Kustomization\n", "kind: Kustomisation\n"), stagingSync},
	},
	{
		name: "one-sync-deleted", example: "classic", rule: "graph-root-unreached",
		edits: []edit{remove("clusters/staging/flux-system/gotk-sync.yaml"), replace("clusters/staging/flux-system/kustomization.yaml", "- gotk-sync.yaml\n", ""), stagingLost},
	},
	{
		name: "automation-without-its-controller", example: "classic", rule: "flux-kind-missing",
		edits: []edit{add("clusters/staging/images.yaml", "apiVersion: image.toolkit.fluxcd.io/v1\nkind: «»ImageRepository\nmetadata: {name: web, namespace: flux-system}\nspec: {image: registry.acme.example/web, interval: 1h}\n")},
	},
	{
		name: "apps-sent-to-another-cluster", example: "homelab", rule: "graph-coverage-low",
		edits: []edit{replace("kubernetes/flux/cluster/ks.yaml", "  path: ./kubernetes/apps\n", "  path: ./kubernetes/apps\n  kubeConfig:\n    secretRef:\n      name: other\n"), homelabLow},
	},
}

// homelabLow marks where graph-coverage-low tells that most of the example homelab is not built.
var homelabLow = mark("kubernetes/apps/flux-system/flux-instance/app/helmrelease.yaml", "path: «graph-coverage-low»kubernetes/flux/cluster")

// stagingSync marks the file that starts the cluster staging of the example classic, as a whole.
var stagingSync = edit{"clusters/staging/flux-system/gotk-sync.yaml", func(content []byte) ([]byte, error) {
	return append([]byte("«»"), content...), nil
}}

// stagingLost marks where graph-root-unreached tells that nothing starts the cluster staging of the example classic.
var stagingLost = mark("clusters/staging/infrastructure.yaml", "«»apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: infra-controllers\n")
