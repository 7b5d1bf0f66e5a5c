package schema

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// clusterDeployment is one of a base that overlays complete.
const clusterDeployment = `apiVersion: k0rdent.mirantis.com/v1beta1
kind: ClusterDeployment
metadata: {name: cluster, namespace: kcm-system}
spec: {template: "", credential: aws}
`

// Templates that a program fills in are no errors where nothing applies them: in folders such as .templates, and objects that
// hold {{ value }}. Reproduces: Mirantis-PS/k0rdent-fluxcd-example, mgueye01/k0rdent-fluxcd and k0rdent/catalog.
func TestTemplatesThatNothingApplies(t *testing.T) {
	t.Parallel()
	const broken = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  labels:\n{{ .labels | toYAML }}\n"
	const flow = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ name }}\n"
	const ks = "-- clusters/a/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: ./app, sourceRef: {kind: GitRepository, name: flux-system}}\n" +
		"-- app/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\n"
	for _, c := range []struct {
		name, archive    string
		found, undecided int
	}{
		{"listed in .templates", "-- .templates/base/kustomization.yaml --\nresources: [a.yaml]\n-- .templates/base/a.yaml --\n" + broken, 0, 0},
		{"listed in .templates, with values", "-- .templates/base/kustomization.yaml --\nresources: [a.yaml]\n-- .templates/base/a.yaml --\n" + flow, 0, 0},
		{"beside a cluster", ks + "-- _templates/base/kustomization.yaml --\nresources: [a.yaml]\n-- _templates/base/a.yaml --\n" + broken, 0, 0},
		{"in a folder of any name that no cluster builds", ks + "-- clds/kustomization.yaml --\nresources: [a.yaml]\n-- clds/a.yaml --\n" + broken, 0, 1},
		{"that a cluster builds", strings.ReplaceAll(ks, "./app", "./.templates/base") + "-- .templates/base/kustomization.yaml --\nresources: [a.yaml]\n-- .templates/base/a.yaml --\n" + broken, 1, 0},
		{"a file of its own", "-- clds/a.yaml --\n" + flow, 0, 0},
		{"listed by a kustomization", "-- clds/kustomization.yaml --\nresources: [a.yaml]\n-- clds/a.yaml --\n" + flow, 1, 0},
		{"a patch that a comment lists", "-- crd/patches/a.yaml --\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.example.com}\nspec: {conversion: {strategy: None}}\n", 0, 0},
		{"a key that is no template's", "-- clds/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata:\n  ? {b: c}\n  : d\n", 1, 0},
	} {
		found, unresolved := ruletest.Run(t, Invalid, c.archive)
		if len(found) != c.found || len(unresolved) != c.undecided {
			t.Errorf("%s: findings are %v, unresolved %v", c.name, found, unresolved)
		}
	}
}

// Variables of a shell, and words that a script replaces, are unknown where no cluster applies the file. Reproduces:
// k0rdent/demos, whose Makefile pipes manifests through envsubst, and k0rdent/catalog, whose scripts call sed.
func TestVariablesOfScripts(t *testing.T) {
	t.Parallel()
	const service = "apiVersion: v1\nkind: Service\nmetadata: {name: registry, namespace: $TESTING_NAMESPACE}\nspec:\n  ports: [{port: $PORT}]\n  type: NodePort\n"
	found, unresolved := ruletest.Run(t, Invalid, "-- Makefile --\na:\n\tenvsubst < setup/registry.yaml | kubectl apply -f -\n-- setup/registry.yaml --\n"+service)
	if len(found) > 0 || len(unresolved) != 1 || unresolved[0].Reason != "metadata.namespace contains a variable with an unknown value (and 1 more)" {
		t.Errorf("findings are %v, unresolved %v", found, unresolved)
	}
	const flux = "-- clusters/a/ks.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\nspec: {interval: 1h, prune: true, path: ./setup, sourceRef: {kind: GitRepository, name: flux-system}}\n"
	if found := ruletest.Find(t, Invalid, flux+"-- setup/registry.yaml --\n"+service); len(found) != 2 {
		t.Errorf("a cluster applies them, and Flux replaces no $NAME: %v", found)
	}
	const named = "-- clds/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: aws-example-USER, namespace: a}\n"
	for script, want := range map[string]int{
		"": 1,
		"-- deploy.sh --\nsed -e \"s/USER/${USER}/g\" clds/a.yaml | kubectl apply -f -\n":     0,
		"-- README.md --\nRun `sed 's|{USER}|me|' clds/a.yaml | kubectl apply -f -`\n":        0,
		"-- deploy.sh --\nsed -e \"s/REGION/${REGION}/g\" clds/a.yaml | kubectl apply -f -\n": 1,
	} {
		if found := ruletest.Find(t, Invalid, named+script); len(found) != want {
			t.Errorf("%q: findings are %v", script, found)
		}
	}
}

// A field that a base leaves empty for its overlays is judged as they build it. Reproduces: mgueye01/k0rdent-fluxcd.
func TestEmptyFieldsOfBases(t *testing.T) {
	t.Parallel()
	base := func(dir string) string {
		return "-- " + dir + "/kustomization.yaml --\nresources: [cld.yaml]\n-- " + dir + "/cld.yaml --\n" + clusterDeployment
	}
	overlay := func(name, patch string) string {
		return "-- overlays/" + name + "/kustomization.yaml --\nresources: [../../base]\nnamePrefix: " + name + "-\n" + patch
	}
	const sets = "patches:\n- patch: |-\n    - {op: replace, path: /spec/template, value: aws-standalone-cp-1-0-0}\n  target: {kind: ClusterDeployment}\n"
	const renames = "patches:\n- patch: |-\n    - {op: replace, path: /spec/template, value: aws-standalone-cp-1-0-0}\n    - {op: replace, path: /metadata/name, value: other}\n  target: {kind: ClusterDeployment}\n"
	const other = "patches:\n- patch: |-\n    - {op: replace, path: /spec/credential, value: b}\n  target: {kind: ClusterDeployment}\n"
	for _, c := range []struct {
		name, archive    string
		found, undecided int
	}{
		{"all overlays set it", base("base") + overlay("a", sets) + overlay("b", renames), 0, 0},
		{"one does not", base("base") + overlay("a", sets) + overlay("b", other), 1, 0},
		{"one cannot be built", base("base") + overlay("a", sets) + overlay("b", "components: [../gone]\n"+sets), 0, 1},
		{"none lists the base", base("base"), 0, 1},
		{"no base", base("app"), 1, 0},
		{"a file of its own", "-- cld.yaml --\n" + clusterDeployment, 1, 0},
		{"a required field", strings.ReplaceAll(base("base"), `template: "", `, "") + overlay("a", strings.ReplaceAll(sets, "replace", "add")), 0, 0},
		{"a required field that no overlay sets", strings.ReplaceAll(base("base"), `template: "", `, "") + overlay("a", ""), 1, 0},
	} {
		found, unresolved := ruletest.Run(t, Invalid, c.archive)
		if len(found) != c.found || len(unresolved) != c.undecided {
			t.Errorf("%s: findings are %v, unresolved %v", c.name, found, unresolved)
		}
	}
}
