package roots_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// source and sync are a GitRepository and a Kustomization that applies a path from it.
func source(name, url string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {interval: 1m, url: " + url + "}\n"
}

func sync(name, at, from string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec: {interval: 1h, prune: true, path: " + at + ", sourceRef: {kind: GitRepository, name: " + from + "}}\n"
}

func pathsOf(t *testing.T, files string) string {
	t.Helper()
	var got []string
	for _, r := range roots.Find(ruletest.Load(t, files), []string{fleetURL}) {
		got = append(got, r.Path)
	}
	return strings.Join(got, ", ")
}

const fleetURL = "https://example.com/fleet"

// A folder that kubectl applies once, with the cluster's source and the first Kustomization, is a cluster's also beside
// one that syncs its own folder.
// Reproduces: k8s/clusters/cluster-0 of tvories/k8s-gitops.
func TestFoldersAppliedOnce(t *testing.T) {
	nas := "-- nas/flux/cluster.yaml --\n" + source("fleet", fleetURL) + "---\n" + sync("cluster", "./nas/flux", "fleet")
	once := "-- c0/kustomization.yaml --\nresources: [./git/fleet.yaml, ./deploy.yaml]\n-- c0/git/fleet.yaml --\n" + source("fleet", fleetURL) +
		"-- c0/deploy.yaml --\n" + sync("deploy", "./c0/flux", "fleet") + "-- c0/flux/apps.yaml --\n" + sync("apps", "./c0/apps", "fleet") + "-- c0/apps/a.yaml --\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"
	for name, c := range map[string]struct{ files, want string }{
		"beside a sync of its own":     {nas + once, "c0, nas/flux"},
		"of another repository":        {nas + strings.ReplaceAll(once, fleetURL, "https://example.com/team"), "nas/flux"},
		"without its source":           {nas + strings.Replace(once, "./git/fleet.yaml, ", "", 1), "nas/flux"},
		"without a folder of its own":  {nas + strings.Replace(once, "./c0/flux", "./other", 1), "nas/flux"},
		"part of another folder":       {nas + once + "-- all/kustomization.yaml --\nresources: [../c0]\n", "nas/flux"},
		"in the folder of another one": {strings.ReplaceAll(nas, "nas/flux", "nas") + strings.ReplaceAll(once, "c0", "nas/c0"), "nas"},
		"a template":                   {nas + strings.ReplaceAll(once, "c0", "templates/c0"), "nas/flux"},
	} {
		if got := pathsOf(t, c.files); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// What starts no cluster: a patch, what a script fills in, and the sync of a whole other repository.
// Reproduces: loicgo29/nudger-gitops, Algeran/mirantis-project2a-fluxcd and nostra/gitops-fluxcd2.
func TestNoRoots(t *testing.T) {
	const patch = "-- clusters/_global/patch.yaml --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: PLACEHOLDER, namespace: flux-system}\nspec: {sourceRef: {kind: GitRepository, name: fleet}}\n"
	prod := "-- clusters/prod/flux-system/gotk-sync.yaml --\n" + source("fleet", fleetURL) + "---\n" + sync("flux-system", "./clusters/prod", "flux-system") +
		"-- clusters/prod/flux-system/kustomization.yaml --\nresources: [../../prod]\n-- clusters/prod/kustomization.yaml --\nresources: [apps.yaml]\n" +
		"-- clusters/prod/apps.yaml --\n" + sync("apps", "./apps", "fleet") + "-- apps/a.yaml --\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"
	filled := strings.ReplaceAll("-- flux/management/hmc.yaml --\n"+source("$NAME", fleetURL)+"---\n"+sync("app", "./management/app", "$NAME"), "namespace: flux-system", "namespace: $NS")
	whole := "-- flux/system/sync.yaml --\n" + source("flux-system", "https://example.com/other") + "---\n" + sync("flux-system", "./", "flux-system")
	app := func(at, from string) string {
		return "-- apps/app.yaml --\n" + sync("app", at, from) + "-- apps/app/a.yaml --\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n"
	}
	for name, c := range map[string]struct{ files, want string }{
		"a patch beside the sync of a cluster":     {prod + patch, "clusters/prod"},
		"and a kustomization that lists the sync":  {strings.Replace(prod, "[../../prod]", "[gotk-sync.yaml]", 1) + patch, "clusters/prod"},
		"and another file with the source":         {prod + patch + "-- scripts/all.yaml --\n" + source("flux-system", fleetURL), "clusters/prod"},
		"variables of envsubst":                    {filled, ""},
		"variables of envsubst in braces":          {strings.NewReplacer("$NAME", "${NAME}", "$NS", "${NS}").Replace(filled), ""},
		"the sync of another repository":           {whole, ""},
		"the sync of this one":                     {strings.Replace(whole, "https://example.com/other", fleetURL, 1), "."},
		"the sync of this one as an artifact":      {strings.ReplaceAll(strings.Replace(whole, "https:", "oci:", 1), "GitRepository", "OCIRepository"), "."},
		"the sync of a mirror":                     {whole + app("./apps/app", "flux-system"), "."},
		"the sync of another one, with its paths":  {whole + app("./other", "flux-system"), "apps"},
		"a mirror's, beside the sync of this one":  {whole + app("./apps/app", "flux-system") + "-- prod/flux.yaml --\n" + source("fleet", fleetURL) + "---\n" + sync("prod", "./prod", "fleet"), "prod"},
		"the sync of this one by an earlier name":  {strings.Replace(whole, "flux/system/", "flux/flux-system/", 1), "."},
		"the sync of this one, of an unlisted one": {whole + "-- flux/system/kustomization.yaml --\nresources: [a.yaml]\n", ""},
	} {
		if got := pathsOf(t, c.files); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
