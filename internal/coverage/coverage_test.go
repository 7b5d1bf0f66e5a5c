package coverage_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/coverage"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

const sync = `-- clusters/prod/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`

// ks is a Kustomization in a file.
func ks(file, name, path, more string) string {
	return "-- " + file + " --\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
		"spec: {interval: 10m, path: " + path + ", prune: true, sourceRef: {kind: GitRepository, name: flux-system}" + more + "}\n"
}

// hr is a HelmRelease in a file.
func hr(file, name string) string {
	return "-- " + file + " --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: apps}\n" +
		"spec: {interval: 10m, chart: {spec: {chart: x, sourceRef: {kind: HelmRepository, name: x}}}}\n"
}

func of(t *testing.T, files, cluster string) *finding.Coverage {
	t.Helper()
	return ofRepo(t, ruletest.Load(t, files), cluster)
}

func ofRepo(t *testing.T, repo *repository.Repository, cluster string) *finding.Coverage {
	t.Helper()
	fleet, err := reconcile.Reconcile(t.Context(), repo, reconcile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := coverage.Of(repo, fleet, cluster)
	check(t, c.Covered)
	for _, one := range c.Clusters {
		check(t, one.Covered)
	}
	return c
}

// check holds the sum: what is found is built, rendered or named as unreached.
func check(t *testing.T, c finding.Covered) {
	t.Helper()
	if found, told := c.Kustomizations.Found+c.HelmReleases.Found, c.Kustomizations.Built+c.HelmReleases.Rendered+len(c.Unreached); found != told {
		t.Errorf("%d are found, and %d built, rendered or unreached", found, told)
	}
}

// unreached are the names and causes of what is not reached.
func unreached(c finding.Covered) string {
	var all []string
	for _, u := range c.Unreached {
		all = append(all, u.Object.Name+":"+u.Cause)
	}
	return strings.Join(all, " ")
}

func TestOf(t *testing.T) {
	for name, c := range map[string]struct{ files, figures, unreached string }{
		"all built": {sync + ks("clusters/prod/apps.yaml", "apps", "./apps", "") + hr("apps/x.yaml", "x"),
			"2 of 2 Kustomizations built, 0 of 1 HelmRelease rendered", "x:chart-not-available"},
		"not listed": {sync + "-- clusters/prod/kustomization.yaml --\nresources: [flux-system/gotk-sync.yaml]\n" + ks("clusters/prod/apps.yaml", "apps", "./apps", "") + hr("apps/x.yaml", "x"),
			"1 of 2 Kustomizations built, 0 of 1 HelmRelease rendered", "x:not-applied apps:unlisted"},
		"neighbours of what fails": {sync + ks("clusters/prod/all.yaml", "all", "./all", "") + "-- all/kustomization.yaml --\nresources: [a.yaml, bs.yaml, c]\n" + ks("all/a.yaml", "a", "./a", "") +
			"-- all/c/kustomization.yaml --\nresources: [c.yaml, no]\n" + ks("all/c/c.yaml", "c", "./a", "") + "-- a/kustomization.yaml --\nresources: [\"https://example.com/x.yaml\", x.yaml]\n" + hr("a/x.yaml", "x"),
			"3 of 4 Kustomizations built, 0 of 1 HelmRelease rendered", "x:chart-not-available all:build-failed"},
		"fails": {sync + ks("clusters/prod/apps.yaml", "apps", "./apps", "") + "-- apps/kustomization.yaml --\nresources: [x.yaml, x.yaml]\n" + hr("apps/x.yaml", "x"),
			"1 of 2 Kustomizations built, 0 of 1 HelmRelease rendered", "x:chart-not-available apps:build-failed"},
		"in the folder of what fails": {sync + ks("clusters/prod/apps.yaml", "apps", "./apps", "") + "-- apps/kustomization.yaml --\nresources: [x.yaml]\n-- apps/kustomization.yml --\nresources: [x.yaml]\n" + hr("apps/x.yaml", "x"),
			"1 of 2 Kustomizations built, 0 of 1 HelmRelease rendered", "x:parent-not-built apps:build-failed"},
		"another source": {sync + ks("clusters/prod/apps.yaml", "apps", "./apps, suspend: true", "") + strings.Replace(ks("clusters/prod/team.yaml", "team", "./team", ""), "name: flux-system}}", "name: team}}", 1) + "-- apps/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
			"2 of 3 Kustomizations built", "team:source-not-available"},
		"another cluster": {sync + ks("clusters/prod/apps.yaml", "apps", "./apps", ", kubeConfig: {secretRef: {name: c}}") + ks("apps/sub.yaml", "sub", "./sub", "") + hr("apps/x.yaml", "x"),
			"2 of 3 Kustomizations built, 0 of 1 HelmRelease rendered", "sub:other-cluster x:other-cluster"},
		"another cluster that starts here": {sync + ks("clusters/prod/dev.yaml", "dev", "./clusters/dev/flux-system", ", kubeConfig: {secretRef: {name: c}}") +
			strings.ReplaceAll(sync, "clusters/prod", "clusters/dev"), "3 of 3 Kustomizations built", ""},
		"a copy of the sync": {strings.ReplaceAll(sync, "-- clusters/prod/", "-- base/") + "-- base/kustomization.yaml --\nresources: [flux-system/gotk-sync.yaml]\n-- clusters/prod/kustomization.yaml --\nresources: [../../base]\n" + sync,
			"1 of 1 Kustomization built", ""},
		"set aside": {sync + ks("examples/apps.yaml", "a", "./a", "") + ks("x/archive/apps.yaml", "b", "./a", "") + ks("templates/apps.yaml", "c", "./a", "") + ks("test/apps.yaml", "d", "./a", "") + ks("_disabled/apps.yaml", "e", "./a", ""),
			"1 of 1 Kustomization built", ""},
		"an example that is applied": {sync + ks("clusters/prod/apps.yaml", "apps", "./examples", "") + ks("examples/sub.yaml", "sub", "./none", ""),
			"2 of 3 Kustomizations built", "sub:build-failed"},
		"patches and parts": {sync + "-- clusters/prod/kustomization.yaml --\nresources: [flux-system/gotk-sync.yaml]\npatches: [{path: p.yaml}]\n" + ks("clusters/prod/p.yaml", "flux-system", "./clusters/prod", "") +
			"-- parts/x.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: x}\nspec: {interval: 1h}\n",
			"1 of 1 Kustomization built", ""},
		"switched off": {sync + "-- clusters/prod/kustomization.yaml --\nresources:\n- flux-system/gotk-sync.yaml\n- apps.yaml\n" + ks("clusters/prod/apps.yaml", "apps", "./apps", "") +
			"-- apps/kustomization.yaml --\nresources:\n- a.yaml\n  #- ./b/ks.yaml\n# - c # later\n# see d/ks.yaml\n-- apps/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" +
			ks("apps/b/ks.yaml", "b", "./base/b", "") + hr("base/b/x.yaml", "x") + ks("apps/c/ks.yaml", "c", "./base/c", "") + ks("apps/d/ks.yaml", "d", "./base/d", ""),
			"2 of 3 Kustomizations built, 0 of 4", "d:not-applied"},
		"copied by an ArtifactGenerator": {sync + "-- clusters/prod/generator.yaml --\napiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: all, namespace: flux-system}\n" +
			"spec: {sources: [{alias: repo, kind: GitRepository, name: flux-system}], artifacts: [{name: apps, copy: [{from: \"@repo/apps/**\", to: \"@artifact/\"}]}]}\n" +
			strings.Replace(ks("clusters/prod/apps.yaml", "apps", "./prod", ""), "GitRepository, name: flux-system", "ExternalArtifact, name: apps", 1) + hr("apps/prod/x.yaml", "x"),
			"2 of 2 Kustomizations built, 0 of 1 HelmRelease rendered", "x:chart-not-available"},
		"no cluster": {hr("apps/x.yaml", "x"), "0 of 1 HelmRelease rendered", "x:no-cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			got := of(t, c.files, "")
			if !strings.HasPrefix(got.String(), c.figures) || unreached(got.Covered) != c.unreached {
				t.Errorf("got %s, unreached %q; want %s, %q", got, unreached(got.Covered), c.figures, c.unreached)
			}
		})
	}
}

// What is switched off is counted beside what is found, and a hint names no folder in what a cluster applies as a root.
// TestUnreadable: a build that needs a file which the operating system keeps back is not reached for that reason.
func TestUnreadable(t *testing.T) {
	repo := ruletest.Load(t, sync+ks("clusters/prod/apps.yaml", "apps", "./apps", "")+"-- apps/a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	f, _ := repo.File("apps/a.yaml")
	f.Err = &repository.Error{Reason: repository.Unreadable, Path: f.Path, Message: "cannot be read: permission denied"}
	if got := unreached(ofRepo(t, repo, "").Covered); got != "apps:unreadable" {
		t.Errorf("not reached are %q", got)
	}
}

func TestSwitchedOff(t *testing.T) {
	c := of(t, sync+"-- clusters/prod/kustomization.yaml --\nresources:\n- flux-system/gotk-sync.yaml\n# - b.yaml\n"+ks("clusters/prod/b.yaml", "b", "./b", "")+hr("b/x.yaml", "x")+
		ks("clusters/prod/left/d.yaml", "d", "./d", "")+ks("e/f.yaml", "f", "./f", ""), "")
	if c.Kustomizations.SwitchedOff != 1 || c.HelmReleases.SwitchedOff != 1 || c.Kustomizations.Found != 3 || c.HelmReleases.Found != 0 {
		t.Errorf("got %+v %+v", c.Kustomizations, c.HelmReleases)
	}
	if hint := c.Causes[0].Hint; !strings.HasSuffix(hint, "pass --root e") {
		t.Errorf("got the hint %q", hint)
	}
}

// The hint names the sources that are missing.
func TestSourceHint(t *testing.T) {
	files := sync
	for _, name := range []string{"a", "b", "c", "d", "a2"} {
		files += strings.Replace(ks("clusters/prod/"+name+".yaml", name, "./x", ""), "name: flux-system}}", "name: "+name[:1]+"}}", 1)
	}
	if hint, want := of(t, files, "").Causes[0].Hint, "run fleetwright fetch, or check them out and pass --source flux-system/a=DIR, --source flux-system/b=DIR, --source flux-system/c=DIR (and 1 more)"; hint != want {
		t.Errorf("got %q, want %q", hint, want)
	}
}

func TestOfClusters(t *testing.T) {
	two := sync + strings.ReplaceAll(sync, "clusters/prod", "clusters/dev") + ks("clusters/prod/apps.yaml", "apps", "./apps", "") + ks("clusters/dev/apps.yaml", "apps", "./apps", "") +
		hr("apps/x.yaml", "x") + "-- clusters/dev/more/kustomization.yaml --\nresources: []\n" + ks("clusters/dev/more/left.yaml", "left", "./left", "") + ks("other/lost.yaml", "lost", "./lost", "")
	c := of(t, two, "")
	// A base that both clusters apply counts once.
	if c.Kustomizations.Found != 6 || c.Kustomizations.Built != 4 || c.HelmReleases.Found != 1 || c.HelmReleases.Applied != 1 {
		t.Errorf("got %+v %+v", c.Kustomizations, c.HelmReleases)
	}
	names := ""
	for _, one := range c.Clusters {
		names += one.Cluster + "(" + unreached(one.Covered) + ")"
	}
	if want := "dev(x:chart-not-available left:unlisted)prod(x:chart-not-available)(lost:not-applied)"; names != want {
		t.Errorf("got %s, want %s", names, want)
	}
	for _, cause := range c.Causes {
		if cause.Cause == "not-applied" && !strings.Contains(cause.Hint, "--root other") {
			t.Errorf("the hint does not name the folder: %s", cause.Hint)
		}
	}
	if c := of(t, two, "prod"); len(c.Clusters) != 1 || c.Kustomizations.Found != 2 || unreached(c.Covered) != "x:chart-not-available" {
		t.Errorf("of one cluster: %+v", c)
	}
}

// A HelmRelease that two Kustomizations of a cluster apply is one; under two names it is two.
func TestAppliedTwice(t *testing.T) {
	t.Parallel()
	overlapping := sync + ks("clusters/prod/all.yaml", "all", "./apps", "") + ks("clusters/prod/web.yaml", "web", "./apps/web", "") + hr("apps/web/release.yaml", "web")
	renamed := sync + ks("clusters/prod/a.yaml", "a", "./apps/web", ", namePrefix: a-") + ks("clusters/prod/b.yaml", "b", "./apps/web", ", namePrefix: b-") + hr("apps/web/release.yaml", "web")
	for files, want := range map[string]int{overlapping: 1, renamed: 2} {
		if c := of(t, files, ""); c.HelmReleases.Found != 1 || c.Clusters[0].HelmReleases.Found != want {
			t.Errorf("%d HelmReleases in the cluster, %d in all, want %d and 1, of\n%s", c.Clusters[0].HelmReleases.Found, c.HelmReleases.Found, want, files)
		}
	}
}
