package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// served are the versions of each chart.
var served = []string{"1.2.3", "1.10.0", "2.0.0-rc.1"}

// bootstrapCase is a repository with a bootstrap whose charts are on servers on loopback, each version with its name in the text.
func bootstrapCase(t *testing.T) *fetchCase {
	t.Helper()
	f := newFetchCase(t)
	for _, name := range []string{"web", "db"} {
		for _, version := range served {
			archive := fetchtest.Archive(t, map[string]string{
				name + "/Chart.yaml":  fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n", name, version),
				name + "/values.yaml": "value: none\n", // kustomize asks for it
				name + "/templates/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\n" +
					fmt.Sprintf("data: {text: %q, value: {{ .Values.value }}}\n", name+" "+version),
			})
			f.Add(name, version, archive, "")
			f.Push("charts/"+name, version, fetchtest.Layer, archive)
		}
	}
	return f
}

// tool is what a real tool prints, which works on a copy of the bootstrap. What the servers have is an input, too.
func (f *fetchCase) tool(name, calls string, args ...string) string {
	f.t.Helper()
	bootstrap, copied := filepath.Join(f.dir, "bootstrap"), f.t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(bootstrap)); err != nil {
		f.t.Fatal(err)
	}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], bootstrap, copied)
	}
	return testpeer.Command{
		Tool: name, With: []string{calls}, Args: args, Reads: []string{bootstrap}, Env: []string{"SERVED=" + strings.Join(served, " ")},
		Places: map[string]string{copied: "copy", f.Charts(): "charts", f.Registry(): "registry"},
	}.Output(f.t)
}

// git runs git in the repository.
func (f *fetchCase) git(args ...string) {
	f.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", f.dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// The charts of a helmfile are fetched in the versions that helmfile installs.
func TestFetchHelmfile(t *testing.T) {
	f := bootstrapCase(t)
	f.put("bootstrap/charts/own/Chart.yaml", "apiVersion: v2\nname: own\nversion: 1.0.0\n")
	f.put("bootstrap/helmfile.yaml", fmt.Sprintf(`repositories:
- {name: http, url: %q}
- {name: oci, url: %q, oci: true, plainHttp: true}
releases:
- {name: exact, namespace: apps, chart: http/web, version: 1.2.3}
- {name: newest, namespace: apps, chart: http/web}
- {name: devel, namespace: apps, chart: http/db, devel: true}
- {name: range, namespace: apps, chart: oci/web, version: ~1.2}
- {name: address, namespace: apps, chart: "oci://%s/charts/db", version: 1.x, plainHttp: true}
- {name: own, namespace: apps, chart: ./charts/own}
- {name: off, namespace: apps, chart: http/absent, installed: false}
`, f.Charts(), f.Registry()+"/charts", f.Registry()))
	want := map[string]string{"exact": "web 1.2.3", "newest": "web 1.10.0", "devel": "db 2.0.0-rc.1", "range": "web 1.2.3", "address": "db 1.10.0"}
	f.want(1, []string{"release apps/exact of the bootstrap: the lock does not name chart web, version 1.2.3"}, "fetch", "--check", f.dir)
	f.want(0, []string{"5 charts: "}, "fetch", f.dir)
	requests, lock := f.Requests(""), f.lock()
	f.want(0, []string{"5 charts: 5 cached"}, "fetch", f.dir)
	f.want(0, nil, "fetch", "--check", f.dir)
	plan := f.want(0, []string{"apps/newest  http/web   (1.10.0 in the lock)", "apps/range  oci/web  ~1.2 (1.2.3 in the lock)", "apps/devel  http/db   (2.0.0-rc.1 in the lock)"}, "bootstrap", "plan", f.dir)
	if strings.Contains(plan, "1.2.3 (") {
		t.Errorf("the plan shows a version twice:\n%s", plan)
	}
	if f.Requests("") > requests || f.lock() != lock {
		t.Errorf("%d requests; the lock is\n%s", f.Requests("")-requests, f.lock())
	}
	rendered := f.tool("helmfile", "helm", "-f", filepath.Join(f.dir, "bootstrap/helmfile.yaml"), "template", "--skip-tests")
	for name, text := range want {
		if !strings.Contains(rendered, fmt.Sprintf("name: %s\ndata: {text: %q", name, text)) && !strings.Contains(rendered, fmt.Sprintf("metadata: {name: %s}\ndata: {text: %q", name, text)) {
			t.Errorf("helmfile installs another chart than %q for %s:\n%s", text, name, rendered)
		}
	}
	for name, text := range want {
		version := strings.Fields(text)[1]
		if !strings.Contains(lock, "version: "+version+"\n") {
			t.Errorf("the lock lacks %s of %s:\n%s", version, name, lock)
		}
	}
}

// What a bootstrap asks and cannot be fetched is listed, and credentials are not used.
func TestFetchHelmfileRefused(t *testing.T) {
	f := bootstrapCase(t)
	f.put("bootstrap/helmfile.yaml", fmt.Sprintf(`repositories:
- {name: http, url: %q}
- {name: secret, url: "https://ada:s3cr3t-Passw0rd@example.org"}
releases:
- {name: web, namespace: apps, chart: http/web, version: 1.2.3}
- {name: secret, namespace: apps, chart: secret/web}
- {name: nowhere, namespace: apps, chart: other/web}
- {name: variable, namespace: apps, chart: http/web, version: {{ requiredEnv "VERSION" }}}
- {name: archive, namespace: apps, chart: "https://example.org/web.tgz"}
- {name: absent, namespace: apps, chart: http/absent, version: 1.2.3}
`, f.Charts()))
	out := f.want(1, []string{"the address contains credentials", `release apps/nowhere of the bootstrap: its chart is not fetched: the helmfile has no repository "other"`,
		"release apps/variable of the bootstrap: its chart is not fetched: ", "release apps/archive of the bootstrap: its chart is not fetched: the chart is an address",
		`release apps/absent of the bootstrap: chart absent is not fetched: the index has no chart "absent"`, "2 charts: 1 fetched, 1 failed; 4 that cannot be fetched"}, "fetch", f.dir)
	if strings.Contains(out+f.lock(), "s3cr3t") {
		t.Errorf("the credentials are shown:\n%s\n%s", out, f.lock())
	}
	f.want(1, []string{`"bootstrap": true`}, "fetch", "--format", "json", f.dir)
}

// A repository without a cluster may have a bootstrap.
func TestFetchHelmfileAlone(t *testing.T) {
	f := bootstrapCase(t)
	if err := os.RemoveAll(filepath.Join(f.dir, "clusters")); err != nil {
		t.Fatal(err)
	}
	f.want(2, nil, "fetch", f.dir)
	f.put("helmfile.yaml", fmt.Sprintf("repositories: [{name: http, url: %q}]\nreleases: [{name: web, namespace: apps, chart: http/web, version: 1.2.3}]\n", f.Charts()))
	f.want(0, []string{"1 chart: 1 fetched"}, "fetch", f.dir)
}

// The helmCharts of a kustomization that Flux does not build are fetched in the versions that kustomize inflates.
func TestFetchHelmCharts(t *testing.T) {
	f := bootstrapCase(t)
	charts := fmt.Sprintf(`apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
helmCharts:
- {name: web, releaseName: exact, namespace: apps, repo: %[1]q, version: 1.2.3}
- {name: web, releaseName: newest, namespace: apps, repo: %[1]q}
- {name: db, releaseName: range, namespace: apps, repo: %[1]q, version: 1.x}
- {name: own, releaseName: own, namespace: apps}
`, f.Charts())
	f.put("bootstrap/kustomization.yaml", charts)
	for _, at := range []string{"bootstrap/charts/own/", "bootstrap/charts/db-1.x/db/"} { // kustomize takes the second for the range
		name := strings.TrimSuffix(strings.TrimPrefix(at, "bootstrap/charts/"), "/")
		name = name[strings.LastIndex(name, "/")+1:]
		f.put(at+"Chart.yaml", "apiVersion: v2\nname: "+name+"\nversion: 9.9.9\n")
		f.put(at+"values.yaml", "")
		f.put(at+"templates/config.yaml", textMap(name, "vendored"))
	}
	f.want(0, []string{"2 charts: 2 fetched"}, "fetch", f.dir)
	f.want(0, []string{"apps/newest  web   (1.10.0 in the lock)"}, "bootstrap", "plan", f.dir)
	rendered := f.tool("kustomize", "helm", "build", "--enable-helm", "--helm-command", "helm", filepath.Join(f.dir, "bootstrap"))
	for _, text := range []string{"web 1.2.3", "web 1.10.0", "vendored"} {
		if !strings.Contains(rendered, "text: "+text) {
			t.Errorf("kustomize does not inflate %q:\n%s", text, rendered)
		}
	}
	if strings.Contains(rendered, "db 1.") {
		t.Errorf("kustomize pulls a chart that is there:\n%s", rendered)
	}

	// kustomize-controller does not inflate charts: neither does build, whatever is fetched.
	f.put("clusters/prod/app/kustomization.yaml", charts)
	out := f.want(1, []string{"helmCharts: Flux does not inflate Helm charts"}, "build", f.dir)
	if strings.Contains(out, "web 1.2.3") {
		t.Errorf("build inflates charts:\n%s", out)
	}
}

// Versions that the lock names decide where Git and the bootstrap have ranges.
func TestFetchedBootstrapVersions(t *testing.T) {
	f := bootstrapCase(t)
	f.release("web", "web", "1.x", f.Charts())
	f.put("clusters/prod/web-values.yaml", "")
	helmfile := func(version string) {
		f.put("bootstrap/helmfile.yaml", fmt.Sprintf("repositories: [{name: http, url: %q}]\nreleases: [{name: web, namespace: apps, chart: http/web%s, values: [{value: mine}]}]\n", f.Charts(), version))
	}
	helmfile(", version: 1.10.0")
	f.want(0, []string{`Git pins no version: "1.x" is a range`, "1 unresolved"}, "bootstrap", "verify", f.dir)
	f.want(0, nil, "fetch", f.dir)
	f.want(0, []string{"1 release: 1 agrees"}, "bootstrap", "verify", f.dir)
	helmfile(", version: 1.2.3")
	f.want(1, []string{"1.x (1.10.0 in the lock)", "1 release: 1 drifts"}, "bootstrap", "verify", f.dir)
	f.want(1, []string{`"value": "1.x"`, `"locked": "1.10.0"`}, "bootstrap", "verify", "--format", "json", f.dir)
	f.want(1, []string{"version is 1.2.3 in the bootstrap and 1.x (1.10.0 in the lock) in Git"}, "validate", "--rules", "bootstrap-*", f.dir)
	f.want(1, []string{"1.x (1.10.0 in the lock)"}, "bootstrap", "verify", "--format", "github", f.dir)
	helmfile("")
	f.want(0, []string{"neither the bootstrap nor Git pins a version"}, "bootstrap", "verify", f.dir)
	f.want(0, nil, "fetch", f.dir)
	f.want(0, []string{"1 release: 1 agrees"}, "bootstrap", "verify", f.dir)
	f.cache = t.TempDir() // the lock is enough
	f.want(0, []string{"1 release: 1 agrees"}, "bootstrap", "verify", f.dir)

	// A digest or tag that is no version is that of the chart.
	digest := f.Push("charts/web", "nightly", fetchtest.Layer, fetchtest.Chart(t, "web", "1.10.0", "web 1.10.0"))
	for _, ref := range []string{"{digest: " + digest + "}", "{tag: nightly}"} {
		f.put("clusters/prod/web.yaml", fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web, namespace: apps}
spec: {interval: 1h, insecure: true, url: "oci://%s/charts/web", ref: %s}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: web}, values: {value: mine}}
`, f.Registry(), ref))
		helmfile(", version: 1.10.0")
		f.want(0, nil, "fetch", f.dir)
		f.want(0, []string{"1 release: 1 agrees"}, "bootstrap", "verify", f.dir)
		helmfile(", version: 1.2.3")
		f.want(1, []string{"(1.10.0 in the lock)"}, "bootstrap", "verify", f.dir)
	}
}

// A chart that the bootstrap and an OCIRepository ask for is one entry of the lock.
func TestFetchBootstrapOnce(t *testing.T) {
	f := bootstrapCase(t)
	f.put("clusters/prod/web.yaml", fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: web, namespace: apps}
spec: {interval: 1h, insecure: true, url: "oci://%s/charts/web", ref: {tag: 1.2.3}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: web}}
`, f.Registry()))
	f.put("bootstrap/helmfile.yaml", fmt.Sprintf("releases: [{name: web, namespace: apps, chart: \"oci://%s/charts/web\", version: 1.2.3, plainHttp: true}]\n", f.Registry()))
	f.want(0, []string{"1 chart: 1 fetched"}, "fetch", f.dir)
	f.want(0, nil, "fetch", "--check", f.dir)
	if n := strings.Count(f.lock(), "- chart:"); n != 1 {
		t.Errorf("the lock has %d charts:\n%s", n, f.lock())
	}
}

// The order of a bootstrap is judged by what its own charts render, whether a HelmRelease takes them over or not.
func TestFetchedBootstrapOrder(t *testing.T) {
	f := bootstrapCase(t)
	f.Add("operator", "1.0.0", fetchtest.Archive(t, map[string]string{
		"operator/Chart.yaml":               "apiVersion: v2\nname: operator\nversion: 1.0.0\n",
		"operator/templates/crd.yaml":       "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.org}\nspec: {group: example.org, names: {kind: Thing, plural: things}, scope: Namespaced, versions: []}\n",
		"operator/templates/configmap.yaml": textMap("operator", "x"),
	}), "")
	f.Add("user", "1.0.0", fetchtest.Archive(t, map[string]string{
		"user/Chart.yaml":           "apiVersion: v2\nname: user\nversion: 1.0.0\n",
		"user/templates/thing.yaml": "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: {{ .Release.Name }}}\n",
	}), "")
	f.put("bootstrap/helmfile.yaml", fmt.Sprintf(`repositories: [{name: http, url: %q}]
releases:
- {name: user, namespace: apps, chart: http/user, version: 1.0.0}
- {name: operator, namespace: apps, chart: http/operator, version: 1.0.0}
`, f.Charts()))
	const problem = `helmfile may install release "apps/user" before "apps/operator", which brings the definition of Thing`
	if out := f.want(0, nil, "bootstrap", "verify", f.dir); strings.Contains(out, problem) {
		t.Errorf("without a chart:\n%s", out)
	}
	f.want(0, []string{"2 charts: 2 fetched"}, "fetch", f.dir)
	f.want(0, []string{problem}, "bootstrap", "verify", f.dir)
	f.want(0, []string{problem}, "validate", "--rules", "bootstrap-order", f.dir)
	f.cache = t.TempDir()
	if out := f.want(0, nil, "bootstrap", "verify", f.dir); strings.Contains(out, problem) {
		t.Errorf("without the cache:\n%s", out)
	}
}

// Hosts of a stranger's bootstrap need --allow-host.
func TestFetchBootstrapBase(t *testing.T) {
	f := bootstrapCase(t)
	helmfile := func(at string) {
		f.put("bootstrap/helmfile.yaml", fmt.Sprintf("repositories: [{name: http, url: %q}]\nreleases: [{name: web, namespace: apps, chart: http/web, version: 1.2.3}]\n", at))
	}
	helmfile(f.Charts())
	f.git("init", "--quiet")
	f.git("add", ".")
	f.git("commit", "--quiet", "-m", "base")
	f.want(0, []string{"1 chart: 1 fetched"}, "fetch", "--base", "HEAD", f.dir)
	helmfile(strings.Replace(f.Charts(), "127.0.0.1", "localhost", 1))
	f.want(1, []string{"is not used at HEAD; pass --allow-host localhost"}, "fetch", "--base", "HEAD", f.dir)
}

// TestFetchedBootstrapRendered: the bootstrap's own version of a chart is rendered if fetch got it, and the hint says so
// if not.
func TestFetchedBootstrapRendered(t *testing.T) {
	f := bootstrapCase(t)
	f.release("web", "web", "1.10.0", f.Charts())
	f.put("clusters/prod/web-values.yaml", "")
	f.put("bootstrap/helmfile.yaml", fmt.Sprintf("repositories: [{name: http, url: %q}]\nreleases: [{name: web, namespace: apps, chart: http/web, version: 1.2.3, values: [{value: mine}]}]\n", f.Charts()))
	const rendered, missing = "web 1.10.0", "run fleetwright fetch"
	if out := f.want(1, []string{missing}, "bootstrap", "verify", "--rendered", f.dir); strings.Contains(out, rendered) {
		t.Errorf("without the charts:\n%s", out)
	}
	f.want(0, nil, "fetch", f.dir)
	if out := f.want(1, []string{"ConfigMap", rendered}, "bootstrap", "verify", "--rendered", f.dir); strings.Contains(out, missing) {
		t.Errorf("with the charts:\n%s", out)
	}
}
