package ownership

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// rules are those of the package.
var rules = []rule.Rule{Duplicate, OrphanFile}

func TestExamples(t *testing.T) {
	for _, r := range rules {
		t.Run(r.ID, func(t *testing.T) { ruletest.Examples(t, r, rules) })
	}
}

// object is a file with a ConfigMap.
func object(file, metadata, value string) string {
	return "-- " + file + " --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default" + metadata + "}\ndata: {a: " + value + "}\n"
}

func TestDuplicates(t *testing.T) {
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

// Many owners of one object are one finding, and so is a base that two share.
func TestDuplicatesTogether(t *testing.T) {
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
		{"documentation", fluxSync + strings.ReplaceAll(kustomization("apps"), "./apps", "./docs/apps") + "-- docs/apps/kustomization.yaml --\nresources: [a.yaml]\n" +
			object("docs/apps/a.yaml", "", "x") + object("docs/apps/b.yaml", "", "x"), 0},
	} {
		if found := ruletest.Find(t, OrphanFile, c.files); len(found) != c.want {
			t.Errorf("%s: %d findings, want %d: %+v", c.name, len(found), c.want, found)
		}
	}
}
