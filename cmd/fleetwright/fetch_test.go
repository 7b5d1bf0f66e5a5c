package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
)

const fetchedSync = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.org/fleet}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
`

// fetchCase is a repository whose charts are on servers on loopback.
type fetchCase struct {
	*fetchtest.Server
	t     *testing.T
	dir   string
	cache string
}

func newFetchCase(t *testing.T) *fetchCase {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // of the key of results
	f := &fetchCase{fetchtest.New(t), t, t.TempDir(), t.TempDir()}
	f.put("clusters/prod/flux-system/gotk-sync.yaml", fetchedSync)
	return f
}

func (f *fetchCase) put(name, text string) { putFile(f.t, filepath.Join(f.dir, name), []byte(text)) }

// release puts a HelmRelease of a chart repository into the cluster.
func (f *fetchCase) release(name, chart, version, repository string) {
	kind := ""
	if strings.HasPrefix(repository, "oci:") {
		kind = "type: oci, insecure: true, "
	}
	f.put("clusters/prod/"+name+".yaml", fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: %[1]s, namespace: apps}
spec: {%[5]sinterval: 1h, url: %[4]q}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: %[1]s, namespace: apps}
spec:
  interval: 1h
  chart: {spec: {chart: %[2]s, version: %[3]q, sourceRef: {kind: HelmRepository, name: %[1]s}}}
  values: {value: mine}
`, name, chart, version, repository, kind))
}

// run runs a command with the case's cache, and returns its exit status and output.
func (f *fetchCase) run(args ...string) (status int, out string) {
	f.t.Helper()
	return f.runWith("", args...)
}

// runWith is run with a text on stdin.
func (f *fetchCase) runWith(in string, args ...string) (status int, out string) {
	f.t.Helper()
	var b bytes.Buffer
	env := map[string]string{"FLEETWRIGHT_CACHE": f.cache, "NO_COLOR": "1"}
	status = execute(f.t.Context(), args, streams{in: strings.NewReader(in), out: &b, err: &b, env: func(name string) string { return env[name] }})
	return status, b.String()
}

// want runs a command and checks its exit status and parts of its output.
func (f *fetchCase) want(status int, parts []string, args ...string) string {
	f.t.Helper()
	got, out := f.run(args...)
	if got != status {
		f.t.Errorf("%s: exit status %d, want %d\n%s", strings.Join(args, " "), got, status, out)
	}
	for _, part := range parts {
		if !strings.Contains(out, part) {
			f.t.Errorf("%s: the output lacks %q\n%s", strings.Join(args, " "), part, out)
		}
	}
	return out
}

func (f *fetchCase) lock() string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, ".fleetwright", "lock.yaml"))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

func TestFetch(t *testing.T) {
	f := newFetchCase(t)
	first := fetchtest.Chart(t, "app", "1.0.0", "first")
	f.Add("app", "1.0.0", first, "")
	f.Push("charts/other", "2.1.0", fetchtest.Layer, fetchtest.Chart(t, "other", "2.1.0", "other"))
	f.release("app", "app", "1.x", f.Charts()+"/")
	f.release("again", "app", "1.x", f.Charts())
	f.release("other", "other", ">=2", "oci://"+f.Registry()+"/charts")

	f.want(0, []string{"the chart is not available locally; run fleetwright fetch"}, "validate", f.dir)
	f.want(0, []string{"app", "version 1.x", "unlocked", "2 charts: 2 not locked"}, "fetch", "--dry-run", f.dir)
	f.want(1, []string{"the lock does not name chart app, version 1.x", "HelmRelease apps/again and 1 more"}, "fetch", "--check", f.dir)
	if n := f.Requests(""); n > 0 {
		t.Errorf("%d requests without a fetch", n)
	}
	f.want(0, []string{"2 charts: 2 fetched", "1.0.0", "2.1.0"}, "fetch", f.dir)
	lock, requests := f.lock(), f.Requests("")
	if !strings.Contains(lock, "version: 1.0.0\n        digest: "+fetchtest.Sum(first)) {
		t.Errorf("the lock is\n%s", lock)
	}
	f.want(0, []string{"2 charts: 2 cached"}, "fetch", f.dir)
	f.want(0, nil, "fetch", "--check", f.dir)
	f.want(0, []string{"text: first", "value: mine", "text: other"}, "build", f.dir)
	f.want(0, []string{"3 of 3 HelmReleases rendered"}, "validate", "--coverage", f.dir)
	if n := f.Requests("") - requests; n > 0 || f.lock() != lock {
		t.Errorf("%d requests with nothing to do; the lock is\n%s", n, f.lock())
	}

	// The same remote state gives the same bytes.
	if err := os.Remove(filepath.Join(f.dir, ".fleetwright", "lock.yaml")); err != nil {
		t.Fatal(err)
	}
	f.cache = t.TempDir()
	f.want(0, nil, "fetch", "--jobs", "1", f.dir)
	if f.lock() != lock {
		t.Errorf("the second lock is\n%s", f.lock())
	}

	// Locked, and not in the cache.
	f.cache = t.TempDir()
	f.want(0, []string{"HelmRelease apps/again and 1 more HelmRelease: it is not rendered and not checked: chart app 1.0.0 is locked, but not in the cache; run fleetwright fetch"}, "validate", f.dir)
	f.want(0, []string{"2 charts: 2 not in the cache"}, "fetch", "--dry-run", f.dir)

	// A new version, and one that was replaced.
	f.Add("app", "1.1.0", fetchtest.Chart(t, "app", "1.1.0", "second"), "")
	f.want(0, []string{"1.0.0"}, "fetch", f.dir)
	f.want(0, []string{"1.0.0 → 1.1.0"}, "fetch", "--update=app", f.dir)
	f.want(0, []string{"text: second"}, "build", f.dir)
	moved := fetchtest.Chart(t, "app", "1.1.0", "moved")
	f.Add("app", "1.1.0", moved, "")
	f.cache = t.TempDir()
	f.want(1, []string{"the lock has sha256:", "the source has " + fetchtest.Sum(moved), "hint: somebody replaced the version in the source; if that is intended, run fleetwright fetch --update=app"}, "fetch", f.dir)
	f.want(0, nil, "fetch", "--update", f.dir)
	f.want(0, []string{"text: moved"}, "build", f.dir)

	// What nothing asks for any more leaves the lock, and with --prune the cache.
	if err := os.Remove(filepath.Join(f.dir, "clusters/prod/other.yaml")); err != nil {
		t.Fatal(err)
	}
	f.want(1, []string{"no release uses chart other, version >=2"}, "fetch", "--check", f.dir)
	f.want(0, []string{"removed from the cache: 1 archive"}, "fetch", "--prune", f.dir)
	if strings.Contains(f.lock(), "other") {
		t.Errorf("the lock is\n%s", f.lock())
	}
}

func TestFetchFailures(t *testing.T) {
	f := newFetchCase(t)
	f.Add("app", "1.0.0", fetchtest.Chart(t, "app", "1.0.0", "text"), "")
	f.release("app", "app", "1.x", f.Charts())
	f.release("gone", "gone", "1.x", f.Charts())
	f.release("secret", "app", "1.x", "https://ada:s3cr3t-Passw0rd@example.org")
	f.put("clusters/prod/folder.yaml", `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: folder, namespace: apps}
spec: {interval: 1h, chart: {spec: {chart: ./x, sourceRef: {kind: Bucket, name: elsewhere}}}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: Bucket
metadata: {name: elsewhere, namespace: apps}
spec: {interval: 1h, bucketName: elsewhere, endpoint: example.org, provider: gcp}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: lost, namespace: apps}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: lost}}
`)
	out := f.want(1, []string{"HelmRelease apps/gone: chart gone is not fetched: the index has no chart \"gone\"", "the address contains credentials",
		"HelmRelease apps/folder: its chart is not fetched: it is in Bucket apps/elsewhere, which is not fetched; check it out and pass --source apps/elsewhere=DIR",
		"Bucket apps/elsewhere is not fetched: a Bucket of the provider gcp has no S3 API",
		"HelmRelease apps/lost: its chart is not fetched: OCIRepository apps/lost is not among the cluster's objects",
		"2 charts: 1 fetched, 1 failed; 4 that cannot be fetched"}, "fetch", f.dir)
	if strings.Contains(out+f.lock(), "s3cr3t") {
		t.Errorf("the credentials are shown:\n%s\n%s", out, f.lock())
	}
	_, out = f.run("fetch", "--format", "json", f.dir)
	var report fetchReport
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if s := report.Summary; s.Charts != 2 || s.Cached != 1 || s.Failed != 1 || s.Unfetchable != 4 || report.Charts[1].Reason == "" || report.Charts[0].Releases[0].Name != "app" {
		t.Errorf("%+v", report)
	}
	f.want(2, []string{"excludes"}, "fetch", "--check", "--update", f.dir)
	f.want(2, []string{"negative"}, "fetch", "--jobs", "-1", f.dir)
	f.want(2, []string{"the clusters are prod"}, "fetch", "--cluster", "dev", f.dir)

	// Whatever is in the place of the lock ends no validation, and is not overwritten.
	f.put(".fleetwright/lock.yaml", "kind: [")
	f.want(0, []string{"it is not rendered and not checked: .fleetwright/lock.yaml: "}, "validate", "--rules", "flux-helm-failed", f.dir)
	f.want(2, []string{".fleetwright/lock.yaml", "hint: restore it from Git"}, "fetch", f.dir)
}

// A chart may install HelmReleases, whose charts are fetched, too.
func TestFetchNested(t *testing.T) {
	f := newFetchCase(t)
	f.Add("inner", "1.0.0", fetchtest.Chart(t, "inner", "1.0.0", "inner text"), "")
	f.Add("outer", "1.0.0", fetchtest.Archive(t, map[string]string{
		"outer/Chart.yaml": "apiVersion: v2\nname: outer\nversion: 1.0.0\n",
		"outer/templates/a.yaml": fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: inner, namespace: apps}
spec: {interval: 1h, url: %q}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: inner, namespace: apps}
spec: {interval: 1h, chart: {spec: {chart: inner, version: 1.0.0, sourceRef: {kind: HelmRepository, name: inner}}}}
`, f.Charts()),
	}), "")
	f.release("outer", "outer", "1.0.0", f.Charts())
	f.want(0, []string{"2 charts: 2 fetched"}, "fetch", f.dir)
	f.want(0, []string{"text: inner text"}, "build", f.dir)
	f.want(0, []string{"2 charts: 2 cached"}, "fetch", f.dir)
	f.want(0, nil, "fetch", "--check", f.dir)
}

// Hosts that the base revision does not use are refused; a locked chart of it is rendered as it was.
func TestFetchBase(t *testing.T) {
	f := newFetchCase(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", f.dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	f.Add("app", "1.0.0", fetchtest.Chart(t, "app", "1.0.0", "first"), "")
	f.Add("app", "1.1.0", fetchtest.Chart(t, "app", "1.1.0", "second"), "")
	f.release("app", "app", "1.0.0", f.Charts())
	f.want(0, nil, "fetch", f.dir)
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "-m", "base")
	f.release("app", "app", "1.1.0", f.Charts())
	f.release("stranger", "app", "1.1.0", strings.Replace(f.Charts(), "127.0.0.1", "localhost", 1))
	f.want(1, []string{"the host localhost:", "is not used at HEAD; pass --allow-host localhost", "2 charts: 1 fetched, 1 failed"}, "fetch", "--base", "HEAD", f.dir)
	out := f.want(1, nil, "diff", "--from", "HEAD", f.dir)
	if !strings.Contains(out, "first") || !strings.Contains(out, "second") {
		t.Errorf("the diff renders each side with its own lock:\n%s", out)
	}
	f.want(0, []string{"2 charts: 2 cached"}, "fetch", "--base", "HEAD", "--allow-host", "localhost", f.dir)

	// A trusted server may not lead to an address of its network that nobody named.
	other := newFetchCase(t)
	other.release("app", "app", "1.0.0", other.Charts())
	other.Add("app", "1.0.0", fetchtest.Chart(t, "app", "1.0.0", "x"), "")
	other.Answer("/charts/app-1.0.0.tgz", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(f.URL, "127.0.0.1", "localhost", 1)+"/x", http.StatusFound)
	})
	other.want(1, []string{"localhost has the private address", "pass --allow-host localhost"}, "fetch", other.dir)
}

// What --vendor writes is what --charts reads.
func TestFetchVendor(t *testing.T) {
	f := newFetchCase(t)
	f.Add("app", "1.0.0", fetchtest.Chart(t, "app", "1.0.0", "text"), "")
	f.release("app", "app", "1.x", f.Charts())
	vendor := filepath.Join(t.TempDir(), "charts")
	f.want(0, nil, "fetch", "--vendor", vendor, f.dir)
	if _, err := os.Stat(filepath.Join(vendor, "app-1.0.0.tgz")); err != nil {
		t.Error(err)
	}
	f.cache = t.TempDir()
	f.want(0, []string{"text: text"}, "build", "--charts", vendor, f.dir)
}
