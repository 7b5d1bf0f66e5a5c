package flux

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// rules are those of the package.
var rules = []rule.Rule{SourceMissing, PathMissing, BuildFailed, RemoteBase, DependsOnMissing, DependsOnKind, DependsOnCycle, DependsOnNoWait,
	SubstitutionUndefined, SubstitutionUnused, ValuesReferenceMissing, WatchLabelMissing, StorageNamespace, APIDeprecated, PathOverlap, CRDOrder,
	PatchTargetMissing, NamespaceMissing, HealthCheckMissing, ReferenceMissing, ServiceAccountMissing, SecretMissing}

// elsewhere is a Kustomization of another repository, under a service account or none.
func elsewhere(name, more string) string {
	return `-- clusters/prod/` + name + `.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: ` + name + `}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: ` + name + `, namespace: ` + name + `}
spec: {interval: 1h, url: https://example.com/` + name + `, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: ` + name + `, namespace: ` + name + `}
spec:
  interval: 1h
  path: ./
  prune: true
  sourceRef: {kind: GitRepository, name: ` + name + `}
` + more
}

const dependsOnInfra = "  dependsOn:\n    - name: infra\n"

// TestRules holds what each repository comes to: the rules of its findings, and of what is
// unresolved in brackets.
func TestRules(t *testing.T) {
	t.Parallel()
	base := fluxSync + podinfoNamespace
	webRelease := fluxSync + podinfoSource + podinfoIn("b", "  targetNamespace: web\n  storageNamespace: web\n")
	for _, c := range []struct{ name, files, want string }{
		{"a dependency on nothing", base + apps(dependsOnInfra), "flux-dependson-missing"},
		{"a suspended object waits for nothing", base + apps(dependsOnInfra+"  suspend: true\n"), ""},
		{"another repository may bring it", base + apps(dependsOnInfra) + elsewhere("team", ""), "[flux-build-failed flux-dependson-missing]"},
		{"a target namespace can't", base + apps(dependsOnInfra) + elsewhere("team", "  targetNamespace: team\n"), "flux-dependson-missing [flux-build-failed]"},
		{"a tenant's account can't", base + apps(dependsOnInfra) + elsewhere("team", "  serviceAccountName: sync\n") + `-- clusters/prod/rbac.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: sync, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{kind: ServiceAccount, name: sync, namespace: team}]
`, "flux-dependson-missing [flux-build-failed]"},
		{"an account that nothing binds may, but not bring itself", base + apps(dependsOnInfra) + elsewhere("team", "  serviceAccountName: sync\n"), "flux-service-account-missing [flux-build-failed flux-dependson-missing]"},
		{"a ResourceSet may make it", base + apps(dependsOnInfra) + `-- clusters/prod/set.yaml --
apiVersion: fluxcd.controlplane.io/v1
kind: ResourceSet
metadata: {name: x, namespace: flux-system}
spec:
  resourcesTemplate: |
    apiVersion: kustomize.toolkit.fluxcd.io/v1
    kind: Kustomization
    metadata: {name: << inputs.name >>}
`, "flux-build-failed [flux-dependson-missing]"},
		{"a configuration that names the kind doesn't make it", base + apps(dependsOnInfra) + `-- clusters/prod/config.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: metrics, namespace: flux-system}
data:
  config.yaml: |
    kind: CustomResourceStateMetrics
    spec:
      resources:
        - groupVersionKind:
            group: kustomize.toolkit.fluxcd.io
            version: v1
            kind: Kustomization
          labelsFromPath: {name: [metadata, name]}
`, "flux-dependson-missing"},
		{"a failure is told once", base + kustomization("infra", "") + apps("  dependsOn:\n    - name: a\n    - name: b\n    - name: c\n") +
			"-- infra/kustomization.yaml --\nresources: [gone.yaml]\n", "flux-build-failed [flux-dependson-missing]"},
		{"what fails cannot bring what its files don't hold", base + failing("") + apps(dependsOnInfra), "flux-build-failed flux-dependson-missing"},
		{"what stands beside what fails is applied", base + failing(`---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: infra, namespace: flux-system}
spec: {interval: 1h, path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`) + apps(dependsOnInfra), "flux-build-failed flux-path-overlap"},
		{"a Kustomization beside what fails is followed", base + failing(`---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: other, namespace: flux-system}
spec: {interval: 1h, path: ./deeper, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`) + strings.ReplaceAll(kustomization("infra", ""), "clusters/prod", "deeper") + apps(dependsOnInfra), "flux-path-missing flux-build-failed"},
		{"what fails may bring what another repository has", base + failing(`---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: other, namespace: flux-system}
spec: {interval: 1h, path: ./deeper, prune: true, sourceRef: {kind: GitRepository, name: elsewhere}}
`) + apps(dependsOnInfra), "flux-build-failed [flux-source-missing flux-build-failed flux-dependson-missing]"},
		{"the charts of what fails may bring a ConfigMap", base + failing("---\n"+strings.SplitN(podinfoIn("b", ""), "\n", 2)[1]) + podinfoSource + podinfoIn("a", "  valuesFrom: [{kind: ConfigMap, name: made}]\n"), "flux-build-failed [flux-values-reference-missing]"},
		{"what fails without charts can't", base + failing("") + podinfoSource + podinfoIn("a", "  valuesFrom: [{kind: ConfigMap, name: made}]\n"), "flux-build-failed flux-values-reference-missing"},
		{"a slip of the pen where a file is gone", base + kustomization("infra", "") + "-- infra/kustomization.yaml --\nresources: [gone.yaml]\n" + kustomization("configs", "") + "-- configs/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n" +
			apps("  dependsOn:\n    - name: confgs\n"), "flux-build-failed flux-dependson-missing"},
		{"a slip of the pen where another repository may bring all", base + kustomization("configs", "") + "-- configs/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n" +
			apps("  dependsOn:\n    - name: config\n") + elsewhere("team", ""), "flux-dependson-missing [flux-build-failed]"},
		{"a sibling that another repository may bring", base + kustomization("configs-a", "") + "-- configs-a/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n" +
			apps("  dependsOn:\n    - name: configs-b\n") + elsewhere("team", ""), "[flux-build-failed flux-dependson-missing]"},
		{"what only its variables stop is known", base + kustomization("infra", "  postBuild:\n    substitute: {A: b}\n") + "-- infra/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {a: \"${A:0:9}${\"}\n" +
			apps(dependsOnInfra[:len(dependsOnInfra)-1]+"s\n"), "flux-build-failed flux-dependson-missing"},
		{"a misspelt artifact", base + artifacts("web", "wep"), "flux-source-missing [flux-build-failed]"},
		{"an artifact that is made of files which are not followed", base + excluding(artifacts("web", "web")), "[flux-build-failed]"},
		{"an artifact of a pattern that matches nothing", base + strings.ReplaceAll(artifacts("web", "web"), "apps/**", "gone/**"), "flux-path-missing [flux-build-failed]"},
		{"an artifact of a file that is not there", base + strings.ReplaceAll(artifacts("web", "web"), "apps/**", "apps/gone.yaml"), "flux-path-missing [flux-build-failed]"},
		{"an artifact of a source that does not exist", base + strings.ReplaceAll(artifacts("web", "web"), "name: flux-system}]", "name: flux-systems}]"), "flux-source-missing [flux-build-failed]"},
		{"an artifact of an alias that is not there", base + strings.ReplaceAll(artifacts("web", "web"), "@repo/", "@rep/"), "flux-source-missing [flux-build-failed]"},
		{"an artifact of a source that is not at hand", base + elsewhere("team", "") + strings.ReplaceAll(artifacts("web", "web"), "name: flux-system}]", "name: team, namespace: team}]"), "[flux-build-failed]"},
		{"a misspelt artifact beside one like it", base + excluding(artifacts("web", "wep")), "flux-source-missing [flux-build-failed]"},
		{"an artifact that nothing comes near", base + artifacts("web", "another"), "[flux-source-missing flux-build-failed]"},
		{"a missing path is no reason to doubt sources twice", base + kustomization("infra", ""), "flux-path-missing"},
		{"a child that depends on what waits for it", fluxSync + kustomization("parent", "  wait: true\n") + `-- parent/child.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: child, namespace: flux-system}
spec:
  interval: 1h
  path: ./apps
  prune: true
  dependsOn: [{name: parent}]
  sourceRef: {kind: GitRepository, name: flux-system}
` + podinfoNamespace, "flux-dependson-cycle"},
		{"a readyExpr is no circle", fluxSync + podinfoNamespace + apps("  dependsOn:\n    - name: apps\n      readyExpr: dep.spec.prune\n"), ""},
		{"on itself", base + apps("  dependsOn:\n    - name: apps\n"), "flux-dependson-cycle"},
		{"without postBuild nothing is replaced", fluxSync + apps("") + settings, ""},
		{"a Secret that isn't in Git may define it", fluxSync + apps("  postBuild:\n    substitute: {A: b}\n    substituteFrom:\n      - {kind: Secret, name: vars}\n") + settings,
			"flux-substitution-unused [flux-substitution-undefined flux-values-reference-missing]"},
		{"an encrypted Secret's keys are known", fluxSync + apps("  postBuild:\n    substituteFrom:\n      - {kind: Secret, name: vars}\n") + settings + `-- clusters/prod/vars.yaml --
apiVersion: v1
kind: Secret
metadata: {name: vars, namespace: flux-system, labels: {reconcile.fluxcd.io/watch: Enabled}}
stringData: {CLUSTER_NAME: "ENC[AES256_GCM,data:x,type:str]"}
sops: {mac: "ENC[x]"}
`, ""},
		{"an older Flux puts nothing in its place", fluxSync + apps("  postBuild:\n    substitute: {OTHER: b}\n") + settings + `-- clusters/prod/flux-system/components.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller, namespace: flux-system}
spec: {template: {spec: {containers: [{name: manager, image: "ghcr.io/fluxcd/kustomize-controller:v1.6.1"}]}}}
`, "flux-substitution-undefined:warning flux-substitution-unused"},
		{"an ExternalSecret makes it", fluxSync + podinfoRelease("x") + `-- clusters/prod/patch.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: other, namespace: flux-system}
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: podinfo}
  valuesFrom: [{kind: Secret, name: made}, {kind: ConfigMap, name: kube-root-ca.crt, valuesKey: ca.crt, targetPath: ca}]
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: any, namespace: flux-system}
spec: {target: {name: made}}
`, "flux-values-reference-missing"},
		{"an optional reference may be absent", fluxSync + podinfoRelease("x\n      optional: true"), ""},
		{"a script makes it", fluxSync + podinfoRelease("hand-made") + "-- setup.sh --\nkubectl create configmap hand-made\n", "[flux-values-reference-missing]"},
		{"a key", fluxSync + podinfoRelease("podinfo-values\n      valuesKey: value.yaml") + `-- clusters/prod/values.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: podinfo-values, namespace: flux-system, labels: {reconcile.fluxcd.io/watch: Enabled}}
data: {values.yaml: ""}
`, "flux-values-reference-missing"},
		{"another selector watches", fluxSync + podinfoRelease("podinfo-values") + `-- clusters/prod/values.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: podinfo-values, namespace: flux-system}
data: {values.yaml: ""}
-- flux.tf --
args = "--watch-configs-label-selector=owner!=helm"
`, ""},
		{"the same path under other names", fluxSync + kustomization("blue", "  namePrefix: blue-\n") + strings.ReplaceAll(kustomization("green", "  namePrefix: green-\n"), "./green", "./blue") +
			"-- blue/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n", ""},
		{"the same path", fluxSync + kustomization("blue", "") + strings.ReplaceAll(kustomization("green", ""), "./green", "./blue") +
			"-- blue/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n", "flux-path-overlap"},
		{"a definition in the same Kustomization comes first", fluxSync + apps("") + widgets("apps") + "-- apps/a.yaml --\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: default}\n", ""},
		{"a definition in another", fluxSync + apps("") + kustomization("infra", "") + widgets("infra") + "-- apps/a.yaml --\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a, namespace: default}\n", "flux-crd-order"},
		{"a namespace that a release makes", fluxSync + podinfoSource + podinfoIn("a", "  targetNamespace: web\n  storageNamespace: web\n  install: {createNamespace: true}\n") + podinfoIn("b", "  targetNamespace: web\n  storageNamespace: web\n"), ""},
		{"a namespace that no object creates", fluxSync + podinfoSource + podinfoIn("b", "  targetNamespace: web\n  storageNamespace: web\n"), "flux-namespace-missing"},
		{"a suspended release goes nowhere", fluxSync + podinfoSource + podinfoIn("b", "  targetNamespace: web\n  storageNamespace: web\n  suspend: true\n"), ""},
		{"a namespace that a chart is told of", fluxSync + podinfoSource + podinfoIn("a", "  values: {namespaces: [web]}\n") + podinfoIn("b", "  targetNamespace: web\n  storageNamespace: web\n"), ""},
		{"a namespace that a script makes", fluxSync + podinfoSource + podinfoIn("b", "  targetNamespace: web\n  storageNamespace: web\n") + "-- setup.sh --\nkubectl create namespace web\n", ""},
		{"a namespace that files speak of and don't make", webRelease + "-- .github/workflows/e2e.yaml --\njobs:\n  test:\n    steps:\n      - run: |\n          kubectl -n web wait helmrelease/b\n          kubectl create namespace other\n" +
			"-- Taskfile.yaml --\ntasks:\n  logs: {cmds: [kubectl logs -n web deploy/b]}\n-- main.tf --\nlocals { watched = \"web\" }\n-- tool.py --\nlog(namespace=\"web\")\n", "flux-namespace-missing"},
		{"a namespace that a comment makes", webRelease + "-- setup.sh --\n# kubectl create namespace web\n", "flux-namespace-missing"},
		{"a namespace that a workflow makes", webRelease + "-- .github/workflows/deploy.yaml --\njobs:\n  test:\n    steps:\n      - run: helm upgrade --install web ./web -n web \\\n          --create-namespace\n", ""},
		{"a namespace that a helmfile makes", webRelease + "-- bootstrap/helmfile.yaml --\nreleases:\n  - name: web\n    namespace: web\n    chart: ./web\n", ""},
		{"a namespace that a helmfile doesn't make", webRelease + "-- bootstrap/helmfile.yaml --\nhelmDefaults:\n  createNamespace: false\nreleases:\n  - name: web\n    namespace: web\n    chart: ./web\n", "flux-namespace-missing"},
		{"a namespace of a template", webRelease + "-- bootstrap/resources.yaml.j2 --\n{% for namespace in [\"web\", \"db\"] %}\n---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ namespace }}\n{% endfor %}\n", ""},
		{"a namespace of a manifest in a configuration", webRelease + "-- talos/controlplane.yaml --\ncluster:\n  inlineManifests:\n    - name: web\n      contents: |-\n        apiVersion: v1\n        kind: Namespace\n        metadata:\n          name: web\n", ""},
		{"a namespace that Terraform makes", webRelease + "-- main.tf --\nresource \"kubernetes_namespace\" \"all\" {\n  for_each = toset(var.names)\n}\n-- terraform.tfvars --\nnames = [\"web\"]\n", ""},
		{"namespaces by a list", webRelease + "-- setup.sh --\nfor ns in $(cat list.txt); do\n  kubectl create ns \"$ns\"\ndone\n-- list.env --\nweb\n", ""},
		{"namespaces by folders", webRelease + "-- setup.sh --\nfor dir in apps/*; do kubectl create namespace $(basename $dir); done\n-- apps/web/README.md --\nx\n", ""},
		{"namespaces by a function that lists no folders", webRelease + "-- setup.sh --\nensure() { kubectl create namespace \"$1\"; }\nensure other\n-- apps/web/README.md --\nx\n", "flux-namespace-missing"},
		{"a namespace of a Secret that a chart is told of", fluxSync + podinfoSource + podinfoIn("a", "  values: {provisioner-secret-namespace: web}\n") + podinfoIn("b", "  targetNamespace: web\n  storageNamespace: web\n"), "flux-namespace-missing"},
		{"namespaces by other folders", webRelease + "-- setup.sh --\nfor dir in apps/*; do kubectl create namespace $(basename $dir); done\n-- apps/other/README.md --\nx\n", "flux-namespace-missing"},
		{"a namespace of what a script applies", webRelease + "-- setup.sh --\nkubectl apply -f https://example.com/web/install.yaml\n", ""},
		{"a namespace that another repository may make", fluxSync + podinfoSource + elsewhere("kube-system", "") + podinfoIn("b", "  targetNamespace: web\n  storageNamespace: web\n"), "[flux-build-failed flux-namespace-missing]"},
		{"a namespace of the distribution", fluxSync + podinfoSource + podinfoIn("b", "  targetNamespace: openshift-config\n  storageNamespace: openshift-config\n"), ""},
		{"a misspelt namespace of Kubernetes", fluxSync + podinfoSource + podinfoIn("b", "  targetNamespace: kube-systm\n  storageNamespace: kube-systm\n"), "flux-namespace-missing:error"},
		{"a check of a workload that nothing makes", base + apps(checkWeb), "flux-healthcheck-missing"},
		{"a check of a workload that a chart may make", base + apps(checkWeb) + podinfoSource + podinfoIn("b", ""), ""},
		{"wait takes the place of checks", base + apps(checkWeb+"  wait: true\n"), ""},
		{"a check of what a controller makes", base + apps(strings.ReplaceAll(strings.ReplaceAll(checkWeb, "apps/v1", "postgresql.cnpg.io/v1"), "Deployment", "Cluster")), ""},
		{"a check of a release that another repository may bring", base + apps(strings.ReplaceAll(strings.ReplaceAll(checkWeb, "apps/v1", "helm.toolkit.fluxcd.io/v2"), "Deployment", "HelmRelease")) + elsewhere("kube-system", ""),
			"[flux-build-failed flux-healthcheck-missing]"},
		{"a patch of what one of two has", fluxSync + kustomization("blue", "") + kustomization("green", "") + onlyBlue, ""},
		{"a patch for all of a kind in a component", fluxSync + kustomization("blue", "") + strings.ReplaceAll(onlyBlue, "{kind: ConfigMap, name: blue}", "{kind: Deployment}"), ""},
		{"a patch for one of a kind in a component", fluxSync + kustomization("blue", "") + strings.ReplaceAll(onlyBlue, "{kind: ConfigMap, name: blue}", "{kind: Deployment, name: blue}"), "flux-patch-target-missing"},
		{"a patch for all of a misspelt kind", fluxSync + apps(patchAll("kind: ConfigMapp")) + podinfoSettings, "flux-patch-target-missing"},
		{"a patch for all of a kind that there isn't", fluxSync + apps(patchAll("kind: Deployment")) + podinfoSettings, ""},
		{"a patch for all of a kind in another group", fluxSync + apps(patchAll("group: apps, kind: ConfigMap")) + podinfoSettings, "flux-patch-target-missing"},
		{"a patch for all of a kind in another version", fluxSync + apps(patchAll("version: v2, kind: ConfigMap")) + podinfoSettings, "flux-patch-target-missing"},
		{"a patch for all of a kind with labels that none has", fluxSync + apps(patchAll(`kind: ConfigMap, labelSelector: "a=b"`)) + podinfoSettings, ""},
		{"a patch of what flux bootstrap will write", fluxSync + apps("") + "-- apps/kustomization.yaml --\nresources: [components.yaml]\npatches: [{target: {kind: Deployment, name: a}, patch: '[{\"op\": \"remove\", \"path\": \"/spec\"}]'}]\n-- apps/components.yaml --\n# later\n", ""},
		{"a bootstrap brings the definitions", fluxSync + kustomization("infrastructure", "") + keda + "-- infrastructure/a.yaml --\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a, namespace: default}\n" +
			"-- bootstrap/helmfile.yaml --\nreleases:\n  - {name: keda, chart: oci://ghcr.io/kedacore/charts/keda}\n", ""},
	} {
		if got := outcome(t, c.files); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// artifacts are an ArtifactGenerator and a Kustomization of an artifact.
func artifacts(made, used string) string {
	return `-- clusters/prod/artifacts.yaml --
apiVersion: source.extensions.fluxcd.io/v1beta1
kind: ArtifactGenerator
metadata: {name: parts, namespace: flux-system}
spec:
  sources: [{alias: repo, kind: GitRepository, name: flux-system}]
  artifacts:
    - name: ` + made + `
      copy: [{from: "@repo/apps/**", to: "@artifact/"}]
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: flux-system}
spec:
  interval: 1h
  path: ./
  prune: true
  sourceRef: {kind: ExternalArtifact, name: ` + used + `}
`
}

// failing is a Kustomization that fails, since it lists a file twice, with more in that file.
func failing(more string) string {
	return kustomization("fails", "") + "-- fails/kustomization.yaml --\nresources: [a.yaml, ./a.yaml]\n-- fails/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: fails}\n" + more
}

// excluding has an ArtifactGenerator leave files out, which is not followed.
func excluding(files string) string {
	return strings.ReplaceAll(files, `to: "@artifact/"`, `to: "@artifact/", exclude: ["*.md"]`)
}

// checkWeb is a health check.
const checkWeb = "  healthChecks:\n    - {apiVersion: apps/v1, kind: Deployment, name: web, namespace: podinfo}\n"

// onlyBlue is a component of two folders that patches what one of them has.
const onlyBlue = `-- blue/kustomization.yaml --
resources: [a.yaml]
components: [../component]
-- blue/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: blue, namespace: default}
-- green/kustomization.yaml --
resources: [a.yaml]
components: [../component]
-- green/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: green, namespace: default}
-- component/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - target: {kind: ConfigMap, name: blue}
    patch: '[{"op": "add", "path": "/data", "value": {}}]'
`

// patchAll is a patch of a Flux Kustomization for what a target selects.
func patchAll(target string) string {
	return "  patches: [{target: {" + target + "}, patch: '[{\"op\": \"add\", \"path\": \"/metadata/labels\", \"value\": {}}]'}]\n"
}

// widgets define a kind.
func widgets(dir string) string {
	return "-- " + dir + `/crd.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, versions: []}
`
}

// outcome are the rules that find something, with the severity where it isn't the rule's, and
// in brackets those that leave something open.
func outcome(t *testing.T, files string) string {
	t.Helper()
	var found, open []string
	for _, r := range rules {
		findings, unresolved := ruletest.Run(t, r, files)
		if len(findings) > 0 {
			one := r.ID
			if s := findings[0].Severity; s != r.Severity {
				one += ":" + string(s)
			}
			found = append(found, one)
		}
		if len(unresolved) > 0 {
			open = append(open, r.ID)
		}
	}
	text := strings.Join(found, " ")
	if len(open) > 0 {
		text = strings.TrimSpace(text + " [" + strings.Join(open, " ") + "]")
	}
	return text
}

// A mistake in a base that clusters share is one finding, and one that a single cluster has
// names it.
func TestSharedBases(t *testing.T) {
	t.Parallel()
	second := strings.ReplaceAll(fluxSync+apps("  postBuild:\n    substitute: {OTHER: b}\n"), "clusters/prod", "clusters/test")
	files := fluxSync + apps("  postBuild:\n    substitute: {OTHER: b}\n") + second + settings
	found := ruletest.Find(t, SubstitutionUndefined, files)
	if len(found) != 1 || found[0].Cluster != "" || found[0].File != "apps/settings.yaml" || found[0].Line != 7 || found[0].Column != 12 {
		t.Errorf("a shared mistake gives %+v", found)
	}
	if found[0].Message != "undefined variable ${CLUSTER_NAME} in the objects that Kustomization flux-system/apps applies" {
		t.Errorf("the message is %s", found[0].Message)
	}
	third := strings.ReplaceAll(fluxSync+apps("  postBuild:\n    substitute: {CLUSTER_NAME: b}\n"), "clusters/prod", "clusters/stage")
	if found = ruletest.Find(t, SubstitutionUndefined, files+third); len(found) != 1 || found[0].Cluster != "" || !strings.HasSuffix(found[0].Message, "/apps applies (clusters prod, test)") {
		t.Errorf("a mistake of two clusters of three gives %+v", found)
	}
	files = fluxSync + apps("  postBuild:\n    substitute: {CLUSTER_NAME: b}\n") + second + settings
	if found = ruletest.Find(t, SubstitutionUndefined, files); len(found) != 1 || found[0].Cluster != "test" {
		t.Errorf("one cluster's mistake gives %+v", found)
	}
}

// What another cluster has is not taken for what one lacks, and tells that it belongs into Git; two
// folders that nothing syncs are one cluster's unless both have a Kustomization of one name.
func TestOtherClusters(t *testing.T) {
	t.Parallel()
	vars := "-- clusters/test/vars.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: vars, namespace: flux-system, labels: {reconcile.fluxcd.io/watch: Enabled}}\ndata: {A: b}\n"
	reading := apps("  postBuild:\n    substituteFrom: [{kind: ConfigMap, name: vars}]\n") + podinfoNamespace
	second := strings.ReplaceAll(fluxSync, "clusters/prod", "clusters/test")
	other := strings.ReplaceAll(kustomization("other", ""), "clusters/prod", "clusters/test") + "-- other/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	for _, c := range []struct{ name, files, want string }{
		{"no cluster has it", fluxSync + second + reading, "[flux-values-reference-missing]"},
		{"another cluster has it", fluxSync + second + reading + vars, "flux-values-reference-missing"},
		{"the other half of a guessed cluster has it", reading + other + vars, ""},
		{"another guessed cluster has it", reading + strings.ReplaceAll(apps(""), "clusters/prod", "clusters/test") + vars, "flux-values-reference-missing"},
	} {
		if got := outcome(t, c.files); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	found := ruletest.Find(t, ValuesReferenceMissing, fluxSync+second+reading+vars)
	if len(found) != 1 || found[0].Cluster != "prod" || found[0].Hint != "cluster test has it, from clusters/test/vars.yaml:1" {
		t.Errorf("got %+v", found)
	}
}

// Apps also use substitution-vars: Kommander makes it where there are AppDeployments, so that
// nothing is missing, though another namespace holds one. Without Kommander it is like any other.
func TestAppsAlsoUseSubstitutionVars(t *testing.T) {
	t.Parallel()
	elsewhere := "-- clusters/prod/vars.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: substitution-vars, namespace: default, labels: {reconcile.fluxcd.io/watch: Enabled}}\ndata: {A: b}\n"
	deployment := "-- clusters/prod/deployment.yaml --\napiVersion: apps.kommander.d2iq.io/v1alpha3\nkind: AppDeployment\nmetadata: {name: gatekeeper, namespace: flux-system}\nspec: {appRef: {kind: ClusterApp, name: gatekeeper-3.10.0}}\n"
	reading := func(name string) string {
		return fluxSync + apps("  postBuild:\n    substituteFrom: [{kind: ConfigMap, name: "+name+"}]\n") + podinfoNamespace
	}
	for _, c := range []struct{ name, files, want string }{
		{"with Kommander", reading("substitution-vars") + deployment, ""},
		{"with Kommander, and one elsewhere", reading("substitution-vars") + deployment + elsewhere, ""},
		{"without Kommander", reading("substitution-vars"), "[flux-values-reference-missing]"},
		{"without Kommander, and one elsewhere", reading("substitution-vars") + elsewhere, "flux-values-reference-missing"},
		{"another one", reading("substitution-values") + deployment, "[flux-values-reference-missing]"},
	} {
		if got := outcome(t, c.files); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// What a patch brings is reported where the patch stands.
func TestPlaceInAPatch(t *testing.T) {
	t.Parallel()
	files := fluxSync + podinfoNamespace + apps("") + `-- clusters/prod/kustomization.yaml --
resources: [flux-system/gotk-sync.yaml, apps.yaml]
patches:
  - target: {kind: Kustomization, name: apps}
    patch: |
      - op: add
        path: /spec/dependsOn
        value: [{name: infra}]
`
	found := ruletest.Find(t, DependsOnMissing, files)
	if len(found) != 1 || found[0].File != "clusters/prod/kustomization.yaml" || found[0].Line != 7 {
		t.Errorf("the finding is %+v", found)
	}
}

// What a patch does to many objects is one finding, where the patch stands: one of their parent's,
// and one that their parent's patch gives them.
func TestPatchOfManyObjects(t *testing.T) {
	t.Parallel()
	files := func(patch string) string {
		all := fluxSync + strings.ReplaceAll(apps("  patches:\n    - target: {kind: Kustomization}\n      patch: |\n"+patch), "name: apps", "name: parent") + podinfoSource
		for _, name := range []string{"a", "b", "c"} {
			all += strings.ReplaceAll(kustomization(name, ""), "clusters/prod", "apps") + strings.ReplaceAll(podinfoIn(name, ""), "clusters/prod", name)
		}
		return all
	}
	nested := func(patch string) string {
		return files("        - op: add\n          path: /spec/patches\n          value:\n          - target: {kind: HelmRelease|Job}\n            patch: |\n" + patch)
	}
	for _, c := range []struct {
		name  string
		rule  rule.Rule
		files string
		line  int
		want  string
	}{
		{"a dependency", DependsOnMissing, files("        - op: add\n          path: /spec/dependsOn\n          value: [{name: gone}]\n"), 18,
			"Kustomization flux-system/a depends on Kustomization flux-system/gone, which does not exist (the same for 2 other objects)"},
		{"a path", PathMissing, files("        - op: replace\n          path: /spec/path\n          value: gone\n"), 18,
			`path of Kustomization flux-system/a: folder "gone" does not exist (the same for 2 other objects)`},
		{"a dependency of their releases", DependsOnMissing, nested("              - op: add\n                path: /spec/dependsOn\n                value: [{name: gone}]\n"), 23,
			"HelmRelease flux-system/a depends on HelmRelease flux-system/gone, which does not exist (the same for 2 other objects)"},
		{"an operation that fails", BuildFailed, nested("              - op: test\n                path: /spec/interval\n                value: 2h\n"), 22,
			"testing value /spec/interval failed: test failed (the same for 2 other objects)"},
		{"a patch that is none", BuildFailed, nested("              not: a patch\n"), 20,
			"patches: this is neither a list of JSON 6902 operations nor an object with apiVersion, kind and metadata.name (the same for 2 other objects)"},
		{"a patch for an object that there isn't", BuildFailed, strings.Replace(nested("              {apiVersion: v1, kind: ConfigMap, metadata: {name: gone}}\n"), "target: {kind: HelmRelease|Job}\n            ", "", 1), 19,
			"patches: there is no ConfigMap gone among the resources to patch (the same for 2 other objects)"},
	} {
		found := ruletest.Find(t, c.rule, c.files)
		if len(found) != 1 || found[0].File != "clusters/prod/apps.yaml" || found[0].Line != c.line || found[0].Message != c.want {
			t.Errorf("%s: got %+v, want line %d, %s", c.name, found, c.line, c.want)
		}
	}
	for _, c := range []struct{ target, want, hint string }{
		{"{kind: HelmReleas}", "HelmReleas", `did you mean kind "HelmRelease"?`},
		{"{kind: HelmRelease, name: d}", "HelmRelease d", ""},
		{"{group: helm.toolkit.io, kind: HelmRelease}", "HelmRelease of helm.toolkit.io", "objects of this kind have API version helm.toolkit.fluxcd.io/v2"},
	} {
		found := ruletest.Find(t, PatchTargetMissing, strings.Replace(nested("              - {op: test, path: /kind, value: HelmRelease}\n"), "{kind: HelmRelease|Job}", c.target, 1))
		want := "the patch changes nothing: there is no " + c.want + " here (the same for 2 other objects)"
		if len(found) != 1 || found[0].File != "clusters/prod/apps.yaml" || found[0].Line != 19 || found[0].Message != want || found[0].Hint != c.hint {
			t.Errorf("%s: got %+v", c.target, found)
		}
	}
	ignored := strings.Replace(files("        - op: add\n          path: /spec/dependsOn\n          value: [{name: gone}]\n"),
		"metadata:\n  name: a\n", "metadata:\n  name: a\n  annotations: {fleetwright.dev/ignore: \"flux-dependson-missing: one of three\"}\n", 1)
	if found := ruletest.Find(t, DependsOnMissing, ignored); len(found) != 1 {
		t.Errorf("where one of the objects ignores it: %+v", found)
	}
}

// What is wrong with an artifact is told at its ArtifactGenerator, once for all that use it.
func TestPlaceInAnArtifactGenerator(t *testing.T) {
	t.Parallel()
	used := artifacts("web", "web") + "---\n" + strings.SplitAfterN(strings.ReplaceAll(kustomization("second", ""), "kind: GitRepository\n    name: flux-system", "kind: ExternalArtifact\n    name: web"), "--\n", 2)[1]
	for _, c := range []struct {
		rule         rule.Rule
		old, new     string
		line, column int
		hint         string
	}{
		{SourceMissing, "name: flux-system}]", "name: flux-systen}]", 5, 54, `did you mean "flux-system"?`},
		{SourceMissing, "@repo/", "@rep/", 8, 21, `did you mean "repo"?`},
		{PathMissing, "apps/**", "app/**", 8, 21, ""},
	} {
		found := ruletest.Find(t, c.rule, fluxSync+podinfoNamespace+strings.ReplaceAll(used, c.old, c.new))
		if len(found) != 1 || found[0].File != "clusters/prod/artifacts.yaml" || found[0].Line != c.line || found[0].Column != c.column || found[0].Hint != c.hint {
			t.Errorf("%s for %s: %+v", c.new, c.old, found)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule  rule.Rule
		files string
		want  string
	}{
		{DependsOnMissing, fluxSync + podinfoNamespace + controllers + kustomization("infrastructure", "") + apps("  dependsOn:\n    - name: infrastructurx\n"), `did you mean "infrastructure"?`},
		{DependsOnMissing, fluxSync + podinfoNamespace + apps("  dependsOn:\n    - {name: flux-system, namespace: other}\n"), `it exists in namespace "flux-system": set namespace: flux-system`},
		{DependsOnMissing, fluxSync + podinfoNamespace + apps(dependsOnInfra) + strings.ReplaceAll(kustomization("infra", ""), "clusters/prod", "old"),
			"old/infra.yaml:1 defines it, but no Kustomization applies that file"},
		{SubstitutionUndefined, fluxSync + apps("  postBuild: {substitute: {DOMAIN: a}}\n") + "-- apps/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '${DOMAIN_2}'}\n",
			"define it in postBuild, add a default (${DOMAIN_2:=…}), or write $${DOMAIN_2} if it is not a Flux variable"},
		{SourceMissing, fluxSync + podinfoNamespace + artifacts("web", "wep"), `did you mean "web"? ArtifactGenerator flux-system/parts creates it at clusters/prod/artifacts.yaml:7`},
		{PathMissing, fluxSync + strings.ReplaceAll(apps(""), "./apps", "./app/base") + "-- apps/base/a.yaml --\n", `did you mean "./apps/base"?`},
	} {
		found := ruletest.Find(t, c.rule, c.files)
		if len(found) != 1 || found[0].Hint != c.want {
			t.Errorf("%s: want the hint %q, got %+v", c.rule.ID, c.want, found)
		}
	}
}

// TestOnlyItsOwnFault: what refers to an object of a misspelt kind, or is misspelt itself, is told by
// schema-invalid alone.
func TestOnlyItsOwnFault(t *testing.T) {
	t.Parallel()
	misspelt := strings.Replace(kustomization("infra", ""), "kind: Kustomization", "kind: Kustomisation", 1)
	other := strings.Replace(apps(""), "kind: GitRepository", "kind: GitRepo", 1)
	if found := ruletest.Find(t, DependsOnMissing, fluxSync+podinfoNamespace+misspelt+apps(dependsOnInfra)); len(found) != 0 {
		t.Errorf("what depends on a misspelt kind is told: %+v", found)
	}
	if found := ruletest.Find(t, SourceMissing, fluxSync+podinfoNamespace+other); len(found) != 0 {
		t.Errorf("a source of a misspelt kind is told: %+v", found)
	}
}

// TestASlipForASecret that is there is an error, unless a file beside Git has the name.
func TestASlipForASecret(t *testing.T) {
	t.Parallel()
	const secret = "-- clusters/prod/secret.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: cluster-secrets, namespace: flux-system}\n"
	files := func(name string) string {
		return fluxSync + podinfoNamespace + secret + apps("  postBuild:\n    substituteFrom:\n      - kind: Secret\n        name: "+name+"\n")
	}
	found := ruletest.Find(t, ValuesReferenceMissing, files("cluster-secret"))
	if len(found) != 1 || found[0].Line != 16 || found[0].Severity != finding.Error || found[0].Hint != `did you mean "cluster-secrets"?` {
		t.Errorf("got %+v", found)
	}
	if found := ruletest.Find(t, ValuesReferenceMissing, files("other-secrets")); len(found) != 0 {
		t.Errorf("another one is told: %+v", found)
	}
	if found := ruletest.Find(t, ValuesReferenceMissing, files("cluster-secret")+"-- setup.sh --\nkubectl create secret generic cluster-secret\n"); len(found) != 0 {
		t.Errorf("one that a script makes is told: %+v", found)
	}
}

// TestSecretOfTheRoot is made by flux bootstrap: a file that defines one is what a person fills.
func TestSecretOfTheRoot(t *testing.T) {
	t.Parallel()
	secret := "-- setup/git.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: flux-system, namespace: flux-system}\n"
	if found := ruletest.Find(t, SecretMissing, fluxSync+podinfoNamespace+secret); len(found) != 0 {
		t.Errorf("got %+v", found)
	}
	other := "-- clusters/prod/other.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: other, namespace: flux-system}\nspec: {url: https://example.com/other, interval: 1m, secretRef: {name: other}}\n" +
		"-- setup/other.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: other, namespace: flux-system}\n"
	if found := ruletest.Find(t, SecretMissing, fluxSync+podinfoNamespace+secret+other); len(found) != 1 || found[0].File != "clusters/prod/other.yaml" {
		t.Errorf("another source's gives %+v", found)
	}
}

// TestLeftAsItIs: a variable that all others replace is told where a Kustomization has no postBuild,
// and not where few replace it.
func TestLeftAsItIs(t *testing.T) {
	t.Parallel()
	route := func(name string) string {
		return "-- " + name + "/a.yaml --\napiVersion: v1\nkind: Service\nmetadata:\n  name: " + name + "\n  namespace: default\n  annotations: {host: \"" + name + ".${CLUSTER_DOMAIN}\"}\nspec: {ports: [{port: 80}]}\n"
	}
	const replaced = "  postBuild: {substitute: {CLUSTER_DOMAIN: example.com}}\n"
	files := fluxSync + kustomization("raw", "") + route("raw")
	for _, name := range []string{"a", "b", "c"} {
		files += kustomization(name, replaced) + route(name)
	}
	if found := ruletest.Find(t, SubstitutionUndefined, files); len(found) != 0 {
		t.Errorf("one of four is told: %+v", found)
	}
	found := ruletest.Find(t, SubstitutionUndefined, files+kustomization("d", replaced)+route("d"))
	if len(found) != 1 || found[0].File != "raw/a.yaml" || found[0].Line != 6 || found[0].Severity != finding.Warning ||
		found[0].Message != "variable ${CLUSTER_DOMAIN} is not substituted in the objects that Kustomization flux-system/raw applies" {
		t.Errorf("one of five is told as %+v", found)
	}
	script := strings.Replace(files+kustomization("d", replaced)+route("d"), `{host: "raw.${CLUSTER_DOMAIN}"}`, `{script: "a\necho ${CLUSTER_DOMAIN}"}`, 1)
	if found := ruletest.Find(t, SubstitutionUndefined, script); len(found) != 0 {
		t.Errorf("a script is told: %+v", found)
	}
}

// A variable that a parent's patch brings into its children is told in the patch.
func TestPlaceOfAVariableInAPatch(t *testing.T) {
	t.Parallel()
	files := fluxSync + apps(`  postBuild:
    substitute: {OTHER: b}
  patches:
    - target: {kind: Kustomization}
      patch: |
        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: all}
        spec:
          postBuild:
            substitute:
              CLUSTER: ${CLUSTER}
`) + strings.ReplaceAll(kustomization("child", ""), "clusters/prod", "apps") + "-- child/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'a-${CLUSTER}', namespace: default}\n"
	found := ruletest.Find(t, SubstitutionUndefined, files)
	if len(found) != 1 || found[0].File != "clusters/prod/apps.yaml" || found[0].Line != 24 || found[0].Column != 24 {
		t.Errorf("got %+v", found)
	}
}
