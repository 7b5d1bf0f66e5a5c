package mutation_test

// auditMutants leave out what the profile audit asks for.
var auditMutants = []mutant{
	{
		// No example has an Alert: with the tenants' repositories at hand that is certain.
		name: "nobody-hears", example: "classic", rule: "audit-alert-missing",
		tenants: true,
		edits:   []edit{mark("clusters/production/flux-system/gotk-sync.yaml", "path: «»./clusters/production")},
	},
	{
		name: "pushes-what-it-follows", example: "homelab", rule: "audit-automation-branch",
		edits: automation("images", "main", "push:\n      branch: «»main"),
	},
	{
		name: "key-of-the-sync", example: "classic", rule: "audit-automation-key",
		edits: []edit{
			replace("infrastructure/configs/production/kustomization.yaml", "resources:", "resources:\n- automation.yaml"),
			add("infrastructure/configs/production/automation.yaml", imageUpdate("«»flux-system", "push:\n      branch: images")),
		},
	},
	{
		name: "removed", example: "homelab", rule: "audit-cluster-size",
		edits: []edit{
			replace("kubernetes/apps/flux-system/flux-instance/app/helmrelease.yaml", "        size: small\n", ""),
			mark("kubernetes/apps/flux-system/flux-instance/app/helmrelease.yaml", "      «»cluster:"),
		},
	},
	{
		name: "release", example: "homelab", rule: "audit-create-namespace",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "  install:\n", "  install:\n    createNamespace: «»true\n")},
	},
	{
		name: "release", example: "homelab", rule: "audit-default-namespace",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "spec:\n  chartRef:", "spec:\n  targetNamespace: «»default\n  storageNamespace: default\n  chartRef:")},
	},
	{
		name: "workload", example: "acme", rule: "audit-default-namespace",
		edits: []edit{
			replace("infrastructure/configs/base/policies/kustomization.yaml", "resources:", "resources:\n- job.yaml"),
			add("infrastructure/configs/base/policies/job.yaml", "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: report\n  namespace: «»default\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: report\n        image: registry.acme.example/report:1.0.0\n"),
		},
	},
	{
		name: "new-release", example: "homelab", rule: "audit-drift-detection",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- helmrelease.yaml", "- helmrelease.yaml\n- second.yaml"),
			add("kubernetes/apps/media/jellyfin/app/second.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: jellyfin-two\n  namespace: media\n«»spec:\n  chartRef:\n    kind: OCIRepository\n    name: jellyfin\n  interval: 1h\n  serviceAccountName: helm-installer\n  install: &retry\n    strategy:\n      name: RetryOnFailure\n  upgrade: *retry\n"),
		},
	},
	{
		name: "false", example: "acme", rule: "audit-prune",
		edits: []edit{replace("clusters/staging/tenants.yaml", "prune: true", "prune: «»false")},
	},
	{
		name: "strategy-removed", example: "homelab", rule: "audit-release-retry",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "  install:\n    strategy:\n      name: RetryOnFailure\n      retryInterval: 2m0s\n", "  «»install:\n")},
	},
	{
		name: "in-a-base-of-three-clusters", example: "acme", rule: "audit-release-retry",
		edits: []edit{replace("infrastructure/controllers/base/velero/helmrelease.yaml", "  upgrade:\n    strategy:\n      name: RetryOnFailure\n      retryInterval: 2m0s\n", "  «»upgrade:\n")},
	},
	{
		name: "removed", example: "homelab", rule: "audit-retry-interval",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/ks.yaml", "  retryInterval: 2m0s\n", ""),
			mark("kubernetes/apps/media/jellyfin/ks.yaml", "interval: «»1h0m0s"),
		},
	},
	{
		name: "removed", example: "acme", rule: "audit-timeout",
		edits: []edit{
			replace("clusters/production-eu/infrastructure.yaml", "  timeout: 10m0s\n  wait: true\n---", "  wait: true\n---"),
			mark("clusters/production-eu/infrastructure.yaml", "  interval: «»30m0s\n  retryInterval: 2m0s\n  path: ./infrastructure/controllers/production-eu"),
		},
	},
	{
		name: "signature-no-longer-asked-for", example: "homelab", rule: "source-unverified",
		edits: []edit{
			replace("kubernetes/apps/network/external-dns/app/ocirepository.yaml", "  verify:\n    provider: cosign\n    matchOIDCIdentity:\n    - issuer: ^https://token\\.actions\\.githubusercontent\\.com$\n      subject: ^https://github\\.com/home-operations/charts-mirror.*$\n", ""),
			mark("kubernetes/apps/network/external-dns/app/ocirepository.yaml", "«»spec:"),
		},
	},
}

// automation adds image automation to an app, with a source of its own.
func automation(source, branch, push string) []edit {
	git := "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: " + source + "\n  namespace: media\nspec:\n  interval: 5m\n" +
		"  url: ssh://git@git.home.example/me/home-ops.git\n  ref:\n    branch: " + branch + "\n  secretRef:\n    name: images\n"
	return []edit{
		replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- helmrelease.yaml", "- automation.yaml\n- helmrelease.yaml"),
		add("kubernetes/apps/media/jellyfin/app/automation.yaml", imageUpdate(source, push)+git),
	}
}

// imageUpdate is an ImageUpdateAutomation, whose controller no example installs.
func imageUpdate(source, push string) string {
	return "apiVersion: image.toolkit.fluxcd.io/v1\nkind: «flux-kind-missing»ImageUpdateAutomation\nmetadata:\n  name: images\n  namespace: flux-system\nspec:\n  interval: 30m\n" +
		"  sourceRef:\n    kind: GitRepository\n    name: " + source + "\n  git:\n    checkout:\n      ref:\n        branch: main\n" +
		"    commit:\n      author:\n        email: flux@example.com\n    " + push + "\n  update:\n    path: .\n    strategy: Setters\n"
}
