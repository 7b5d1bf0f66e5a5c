package bootstrap

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

const unapplied = `-- helmfile.yaml --
releases:
  - {name: app, namespace: a, chart: charts/app, version: 1.0.0}
-- clusters/eu/apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./apps, sourceRef: {kind: GitRepository, name: flux-system}}
-- apps/kustomization.yaml --
resources: [other.yaml]
-- apps/other.yaml --
apiVersion: v1
kind: Namespace
metadata: {name: a}
-- extra/kustomization.yaml --
resources: [app.yaml]
-- extra/app.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: a}
spec:
  chart: {spec: {chart: app, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}}
`

// TestUnapplied says of a release that Flux leaves it alone where its HelmRelease is in no cluster
// of those that are known in full.
func TestUnapplied(t *testing.T) {
	for _, test := range []struct {
		name, repo string
		want       TakeOver
	}{
		{"left out", unapplied, NotTaken},
		{"applied", strings.Replace(unapplied, "[other.yaml]", "[other.yaml, ../extra]", 1), Adopt},
		{"not known", strings.Replace(unapplied, "[other.yaml]", "[other.yaml, 'https://example.com/all.yaml']", 1), Adopt},
		{"of no cluster", strings.Replace(unapplied, "clusters/eu/apps.yaml", "readme.yaml", 1), Adopt},
	} {
		t.Run(test.name, func(t *testing.T) {
			repo := testarchive.Repository(t, txtar.Parse([]byte(test.repo)))
			steps, err := Plan(t.Context(), repo, Fetched{})
			if err != nil {
				t.Fatal(err)
			}
			report, err := Verify(t.Context(), repo, nil)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := report.WriteText(&out, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			noted := strings.Contains(out.String(), "as extra/app.yaml:1 (which no cluster applies)")
			if len(steps) != 1 || steps[0].TakeOver != test.want || noted != (test.want == NotTaken) || report.Summary.Agrees != 1 {
				t.Errorf("got %+v\n%s", steps, &out)
			}
		})
	}
}

// TestVariablesOfWhatIsNotBuilt: a HelmRelease whose Kustomization lacks its source is read from its
// folder, where a variable is no value to compare.
func TestVariablesOfWhatIsNotBuilt(t *testing.T) {
	const substitute = "path: ./apps, postBuild: {substitute: {HOST: example.com}},"
	apps := strings.NewReplacer("[other.yaml]", "[other.yaml, ../extra]", "chart: charts/app, version: 1.0.0}", "chart: charts/app, version: 1.0.0, values: [{host: example.com}]}",
		"path: ./apps,", substitute).Replace(unapplied) + "  values: {host: '${HOST}'}\n"
	// Its parent is built, and brings it.
	parent := strings.NewReplacer("clusters/eu/apps.yaml", "more/apps.yaml").Replace(apps) + `-- clusters/eu/more.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: more, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./more, sourceRef: {kind: GitRepository, name: flux-system}}
`
	missing := strings.Replace(parent, substitute+" sourceRef: {kind: GitRepository, name: flux-system}", substitute+" sourceRef: {kind: GitRepository, name: gone}", 1)
	for _, test := range []struct {
		name, repo string
		want       string
	}{
		{"built", parent, "1 release: 1 agrees"},
		{"without its source", missing, "1 release: 1 unresolved"},
		{"without its source, and with a value that differs", strings.Replace(missing, "'${HOST}'", "example.org", 1), "1 release: 1 drifts"},
	} {
		report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(test.repo))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Summary.String(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
