package flux

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// A chart at hand tells which kinds its release defines, whatever its name is, and a custom
// resource beside it is early; one that another Kustomization applies is not.
func TestOrderOfRenderedDefinitions(t *testing.T) {
	t.Parallel()
	const thing = "-- clusters/prod/thing.yaml --\napiVersion: things.example.com/v1\nkind: Thing\nmetadata: {name: a, namespace: flux-system}\n"
	release := `-- clusters/prod/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: things, namespace: flux-system}
spec:
  interval: 1h
  chart: {spec: {chart: charts/things, sourceRef: {kind: GitRepository, name: flux-system}}}
`
	chart := func(crd string) string {
		return "-- charts/things/Chart.yaml --\napiVersion: v2\nname: cert-manager\nversion: 1.0.0\n-- charts/things/crds/thing.yaml --\n" + crd
	}
	crd := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.things.example.com}
spec: {group: things.example.com, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true}]}
`
	for _, c := range []struct {
		name, files string
		want        int
	}{
		{"beside it", release + chart(crd) + thing, 1},
		{"another kind", release + chart(strings.ReplaceAll(crd, "things.example", "others.example")) + thing, 0},
		{"a chart that is not at hand", release + thing, 0},
	} {
		if found := ruletest.Find(t, CRDOrder, fluxSync+c.files); len(found) != c.want {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}

// One Kustomization that does not wait for the release that defines its objects, as all others do, forgot it.
func TestOrderOfOneAmongOthers(t *testing.T) {
	t.Parallel()
	files := fluxSync + kustomization("keda", "") + `-- keda/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: keda, namespace: keda}
spec:
  interval: 1h
  chart: {spec: {chart: keda, sourceRef: {kind: HelmRepository, name: keda}}}
`
	scaler := func(name, more string) string {
		return kustomization(name, more) + "-- " + name + "/scaler.yaml --\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: " + name + ", namespace: default}\nspec: {scaleTargetRef: {name: a}}\n"
	}
	const waits = "  dependsOn: [{name: keda}]\n"
	most := scaler("a", waits) + scaler("b", waits)
	for _, c := range []struct {
		name, files string
		want        int
	}{
		{"one", most + scaler("c", waits) + scaler("d", ""), 1},
		{"none", most + scaler("c", waits) + scaler("d", waits), 0},
		{"two", most + scaler("c", waits) + scaler("d", "") + scaler("e", ""), 0},
		{"few others", most + scaler("d", ""), 0},
		{"one that a bootstrap serves", most + scaler("c", waits) + scaler("d", "") + "-- bootstrap.sh --\nhelm install keda\n", 0},
	} {
		if found := ruletest.Find(t, CRDOrder, files+c.files); len(found) != c.want {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}
