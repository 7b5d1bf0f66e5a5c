package bootstrap

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// twoClusters have a HelmRelease each, of different versions.
const twoClusters = `-- bootstrap/staging/helmfile.yaml --
releases:
  - {name: app, namespace: a, chart: charts/app, version: 1.0.0}
-- clusters/staging/apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./apps/staging, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/production/apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {interval: 1h, prune: true, path: ./apps/production, sourceRef: {kind: GitRepository, name: flux-system}}
-- apps/staging/kustomization.yaml --
resources: [app.yaml]
-- apps/staging/app.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: a}
spec:
  chart: {spec: {chart: app, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}}
-- apps/production/app.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: app, namespace: a}
spec:
  chart: {spec: {chart: app, version: 2.0.0, sourceRef: {kind: HelmRepository, name: charts}}}
`

// TestHiddenIsNotAnotherClusters: what a build that fails hides is unresolved, and not compared
// with what another cluster has.
func TestHiddenIsNotAnotherClusters(t *testing.T) {
	failing := strings.Replace(twoClusters, "[app.yaml]", "[gone.yaml]", 1)
	renamed := strings.Replace(failing, "apps/staging/app.yaml --", "apps/staging/app.txt --", 1)
	for _, c := range []struct {
		name, files string
		want        Verdict
		reason      string
	}{
		{"it builds", twoClusters, Agrees, ""},
		{"its file is there", strings.Replace(twoClusters, "[app.yaml]", "[app.yaml, gone.yaml]", 1), Agrees, ""},
		{"its file is gone", renamed, Unresolved, `Kustomization flux-system/apps of the cluster staging, which may apply its HelmRelease, cannot be built: resources: "gone.yaml" doesn't exist`},
		{"its files are not at hand", strings.Replace(renamed, "path: ./apps/staging, sourceRef: {kind: GitRepository, name: flux-system}", "path: ./, sourceRef: {kind: OCIRepository, name: apps}", 1) +
			"-- clusters/staging/source.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: apps, namespace: flux-system}\nspec: {interval: 1h, url: oci://example.com/apps}\n---\n" +
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: rest, namespace: flux-system}\nspec: {path: ./rest, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n" +
			"-- rest/a.yaml --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", Unresolved,
			"Kustomization flux-system/apps of the cluster staging could not be fully built: its source OCIRepository flux-system/apps is another repository, branch or artifact; run fleetwright fetch, or check it out and pass --source flux-system/apps=DIR"},
		{"its file in another cluster's folder, which fails, too", strings.ReplaceAll(renamed, "path: ./apps/production", "path: ./apps/gone"), Unresolved,
			`Kustomization flux-system/apps of the cluster staging, which may apply its HelmRelease, cannot be built: resources: "gone.yaml" doesn't exist`},
	} {
		report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(c.files))), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Releases[0]; got.Verdict != c.want || got.Reason != c.reason {
			t.Errorf("%s: got %s, %s, %s", c.name, got.Verdict, got.HelmRelease, got.Reason)
		}
	}
}
