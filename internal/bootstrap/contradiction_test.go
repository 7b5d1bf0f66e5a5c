package bootstrap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// contradicting has two releases that the bootstrap installs one after the other, and whose Kustomizations wait for each
// other through a third one: DEPENDENT is the one that waits.
const contradicting = `-- bootstrap/helmfile.yaml --
releases:
- {name: first, namespace: apps, chart: oci://example.com/first, version: 1.0.0}
- {name: second, namespace: apps, chart: oci://example.com/second, version: 1.0.0, needs: [apps/first]}
-- clusters/prod/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.com/fleet, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/prod/apps.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: WAITS, namespace: flux-system}
spec: {interval: 1m, path: ./apps/WAITS, prune: true, sourceRef: {kind: GitRepository, name: flux-system}, dependsOn: [{name: between}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: between, namespace: flux-system}
spec: {interval: 1m, path: ./apps/between, prune: true, sourceRef: {kind: GitRepository, name: flux-system}, dependsOn: [{name: LEADS}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: LEADS, namespace: flux-system}
spec: {interval: 1m, path: ./apps/LEADS, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- apps/between/config.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: between, namespace: apps}
-- apps/first/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: first, namespace: apps}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: first}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: first, namespace: apps}
spec: {interval: 1h, url: "oci://example.com/first", ref: {tag: 1.0.0}}
-- apps/second/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: second, namespace: apps}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: second}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: second, namespace: apps}
spec: {interval: 1h, url: "oci://example.com/second", ref: {tag: 1.0.0}}
`

// Needs against the order of the Kustomizations are found, and needs that follow it are not.
func TestNeedsAgainstKustomizations(t *testing.T) {
	for waits, want := range map[string]int{"first": 1, "second": 0} {
		leads := map[string]string{"first": "second", "second": "first"}[waits]
		repo := testarchive.Repository(t, txtar.Parse([]byte(strings.NewReplacer("WAITS", waits, "LEADS", leads).Replace(contradicting))))
		fleet, err := reconcile.Reconcile(t.Context(), repo, reconcile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		report, err := Verify(t.Context(), repo, fleet)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Order) != want {
			t.Errorf("%s waits: %+v, want %d problems", waits, report.Order, want)
		}
	}
}

// problemsOf are the problems of the order in a repository, with their hints, one a line.
func problemsOf(t *testing.T, archive string) string {
	t.Helper()
	report, err := Verify(t.Context(), testarchive.Repository(t, txtar.Parse([]byte(archive))), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, o := range report.Order {
		all = append(all, o.Message+": "+o.Hint)
	}
	return strings.Join(all, "\n")
}

// Needs that lead through another release are compared, too, and what those between contradict is told once.
func TestNeedsThroughOthersAgainstKustomizations(t *testing.T) {
	archive := strings.NewReplacer("WAITS", "first", "LEADS", "second",
		"needs: [apps/first]}", "needs: [apps/middle]}\n- {name: middle, namespace: apps, chart: oci://example.com/middle, version: 1.0.0, needs: [apps/first]}").Replace(contradicting)
	const through = `helmfile installs release "apps/first" before "apps/second", but Kustomization flux-system/first, which applies the first, depends on flux-system/second, which applies the second: ` +
		`remove one of the two: a need that leads from "apps/second" to "apps/first", or the Kustomization's dependsOn`
	if got := problemsOf(t, archive); got != through {
		t.Errorf("got  %s\nwant %s", got, through)
	}
	const middle = `-- apps/between/release.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: middle, namespace: apps}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: middle}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: middle, namespace: apps}
spec: {interval: 1h, url: "oci://example.com/middle", ref: {tag: 1.0.0}}
`
	if got := problemsOf(t, archive+middle); strings.Count(got, "\n") != 1 || strings.Contains(got, "a need that leads") {
		t.Errorf("where the one between contradicts it: got\n%s", got)
	}
}

// A HelmRelease that depends on one whose release needs its own is a contradiction: another need would make a cycle.
func TestDependsOnAgainstNeeds(t *testing.T) {
	archive := strings.NewReplacer("WAITS", "second", "LEADS", "first",
		"name: first}}", "name: first}, dependsOn: [{name: second}]}").Replace(contradicting)
	const want = `helmfile installs release "apps/first" before "apps/second", on which HelmRelease apps/first depends: ` +
		`remove one of the two: the needs that lead from "apps/second" to it, or the HelmRelease's dependsOn`
	if got := problemsOf(t, archive); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A need of what does not exist hides only what depends on it.
func TestAWrongNeedAlone(t *testing.T) {
	want := `release "flux-system/flux-operator" needs "gone", which the file does not define: helmfile fails: name a release of the file as NAMESPACE/NAME` + "\n" +
		`helmfile may install release "kube-system/coredns" before "kube-system/cilium", whose network its pods need: add "kube-system/cilium" to its needs`
	got := problemsOf(t, helmfiles(with(operator, "needs: [gone]"), with(instance, "needs: [flux-operator]"), with(cilium, ""), with(coredns, "")))
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Of many needs through many others against the order of the Kustomizations, each need is told once, with the first release to
// which it leads; needs that are written several times are one.
func TestManyNeedsAgainstKustomizations(t *testing.T) {
	const many = 60
	release := func(name string) string {
		return "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: " + name + ", namespace: apps}\nspec: {interval: 1h, chartRef: {kind: OCIRepository, name: first}}\n"
	}
	var helmfile, first, second, all strings.Builder
	for i := range many {
		const line = "- {name: %[1]s%d, namespace: apps, chart: oci://example.com/%[1]s, version: 1.0.0, needs: [%[3]s]}\n"
		fmt.Fprintf(&helmfile, line, "late", i, strings.Repeat(fmt.Sprintf("middle%d, ", many-1), many))
		if i > 0 {
			fmt.Fprintf(&helmfile, line, "middle", i, fmt.Sprintf("middle%d", i-1))
		}
		fmt.Fprintf(&helmfile, line, "early", i, "")
		fmt.Fprintf(&all, "early%d, ", i)
		first.WriteString(release(fmt.Sprintf("early%d", i)))
		second.WriteString(release(fmt.Sprintf("late%d", i)))
	}
	fmt.Fprintf(&helmfile, "- {name: middle0, namespace: apps, chart: oci://example.com/middle, version: 1.0.0, needs: [%s]}\n", all.String())
	archive := strings.NewReplacer("WAITS", "first", "LEADS", "second", "releases:\n", "releases:\n"+helmfile.String(), "needs: [apps/first]", "needs: []",
		"-- apps/second/release.yaml --\n", first.String()+"-- apps/second/release.yaml --\n").Replace(contradicting) + second.String()
	got := problemsOf(t, archive)
	want := `helmfile installs release "apps/early0" before "apps/late59", but Kustomization flux-system/first, which applies the first, depends on flux-system/second, which applies the second: ` +
		`remove one of the two: a need that leads from "apps/late59" to "apps/early0", or the Kustomization's dependsOn`
	if strings.Count(got, "\n")+1 != many || !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s", got)
	}
}
