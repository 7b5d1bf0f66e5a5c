package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
)

// list is a ResourceList of the objects in the repository's files, with the lock among them where it is asked for.
func (f *fetchCase) list(config string, withLock bool, files ...string) string {
	f.t.Helper()
	var out strings.Builder
	out.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nfunctionConfig:\n" + indented(config) + "items:\n")
	if withLock {
		files = append(files, ".fleetwright/lock.yaml")
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(f.dir, file))
		if err != nil {
			f.t.Fatal(err)
		}
		for i, document := range strings.Split(string(data), "---\n") {
			lines := strings.SplitN(document, "metadata: {", 2)
			placed := fmt.Sprintf("annotations: {internal.config.kubernetes.io/path: %q, internal.config.kubernetes.io/index: '%d'}", file, i)
			if len(lines) == 2 {
				document = lines[0] + "metadata: {" + placed + ", " + lines[1]
			} else {
				document = strings.Replace(document, "  annotations:\n", fmt.Sprintf("  annotations:\n    internal.config.kubernetes.io/path: %q\n    internal.config.kubernetes.io/index: '%d'\n", file, i), 1)
			}
			out.WriteString("-" + indented(document)[1:])
		}
	}
	return out.String()
}

func indented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString("  " + line)
	}
	return out.String()
}

// The functions in exec form render the charts that the lock names, among the items or in the working directory.
func TestFetchedInFunctions(t *testing.T) {
	f := newFetchCase(t)
	f.Add("app", "1.10.0", fetchtest.Archive(t, map[string]string{
		"app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.10.0\n", "app/templates/a.yaml": `{{ fail "this chart is broken" }}`,
	}), "")
	f.release("app", "app", "1.x", f.Charts())
	f.put("clusters/prod/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nmetadata: {name: x}\nresources: [flux-system/gotk-sync.yaml, app.yaml]\n")
	f.put("bootstrap/helmfile.yaml", fmt.Sprintf("repositories: [{name: charts, url: %q}]\nreleases: [{name: app, namespace: apps, chart: charts/app, version: 1.2.3, values: [{value: mine}]}]\n", f.Charts()))
	f.want(1, []string{"1 fetched"}, "fetch", f.dir) // the bootstrap's version is not there
	const validate = "apiVersion: fleetwright.dev/v1alpha1\nkind: ValidateFleet\nmetadata: {name: validate}\nspec: {rules: [flux-helm-failed]}\n"
	const verify = "apiVersion: fleetwright.dev/v1alpha1\nkind: VerifyBootstrap\nmetadata: {name: verify}\nspec: {root: .}\n"
	files := []string{"clusters/prod/flux-system/gotk-sync.yaml", "clusters/prod/app.yaml", "clusters/prod/kustomization.yaml"}
	elsewhere := t.TempDir()
	for _, c := range []struct {
		in, list string
		status   int
		want     string
	}{
		{elsewhere, f.list(validate, true, files...), 1, "this chart is broken"},
		{f.dir, f.list(validate, false, files...), 1, "this chart is broken"},
		{elsewhere, f.list(validate, false, files...), 0, "kind: ResourceList"},
		{f.dir, f.list(verify, false, files...), 1, `"1.x" (1.10.0 in the lock)`},
	} {
		t.Chdir(c.in)
		requests := f.Requests("")
		status, out := f.runWith(c.list, "fn")
		if status != c.status || !strings.Contains(out, c.want) || f.Requests("") > requests {
			t.Errorf("in %s: status %d, want %d with %q:\n%s", c.in, status, c.status, c.want, out)
		}
	}
	kept := f.cache
	f.cache = t.TempDir()
	t.Chdir(f.dir)
	if status, out := f.runWith(f.list(validate, true, files...), "fn"); status != 0 || strings.Contains(out, "broken") {
		t.Errorf("without the cache: status %d\n%s", status, out)
	}
	f.cache = kept
	f.put(".fleetwright/lock.yaml", "kind: [")
	if status, out := f.runWith(f.list(validate, false, files...), "fn"); status != 2 || !strings.Contains(out, ".fleetwright/lock.yaml") {
		t.Errorf("with a broken lock: status %d\n%s", status, out)
	}
}

// A change of what a source that was fetched is asked for is a difference of its objects.
func TestDiffOfFetchedSources(t *testing.T) {
	f := newFetchCase(t)
	app, appAt := f.Git(t, "app")
	for _, version := range []string{"1.0.0", "1.1.0"} {
		app.Commit(map[string]string{"deploy/a.yaml": textMap("a", "text of "+version)})
		app.Run("tag", "v"+version)
	}
	f.source("GitRepository", "app", fmt.Sprintf("url: %q, ref: {tag: v1.0.0}", appAt), "./deploy")
	f.want(0, nil, "fetch", f.dir)
	f.git("init", "--quiet")
	f.git("add", ".")
	f.git("commit", "--quiet", "-m", "base")
	f.source("GitRepository", "app", fmt.Sprintf("url: %q, ref: {tag: v1.1.0}", appAt), "./deploy")
	if out := f.want(1, nil, "diff", "--from", "HEAD", f.dir); strings.Contains(out, "text of 1.1.0") {
		t.Errorf("before the fetch:\n%s", out)
	}
	f.want(0, nil, "fetch", f.dir)
	requests := f.Requests("")
	f.want(1, []string{"text of 1.0.0", "text of 1.1.0"}, "diff", "--from", "HEAD", f.dir)
	f.git("add", ".")
	f.git("commit", "--quiet", "-m", "update")
	f.want(1, []string{"text of 1.0.0", "text of 1.1.0"}, "diff", "--from", "HEAD~1", "--to", "HEAD", f.dir)
	f.want(0, nil, "diff", "--from", "HEAD", f.dir)
	if f.Requests("") > requests {
		t.Error("diff uses the network")
	}
}
