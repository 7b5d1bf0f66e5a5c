package mutation_test

// buildMutants break what kustomize and the substitution of variables make of a folder.
var buildMutants = []mutant{
	{
		name: "document-that-applies-itself", example: "classic", rule: "limit-exceeded",
		edits: []edit{
			add("clusters/production/again.yaml", kustomizationOf("again", "./again", "a")),
			add("again/again.yaml", kustomizationOf("again-${N}", "«»./again", "${N}a")),
		},
	},
	{
		name: "listed-file-removed", example: "homelab", rule: "flux-build-failed",
		edits: []edit{
			remove("kubernetes/apps/media/jellyfin/app/ocirepository.yaml"),
			mark("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- «»ocirepository.yaml"),
		},
	},
	{
		name: "typo-in-a-base-of-three-clusters", example: "acme", rule: "flux-build-failed",
		edits: []edit{replace("infrastructure/controllers/base/kyverno/kustomization.yaml", "- helmrelease.yaml", "- «»helm-release.yaml")},
	},
	{
		name: "nested-kustomization", example: "homelab", rule: "flux-build-failed",
		edits: []edit{replace("kubernetes/apps/media/kustomization.yaml", "- jellyfin/ks.yaml", "- «»jelyfin/ks.yaml")},
	},
	{
		name: "patch-of-what-is-gone", example: "acme", rule: "flux-build-failed",
		edits: []edit{
			replace("infrastructure/controllers/production-eu/kustomization.yaml", "- ../base/velero\n", ""),
			mark("infrastructure/controllers/production-eu/kustomization.yaml", "- path: «»velero-patch.yaml"),
		},
	},
	{
		name: "patch-of-another-name", example: "classic", rule: "flux-build-failed",
		edits: []edit{
			replace("infrastructure/controllers/production/cert-manager-patch.yaml", "name: cert-manager", "name: certmanager"),
			mark("infrastructure/controllers/production/kustomization.yaml", "- path: «»cert-manager-patch.yaml"),
		},
	},
	{
		name: "patch-of-a-parent-for-a-field-that-is-not-there", example: "homelab", rule: "flux-build-failed",
		edits: []edit{replace("kubernetes/flux/cluster/ks.yaml", "  timeout: 5m0s\n", "  timeout: 5m0s\n  patches:\n  - target: {kind: Kustomization}\n    patch: |\n"+
			"      - op: add\n        path: /spec/patches\n        value:\n        - target: {kind: HelmRelease}\n          patch: |\n            - op: remove\n              path: «»/spec/upgrade/none\n"), homelabLow},
	},
	{
		name: "listed-twice", example: "homelab", rule: "flux-build-failed",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- ocirepository.yaml\n", "- ocirepository.yaml\n- «»./ocirepository.yaml\n")},
	},
	{
		name: "component-missing", example: "classic", rule: "flux-build-failed",
		edits: []edit{replace("clusters/staging/flux-system/kustomization.yaml", "components:\n- fleetwright", "components:\n- «»fleetwrite")},
	},
	{
		name: "tenant-of-one-cluster", example: "acme", rule: "flux-build-failed",
		edits: []edit{replace("tenants/production-us/kustomization.yaml", "- ../base/team-c", "- «»../base/team-d")},
	},
	{
		name: "in-the-tenants-repository", example: "classic", rule: "flux-build-failed",
		tenants: true,
		edits:   []edit{replace("tenant-shop:production/kustomization.yaml", "- ../base", "- «»../bases")},
	},

	// Remote bases.
	{
		name: "of-a-base-of-three-clusters", example: "acme", rule: "flux-remote-base",
		edits: []edit{replace("infrastructure/controllers/base/kyverno/kustomization.yaml", "- helmrelease.yaml", "- «»https://github.com/kyverno/policies//pod-security?ref=main\n- helmrelease.yaml")},
	},
	{
		name: "file-over-http", example: "homelab", rule: "flux-remote-base",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- helmrelease.yaml", "- helmrelease.yaml\n- «»https://raw.githubusercontent.com/jellyfin/jellyfin/master/deployment.yaml")},
	},
	{
		name: "component", example: "classic", rule: "flux-remote-base",
		edits: []edit{replace("clusters/staging/flux-system/kustomization.yaml", "- fleetwright", "- fleetwright\n- «»git@github.com:fluxcd/flux2.git//manifests/integrations?ref=v2.9.4")},
	},
	{
		name: "of-a-tenant", example: "classic", rule: "flux-remote-base",
		target: "tenant-shop",
		edits:  []edit{replace("base/kustomization.yaml", "- ocirepository.yaml", "- ocirepository.yaml\n- «»github.com/stefanprodan/podinfo//kustomize?ref=6.14.0")},
	},

	// Variables.
	{
		name: "missing-in-one-of-three-clusters", example: "acme", rule: "flux-substitution-undefined",
		edits: []edit{
			replace("clusters/staging/cluster-vars.yaml", "  BACKUP_BUCKET: acme-backups-staging\n", ""),
			mark("infrastructure/controllers/base/velero/helmrelease.yaml", "bucket: «»${BACKUP_BUCKET}"),
		},
	},
	{
		name: "typo-in-a-base-of-three-clusters", example: "acme", rule: "flux-substitution-undefined",
		edits: []edit{replace("infrastructure/controllers/base/velero/helmrelease.yaml", "bucket: ${BACKUP_BUCKET}", "bucket: «»${BACKUP_BUKET}")},
	},
	{
		name: "in-a-patch", example: "acme", rule: "flux-substitution-undefined",
		edits: []edit{replace("infrastructure/controllers/production-eu/velero-patch.yaml", "ttl: 720h", "ttl: «»${BACKUP_TTL}")},
	},
	{
		name: "in-an-annotation-in-flow-style", example: "homelab", rule: "flux-substitution-undefined",
		edits: []edit{replace("kubernetes/apps/cert-manager/cert-manager/config/issuer.yaml", "metadata:\n  name: letsencrypt\n", "metadata: {name: letsencrypt, annotations: {stage: '«»${STAGE}'}}\n")},
	},
	{
		name: "in-a-script-of-a-generated-ConfigMap", example: "homelab", rule: "flux-substitution-undefined",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "resources:", "configMapGenerator:\n- name: jellyfin-scripts\n  namespace: media\n  files:\n  - backup.sh\nresources:"),
			add("kubernetes/apps/media/jellyfin/app/backup.sh", "#!/bin/sh\nset -eu\ntar cf \"«»${BACKUP_DIR}/media.tar\" /media\n"),
		},
	},
	{
		name: "no-longer-used", example: "acme", rule: "flux-substitution-unused",
		edits: []edit{
			replace("clusters/staging/infrastructure.yaml", "path: ./infrastructure/configs/staging\n  postBuild:\n", "path: ./infrastructure/configs/staging\n  postBuild:\n    substitute:\n      «»STAGE: staging\n"),
		},
	},
	{
		name: "flow-style", example: "homelab", rule: "flux-substitution-unused",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/ks.yaml", "postBuild:\n", "postBuild:\n    substitute: {«»MEDIA_PATH: /media}\n"),
		},
	},

	// Values.
	{
		name: "ConfigMap-of-variables-renamed", example: "acme", rule: "flux-values-reference-missing",
		edits: []edit{
			replace("clusters/production-us/infrastructure.yaml", "path: ./infrastructure/configs/production-us\n  postBuild:\n    substituteFrom:\n    - kind: ConfigMap\n      name: cluster-vars", "path: ./infrastructure/configs/production-us\n  postBuild:\n    substituteFrom:\n    - kind: ConfigMap\n      name: «»cluster-var"),
		},
	},
	{
		name: "ConfigMap-that-nothing-makes", example: "homelab", rule: "flux-values-reference-missing",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "  values:\n", "  valuesFrom:\n  - kind: ConfigMap\n    name: «»jellyfin-values\n  values:\n"),
		},
	},
	{
		name: "that-two-other-clusters-have", example: "acme", rule: "flux-values-reference-missing",
		edits: []edit{
			remove("clusters/staging/cluster-vars.yaml"),
			replace("clusters/staging/infrastructure.yaml", "path: ./infrastructure/controllers/staging\n  postBuild:\n    substituteFrom:\n    - kind: ConfigMap\n      name: cluster-vars", "path: ./infrastructure/controllers/staging\n  postBuild:\n    substituteFrom:\n    - kind: ConfigMap\n      name: «»cluster-vars"),
			replace("clusters/staging/infrastructure.yaml", "path: ./infrastructure/configs/staging\n  postBuild:\n    substituteFrom:\n    - kind: ConfigMap\n      name: cluster-vars", "path: ./infrastructure/configs/staging\n  postBuild:\n    substituteFrom:\n    - kind: ConfigMap\n      name: «»cluster-vars"),
		},
	},
	{
		name: "key-of-another-name", example: "homelab", rule: "flux-values-reference-missing",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "  values:\n", "  valuesFrom:\n  - kind: ConfigMap\n    name: jellyfin-values\n    valuesKey: «»jellyfin.yaml\n  values:\n"),
			replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- helmrelease.yaml", "- helmrelease.yaml\n- values.yaml"),
			add("kubernetes/apps/media/jellyfin/app/values.yaml", jellyfinValues),
		},
	},
	{
		name: "name-with-a-hash", example: "homelab", rule: "flux-values-reference-missing",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "  values:\n", "  valuesFrom:\n  - kind: ConfigMap\n    name: «»jellyfin-values\n  values:\n"),
			replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "resources:", "configMapGenerator:\n- name: jellyfin-values\n  namespace: media\n  literals:\n  - 'values.yaml=replicas: 1'\nresources:"),
		},
	},
	{
		name: "of-variables", example: "homelab", rule: "flux-watch-label-missing",
		edits: []edit{replace("kubernetes/flux/cluster/cluster-vars.yaml", "  name: cluster-vars\n  namespace: flux-system\n  labels:\n    reconcile.fluxcd.io/watch: Enabled\n", "  name: «»cluster-vars\n  namespace: flux-system\n")},
	},
	{
		name: "disabled-in-one-cluster", example: "acme", rule: "flux-watch-label-missing",
		edits: []edit{
			replace("clusters/production-eu/cluster-vars.yaml", "    reconcile.fluxcd.io/watch: Enabled", "    reconcile.fluxcd.io/watch: Disabled"),
			mark("clusters/production-eu/cluster-vars.yaml", "name: «»cluster-vars"),
		},
	},
	{
		name: "of-values", example: "homelab", rule: "flux-watch-label-missing",
		edits: []edit{
			replace("kubernetes/apps/media/jellyfin/app/helmrelease.yaml", "  values:\n", "  valuesFrom:\n  - kind: ConfigMap\n    name: jellyfin-values\n  values:\n"),
			replace("kubernetes/apps/media/jellyfin/app/kustomization.yaml", "- helmrelease.yaml", "- helmrelease.yaml\n- values.yaml"),
			add("kubernetes/apps/media/jellyfin/app/values.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: «»jellyfin-values\n  namespace: media\ndata:\n  values.yaml: |\n    replicas: 1\n"),
		},
	},

	// API versions.
	{
		name: "source-of-one-app", example: "homelab", rule: "flux-api-deprecated",
		edits: []edit{replace("kubernetes/apps/media/jellyfin/app/ocirepository.yaml", "apiVersion: source.toolkit.fluxcd.io/v1", "apiVersion: «»source.toolkit.fluxcd.io/v1beta2")},
	},
	{
		name: "source-of-a-base-of-three-clusters", example: "acme", rule: "flux-api-deprecated",
		edits: []edit{replace("infrastructure/controllers/base/velero/helmrepository.yaml", "apiVersion: source.toolkit.fluxcd.io/v1", "apiVersion: «»source.toolkit.fluxcd.io/v1beta2")},
	},
	{
		name: "Kustomization-of-a-tenant", example: "classic", rule: "flux-api-deprecated",
		edits: []edit{
			replace("tenants/base/shop/sync.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1", "apiVersion: «»kustomize.toolkit.fluxcd.io/v1beta2"),
			replace("tenants/base/shop/sync.yaml", "  deletionPolicy: WaitForTermination\n", ""),
			replace("tenants/*/shop-patch.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1", "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2"),
		},
	},

	// The order of definitions.
	{
		name: "issuer-beside-its-controller", example: "classic", rule: "flux-crd-order",
		edits: []edit{
			replace("infrastructure/controllers/base/cert-manager/kustomization.yaml", "- helmrelease.yaml", "- helmrelease.yaml\n- issuer.yaml"),
			add("infrastructure/controllers/base/cert-manager/issuer.yaml", "apiVersion: cert-manager.io/v1\nkind: «»ClusterIssuer\nmetadata:\n  name: self-signed\nspec:\n  selfSigned: {}\n"),
		},
	},
	{
		name: "definition-of-another-Kustomization", example: "acme", rule: "flux-crd-order",
		edits: []edit{
			replace("tenants/staging/kustomization.yaml", "patches:", "- crd.yaml\npatches:"),
			add("tenants/staging/crd.yaml", widgets),
			replace("infrastructure/configs/staging/kustomization.yaml", "resources:", "resources:\n- widget.yaml"),
			add("infrastructure/configs/staging/widget.yaml", "apiVersion: example.com/v1\nkind: «»Widget\nmetadata:\n  name: one\nspec:\n  size: 1\n"),
		},
	},

	// Releases.
	{
		name: "shared-record", example: "classic", rule: "flux-storage-namespace",
		edits: []edit{
			replace("infrastructure/controllers/base/metrics-server/helmrelease.yaml", "releaseName: metrics-server", "releaseName: «»ingress-nginx"),
			replace("infrastructure/controllers/base/metrics-server/helmrelease.yaml", "storageNamespace: kube-system", "storageNamespace: ingress-nginx"),
		},
	},
	{
		name: "record-beside-the-HelmRelease", example: "acme", rule: "flux-storage-namespace",
		edits: []edit{
			replace("infrastructure/controllers/base/velero/helmrelease.yaml", "  targetNamespace: velero\n  storageNamespace: velero\n", "  targetNamespace: «»velero\n"),
		},
	},
}

const jellyfinValues = `apiVersion: v1
kind: ConfigMap
metadata:
  name: jellyfin-values
  namespace: media
  labels:
    reconcile.fluxcd.io/watch: Enabled
data:
  values.yaml: |
    replicas: 1
`

// widgets defines a kind.
const widgets = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Cluster
  names:
    kind: Widget
    plural: widgets
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size:
                type: integer
                minimum: 1
`

// kustomizationOf is a Flux Kustomization with a variable N.
func kustomizationOf(name, path, n string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: " + name + "\n  namespace: flux-system\nspec:\n  interval: 1h\n  path: " + path +
		"\n  prune: true\n  timeout: 5m\n  serviceAccountName: kustomize-controller\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n  postBuild:\n    substitute:\n      N: " + n + "\n"
}
