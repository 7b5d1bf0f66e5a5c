package flux

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// A Kustomization whose source is missing is told once, where that is certain: not what it would
// bring, and nothing of files that its path happens to name.
func TestKustomizationsWithoutASource(t *testing.T) {
	t.Parallel()
	source := func(name, more string) string {
		return strings.ReplaceAll(kustomization(name, more), "kind: GitRepository\n    name: flux-system", "kind: GitRepository\n    name: wrong")
	}
	repositories := strings.ReplaceAll(podinfoSource, "clusters/prod", "charts/all")
	tenant := strings.ReplaceAll(strings.ReplaceAll(elsewhere("team", ""), "clusters/prod", "apps/a"), "name: team}\n", "name: taem}\n")
	for _, c := range []struct{ name, files, found, open string }{
		{"of a parent that brings the sources of charts", fluxSync + source("charts", "") + repositories + podinfoIn("a", "") + podinfoIn("b", ""),
			"clusters/prod/charts.yaml:12", "clusters/prod/a.yaml:10"},
		{"whose files don't hold the sources of charts", fluxSync + strings.ReplaceAll(source("charts", ""), "./charts", "./charts/all") + strings.ReplaceAll(repositories, "name: podinfo", "name: other") + podinfoIn("a", ""),
			"clusters/prod/a.yaml:10 clusters/prod/charts.yaml:12", ""},
		{"of two that don't wait for each other", fluxSync + source("charts", "") + strings.ReplaceAll(source("other", ""), "name: wrong", "name: none") + repositories,
			"clusters/prod/charts.yaml:12 clusters/prod/other.yaml:12", ""},
		{"of one that another one's files hold", fluxSync + source("charts", "") + strings.ReplaceAll(kustomization("apps", ""), "name: flux-system\n", "name: podinfo\n") +
			strings.ReplaceAll(repositories, "OCIRepository", "GitRepository"),
			"clusters/prod/charts.yaml:12", "clusters/prod/apps.yaml:12"},
		{"where the sync is not in Git", apps("") + podinfoNamespace + tenant, "apps/a/team.yaml:17", ""},
		{"where the sync is not in Git, by the sync's namespace", apps("") + podinfoNamespace + source("infra", ""), "", "clusters/prod/infra.yaml:12"},
		{"whose path tells that this repository is meant", apps("") + podinfoNamespace + strings.ReplaceAll(source("infra", ""), "./infra", "./infra/prod") + "-- infra/prod/a.yaml --\n",
			"clusters/prod/infra.yaml:12", ""},
	} {
		findings, unresolved := ruletest.Run(t, SourceMissing, c.files)
		var found, open []string
		for _, f := range findings {
			found = append(found, fmt.Sprintf("%s:%d", f.File, f.Line))
		}
		for _, u := range unresolved {
			open = append(open, fmt.Sprintf("%s:%d", u.File, u.Line))
		}
		if got := strings.Join(found, " "); got != c.found {
			t.Errorf("%s: found %q, want %q", c.name, got, c.found)
		}
		if got := strings.Join(open, " "); got != c.open {
			t.Errorf("%s: left open %q, want %q", c.name, got, c.open)
		}
	}
}

// TestTypoOfTheRootsSource: the source of the root need not be in the repository, and a typo of its name is none.
func TestTypoOfTheRootsSource(t *testing.T) {
	t.Parallel()
	apps := kustomization("apps", "") + "-- apps/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n"
	other := strings.ReplaceAll(kustomization("other", ""), "kind: GitRepository\n    name: flux-system", "kind: GitRepository\n    name: NAME")
	for name, want := range map[string]int{"flux-system": 0, "flux-ystem": 1, "fluxsystem": 1, "team-source": 0} {
		found := ruletest.Find(t, SourceMissing, apps+strings.ReplaceAll(other, "NAME", name))
		if len(found) != want {
			t.Errorf("%s: %d findings, want %d: %v", name, len(found), want, found)
		}
	}
}
