package roots_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// What a cluster starts from that no Kustomization in Git syncs as flux bootstrap writes it.
// Reproduces: darioblanco/gitops, devantler-tech/platform, github-csat/github-csat,
// Portfolio-Solver-Platform/infrastructure and bornav/fluxcd.
func TestRootsWithoutASyncOfTheirOwn(t *testing.T) {
	ks := func(file, name, at string, kind ...string) string {
		return "-- " + file + " --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
			"spec: {path: '" + at + "', sourceRef: {kind: " + append(kind, "GitRepository")[0] + ", name: flux-system}}\n"
	}
	source := "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: NAME, namespace: flux-system}\nspec: {url: https://example.com/fleet}\n"
	sync := func(dir string) string {
		return ks(dir+"/flux-system/gotk-sync.yaml", "flux-system", "./"+dir) + strings.Replace(source, "NAME", "flux-system", 1)
	}
	namespace := func(file string) string {
		return "-- " + file + " --\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"
	}
	prepared := "-- clusters/next/flux-system/kustomization.yaml --\nresources: [gotk-components.yaml, gotk-sync.yaml]\n-- clusters/next/flux-system/gotk-sync.yaml --\n# flux bootstrap writes this file.\n"
	base := "-- k8s/clusters/base/kustomization.yaml --\nresources: [apps.yaml]\n" + ks("k8s/clusters/base/apps.yaml", "apps", "apps/__CLUSTER__", "OCIRepository") +
		"-- k8s/clusters/prod/kustomization.yaml --\nresources: [../base]\n-- k8s/clusters/test/kustomization.yaml --\nresources: [../base]\n" + namespace("k8s/apps/prod/a.yaml")
	for name, c := range map[string]struct{ files, want string }{
		"prepared for flux bootstrap": {sync("clusters/now") + prepared + ks("clusters/next/apps.yaml", "apps", "./apps"), "clusters/next in ., clusters/now in ."},
		"prepared in an example": {ks("clusters/now/apps.yaml", "apps", "./apps") + strings.ReplaceAll(prepared, "clusters/next", "docs/examples/next") +
			ks("docs/examples/next/apps.yaml", "apps", "./apps"), "clusters/now in ., docs/examples/next in ."},
		"prepared without a Kustomization":         {sync("clusters/now") + prepared, "clusters/now in ."},
		"prepared, and not listed":                 {sync("clusters/now") + strings.Replace(prepared, ", gotk-sync.yaml", "", 1) + ks("clusters/next/apps.yaml", "apps", "./apps"), "clusters/now in ."},
		"a base and its overlays, of an artifact":  {base, "k8s/clusters/prod in k8s, k8s/clusters/test in k8s"},
		"a base without overlays, of the artifact": {strings.ReplaceAll(base, "[../base]", "[]"), "k8s/clusters/base in k8s"},
		"an artifact of folders":                   {ks("flux/cluster/ks.yaml", "apps", "apps", "OCIRepository") + namespace("flux/apps/a.yaml"), "flux/cluster in flux"},
		"an artifact of folders, one of them with its name": {ks("flux/cluster/ks.yaml", "apps", "apps", "OCIRepository") + ks("flux/cluster/flux.yaml", "flux", "flux", "OCIRepository") + ks("flux/cluster/db.yaml", "db", "db", "OCIRepository") +
			namespace("flux/apps/a.yaml") + namespace("flux/flux/a.yaml") + namespace("flux/db/a.yaml"), "flux/cluster in flux"},
		"folders of the repository itself": {ks("flux/cluster/ks.yaml", "apps", "apps", "OCIRepository") + namespace("flux/apps/a.yaml") + namespace("apps/a.yaml"), "flux/cluster in ."},
		"prepared in a folder that is the repository": {strings.ReplaceAll(prepared, "clusters/next", "k8s/clusters/next") + ks("k8s/clusters/next/apps.yaml", "apps", "./apps/next") + namespace("k8s/apps/next/a.yaml"),
			"k8s/clusters/next in k8s"},
		"prepared, with artifacts of another":   {prepared + ks("clusters/next/apps.yaml", "apps", "./next", "ExternalArtifact") + namespace("apps/next/a.yaml"), "clusters/next in ."},
		"a path that a script fills in":         {sync("clusters/now") + strings.Replace(ks("scripts/sync.yaml", "flux-system", "<path>"), "./", "", 1) + strings.Replace(source, "NAME", "flux-system", 1), "clusters/now in ."},
		"a sync that nothing lists, by kubectl": {ks("overlays/prod/sync.yaml", "flux-system", "./overlays/prod") + "-- overlays/prod/kustomization.yaml --\nresources: [a.yaml]\n" + namespace("overlays/prod/a.yaml"), "overlays/prod in ."},
		"one of another folder":                 {ks("overlays/prod/sync.yaml", "flux-system", "./overlays/test") + "-- overlays/prod/kustomization.yaml --\nresources: [a.yaml]\n" + namespace("overlays/prod/a.yaml"), ""},
	} {
		var got []string
		for _, r := range roots.Find(ruletest.Load(t, c.files), nil) {
			got = append(got, r.Path+" in "+r.Base)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
	instance := "-- values.yaml --\ninstance: {sync: {kind: GitRepository, url: https://example.com/fleet, path: clusters/now}}\n"
	own := strings.Replace(ks("clusters/now/sync.yaml", "cluster", "./clusters/now"), "name: flux-system}}", "name: fleet}}", 1) + strings.Replace(source, "NAME", "fleet", 1)
	found := roots.Find(ruletest.Load(t, own+instance), nil)
	if len(found) != 1 || found[0].Source.Name != "fleet" || fmt.Sprint(found[0].Synced) != "[{GitRepository flux-system flux-system}]" {
		t.Errorf("a folder that two sync: got %+v", found)
	}
}
