package ownership

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// object is a file with a ConfigMap.
func object(file, metadata, value string) string {
	return "-- " + file + " --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default" + metadata + "}\ndata: {a: " + value + "}\n"
}

// helmRepository is a file with a HelmRepository.
func helmRepository(version, host string) string {
	return "-- blue/" + version + ".yaml --\napiVersion: source.toolkit.fluxcd.io/" + version + "\nkind: HelmRepository\nmetadata: {name: a, namespace: flux-system}\nspec: {interval: 1h, url: https://" + host + ".example}\n"
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	two := fluxSync + kustomization("blue") + kustomization("green")
	for _, c := range []struct {
		name, files string
		want        finding.Severity
	}{
		{"different content", two + object("blue/a.yaml", "", "x") + object("green/a.yaml", "", "y"), finding.Error},
		{"the same content", two + object("blue/a.yaml", "", "x") + object("green/a.yaml", "", "x"), finding.Warning},
		{"other labels", two + object("blue/a.yaml", ", labels: {b: c}", "x") + object("green/a.yaml", "", "x"), finding.Warning},
		{"the same content that is kept", two + object("blue/a.yaml", ", annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}", "x") +
			object("green/a.yaml", ", annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}", "x"), ""},
		{"one merges into the other", two + object("blue/a.yaml", "", "x") + object("green/a.yaml", ", annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}", "y"), ""},
		{"one merges into the other, in small letters", two + object("blue/a.yaml", "", "x") + object("green/a.yaml", ", annotations: {kustomize.toolkit.fluxcd.io/ssa: merge}", "y"), ""},
		{"twice in one, by two versions", fluxSync + kustomization("blue") + helmRepository("v1", "a") + helmRepository("v1beta2", "a"), finding.Warning},
		{"twice in one, and they differ", fluxSync + kustomization("blue") + helmRepository("v1", "a") + helmRepository("v1beta2", "b"), finding.Error},
		{"another cluster's", fluxSync + kustomization("blue") + strings.ReplaceAll(kustomization("green"), "  interval", "  kubeConfig: {secretRef: {name: x}}\n  interval") +
			object("blue/a.yaml", "", "x") + object("green/a.yaml", "", "y"), ""},
		{"one is suspended", fluxSync + kustomization("blue") + strings.ReplaceAll(kustomization("green"), "  interval", "  suspend: true\n  interval") +
			object("blue/a.yaml", "", "x") + object("green/a.yaml", "", "y"), ""},
	} {
		found := ruletest.Find(t, Duplicate, c.files)
		got := finding.Severity("")
		if len(found) == 1 {
			got = found[0].Severity
		}
		if len(found) > 1 || got != c.want {
			t.Errorf("%s: %q in place of %q: %+v", c.name, got, c.want, found)
		}
	}
}

// A Namespace that targetNamespace renames is an error if Flux would delete it.
func TestRenamedNamespace(t *testing.T) {
	t.Parallel()
	renames := strings.Replace(kustomization("blue"), "  interval", "  targetNamespace: web\n  interval", 1)
	files := func(blue, metadata string) string {
		return fluxSync + blue + kustomization("green") + "-- blue/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: web-app" + metadata + "}\n-- green/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n"
	}
	for _, c := range []struct {
		name, files string
		want        finding.Severity
	}{
		{"pruned", files(renames, ""), finding.Error},
		{"not pruned", files(strings.Replace(renames, "prune: true", "prune: false", 1), ""), finding.Warning},
		{"kept", files(renames, ", annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}"), finding.Warning},
	} {
		found := ruletest.Find(t, Duplicate, c.files)
		if len(found) != 1 || found[0].Severity != c.want || !strings.Contains(found[0].Message, "targetNamespace") {
			t.Errorf("%s: want %q: %+v", c.name, c.want, found)
		}
	}
}

// Many owners of one object are one finding, and so is a base that two share.
func TestDuplicatesTogether(t *testing.T) {
	t.Parallel()
	files := fluxSync
	for _, name := range []string{"a", "b", "c", "d"} {
		files += kustomization(name) + object(name+"/a.yaml", "", name)
	}
	found := ruletest.Find(t, Duplicate, files)
	if len(found) != 1 || !strings.Contains(found[0].Message, "flux-system/a, flux-system/b, flux-system/c and 1 more, first at a/a.yaml:1") {
		t.Errorf("four owners give %+v", found)
	}
	base := "-- base/kustomization.yaml --\nresources: [a.yaml, b.yaml]\n" + object("base/a.yaml", "", "x") + strings.Replace(object("base/b.yaml", "", "x"), "name: a", "name: b", 1)
	files = fluxSync + kustomization("a") + kustomization("b") + "-- a/kustomization.yaml --\nresources: [../base]\n-- b/kustomization.yaml --\nresources: [../base]\n" + base
	if found = ruletest.Find(t, Duplicate, files); len(found) != 1 || !strings.Contains(found[0].Message, "1 more object") {
		t.Errorf("a shared base gives %+v", found)
	}
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	listed := fluxSync + kustomization("apps") + "-- apps/kustomization.yaml --\nresources: [a.yaml]\n" + object("apps/a.yaml", "", "x")
	for _, c := range []struct {
		name, files string
		want        int
	}{
		{"a forgotten file", listed + object("apps/b.yaml", "", "x"), 1},
		{"a file that a script applies", listed + object("apps/b.yaml", "", "x") + "-- setup.sh --\nkubectl apply -f apps/b.yaml\n", 0},
		{"an encrypted file", listed + object("apps/b.yaml", "", "x") + "sops: {mac: x}\n", 0},
		{"values", listed + "-- apps/values.yaml --\nreplicas: 1\n", 0},
		{"an object for tools", listed + object("apps/b.yaml", ", annotations: {config.kubernetes.io/local-config: 'true'}", "x"), 0},
		{"a folder that is switched off", listed + "-- off/kustomization.yaml --\nresources: [a.yaml]\n" + object("off/a.yaml", "", "x") + object("off/b.yaml", "", "x"), 0},
		{"a cluster for tests", strings.ReplaceAll(fluxSync+kustomization("apps"), "./apps", "./clusters/test/apps") +
			"-- clusters/test/apps/kustomization.yaml --\nresources: [a.yaml]\n" + object("clusters/test/apps/a.yaml", "", "x") + object("clusters/test/apps/b.yaml", "", "x"), 1},
		{"documentation", strings.ReplaceAll(kustomization("apps"), "clusters/prod", "docs/prod") + "-- docs/prod/kustomization.yaml --\nresources: [apps.yaml]\n" +
			object("docs/prod/b.yaml", "", "x") + object("apps/a.yaml", "", "x"), 0},
	} {
		if found := ruletest.Find(t, OrphanFile, c.files); len(found) != c.want {
			t.Errorf("%s: %d findings, want %d: %+v", c.name, len(found), c.want, found)
		}
	}
}

// release is a HelmRelease of a chart in the repository that makes a ConfigMap a with a value.
func release(name, value, spec string) string {
	return "-- " + name + "/release.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: default}\nspec:\n" +
		"  interval: 1h\n  chart: {spec: {chart: charts/" + name + ", sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}\n" + spec +
		"-- charts/" + name + "/Chart.yaml --\napiVersion: v2\nname: " + name + "\nversion: 1.0.0\n" +
		"-- charts/" + name + "/templates/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: " + value + "}\n" +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {a: " + value + "}\n" +
		"-- charts/" + name + "/crds/crd.yaml --\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n"
}

// What a chart renders has its Helm release as an owner, and definitions in a crds folder none.
func TestDuplicatesOfReleases(t *testing.T) {
	t.Parallel()
	two := fluxSync + kustomization("blue") + kustomization("green")
	crd := "-- blue/crd.yaml --\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\nspec: {}\n"
	for _, c := range []struct {
		name, files string
		want        []string
	}{
		{"a Kustomization's", two + object("blue/a.yaml", "", "x") + crd + release("green", "y", ""),
			[]string{"green/release.yaml:1: error: ConfigMap default/a is applied by Kustomization flux-system/blue and HelmRelease default/green, first at blue/a.yaml:1, in what HelmRelease default/green renders from green/templates/a.yaml"}},
		{"the same content", two + object("blue/a.yaml", "", "y") + release("green", "y", ""),
			[]string{"green/release.yaml:1: warning: ConfigMap default/a is applied by Kustomization flux-system/blue and HelmRelease default/green, first at blue/a.yaml:1, in what HelmRelease default/green renders from green/templates/a.yaml"}},
		{"another release's", two + release("blue", "x", "") + release("green", "y", ""),
			[]string{"green/release.yaml:1: error: ConfigMap default/a is applied by HelmRelease default/blue and HelmRelease default/green, first at blue/release.yaml:1 (and 1 more object with it), in what HelmRelease default/green renders from green/templates/a.yaml"}},
		{"one that is suspended", two + object("blue/a.yaml", "", "x") + release("green", "y", "  suspend: true\n"), nil},
		{"another namespace's", two + object("blue/a.yaml", "", "x") + release("green", "y", "  targetNamespace: other\n"), nil},
		{"another cluster's", two + object("blue/a.yaml", "", "x") + release("green", "y", "  kubeConfig: {secretRef: {name: x}}\n"), nil},
		{"one Kustomization's, in two versions", two + "-- blue/a.yaml --\napiVersion: networking.istio.io/v1beta1\nkind: Gateway\nmetadata: {name: a, namespace: default}\n---\napiVersion: networking.istio.io/v1alpha3\nkind: Gateway\nmetadata: {name: a, namespace: default}\n",
			[]string{"blue/a.yaml:6: warning: Gateway default/a is applied by Kustomization flux-system/blue twice, first at blue/a.yaml:1"}},
		{"one release, twice", two + release("blue", "x", "") + strings.Replace(release("blue", "x", ""), "blue/release", "green/release", 1),
			[]string{"green/release.yaml:2: warning: HelmRelease default/blue is applied by Kustomizations flux-system/blue and flux-system/green, first at blue/release.yaml:1"}},
	} {
		var got []string
		for _, f := range ruletest.Find(t, Duplicate, c.files) {
			got = append(got, fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Severity, f.Message))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// A folder with a file that a person applies, which defines the source of its Kustomizations, is not applied as a whole.
// Reproduces: the bootstraps of workload clusters in deepak-muley/dm-nkp-gitops-infra.
func TestAppliedByHand(t *testing.T) {
	t.Parallel()
	const bootstrap = "-- edge/bootstrap.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: edge}\nspec: {url: https://example.com/fleet}\n---\n" +
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: edge}\nspec: {interval: 1h, prune: true, path: ./base, sourceRef: {kind: GitRepository, name: fleet}}\n"
	files := bootstrap + object("base/a.yaml", "", "x") + "-- base/kustomization.yaml --\nresources: [a.yaml]\n-- edge/apps/kustomization.yaml --\nresources: [../../base]\n"
	if found := ruletest.Find(t, Duplicate, files); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if found := ruletest.Find(t, Duplicate, files+"-- edge/kustomization.yaml --\nresources: [bootstrap.yaml, apps]\n"); len(found) != 1 {
		t.Errorf("a folder with a kustomization: %+v", found)
	}
}
