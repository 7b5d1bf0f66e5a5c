package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/fetch/fetchtest"
)

// source puts a source and a Kustomization of a folder of it into the cluster.
func (f *fetchCase) source(kind, name, spec, path string) {
	f.put("clusters/prod/source-"+name+".yaml", fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: %[1]s
metadata: {name: %[2]s, namespace: apps}
spec: {interval: 1h, %[3]s}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[2]s, namespace: apps}
spec: {interval: 1h, path: %[4]s, prune: true, sourceRef: {kind: %[1]s, name: %[2]s}}
`, kind, name, spec, path))
}

func textMap(name, text string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: apps}\ndata: {text: %q}\n", name, text)
}

// The files of sources are fetched once, locked, and built offline as --source would.
func TestFetchSources(t *testing.T) {
	f := newFetchCase(t)
	app, appAt := f.Git(t, "app")
	first := app.Commit(map[string]string{"deploy/a.yaml": textMap("git", "first text"), "chart/Chart.yaml": "apiVersion: v2\nname: packed\nversion: 1.0.0\n",
		"chart/templates/a.yaml": textMap("chart", "chart text"), "deploy/skipped.yaml": "{"})
	app.Run("tag", "v1.0.0")
	f.source("GitRepository", "app", fmt.Sprintf("url: %q, ref: {semver: 1.x}, ignore: \"deploy/skipped.yaml\"", appAt), "./deploy")
	f.Push("artifacts", "latest", "flux/layer", fetchtest.Archive(t, map[string]string{"a.yaml": textMap("oci", "artifact text")}))
	f.source("OCIRepository", "oci", fmt.Sprintf("url: \"oci://%s/artifacts\", insecure: true", f.Registry()), "./")
	f.put("clusters/prod/release.yaml", `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: packed, namespace: apps}
spec: {interval: 1h, chart: {spec: {chart: ./chart, sourceRef: {kind: GitRepository, name: app}}}}
`)
	f.want(0, []string{"its source GitRepository apps/app is another repository, branch or artifact; run fleetwright fetch, or check it out and pass --source apps/app=DIR"}, "build", f.dir)
	f.want(0, []string{"0 charts and 2 sources: 2 not locked"}, "fetch", "--dry-run", f.dir)
	f.want(1, []string{"clusters/prod/source-app.yaml:1:1: GitRepository apps/app: the lock does not name " + appAt + ", semver 1.x", "run fleetwright fetch, and commit"}, "fetch", "--check", f.dir)
	if n := f.Requests(""); n > 0 {
		t.Errorf("%d requests without a fetch", n)
	}
	f.want(0, []string{"SOURCE", "v1.0.0@sha1:" + first[:12], "latest@sha256:", "0 charts and 2 sources: 2 fetched"}, "fetch", f.dir)
	lock, requests := f.lock(), f.Requests("")
	if !strings.Contains(lock, "revision: v1.0.0@sha1:"+first) {
		t.Errorf("the lock is\n%s", lock)
	}
	f.want(0, []string{"0 charts and 2 sources: 2 cached"}, "fetch", f.dir)
	f.want(0, nil, "fetch", "--check", f.dir)
	out := f.want(0, []string{"text: first text", "text: artifact text", "text: chart text"}, "build", f.dir)
	if strings.Contains(out, "unresolved") {
		t.Errorf("unresolved:\n%s", out)
	}
	place := strings.TrimPrefix(appAt, "http://") + "@v1.0.0/deploy/a.yaml"
	f.want(0, []string{`"file":"` + place + `"`}, "build", "--format", "json", f.dir)
	f.want(0, []string{"3 of 3 Kustomizations built, 1 of 1 HelmRelease rendered"}, "validate", "--coverage", f.dir)
	if n := f.Requests("") - requests; n > 0 || f.lock() != lock {
		t.Errorf("%d requests with nothing to do; the lock is\n%s", n, f.lock())
	}

	// The same remote state gives the same bytes; --source wins.
	if err := os.Remove(filepath.Join(f.dir, ".fleetwright", "lock.yaml")); err != nil {
		t.Fatal(err)
	}
	kept := f.cache
	f.cache = t.TempDir()
	f.want(0, nil, "fetch", "--jobs", "1", f.dir)
	if f.lock() != lock {
		t.Errorf("the second lock is\n%s", f.lock())
	}
	mine := t.TempDir()
	putFile(t, filepath.Join(mine, "deploy", "a.yaml"), []byte(textMap("git", "my text")))
	putFile(t, filepath.Join(mine, "chart", "Chart.yaml"), []byte("apiVersion: v2\nname: packed\nversion: 1.0.0\n"))
	f.want(0, []string{"text: my text"}, "build", "--source", "apps/app="+mine, f.dir)
	f.want(0, []string{"0 charts and 1 source: 1 cached"}, "fetch", "--source", "apps/app="+mine, f.dir)
	if f.lock() != lock {
		t.Errorf("--source changes the lock:\n%s", f.lock())
	}

	// Locked, and not in the cache.
	f.cache = t.TempDir()
	f.want(0, []string{"its source GitRepository apps/app is not available: " + strings.TrimPrefix(appAt, "http://") + "@v1.0.0 is locked, but not in the cache; run fleetwright fetch"}, "build", f.dir)
	f.want(0, []string{"2 not in the cache"}, "fetch", "--check", f.dir)

	// A new version is taken when asked for; a tag that moved names both commits.
	app.Commit(map[string]string{"deploy/a.yaml": textMap("git", "second text")})
	app.Run("tag", "v1.1.0")
	f.cache = kept
	f.want(0, []string{"text: first text"}, "build", f.dir)
	f.want(0, []string{"v1.0.0@sha1:" + first[:12] + " → v1.1.0@sha1:"}, "fetch", "--update=app", f.dir)
	f.want(0, []string{"text: second text"}, "build", f.dir)
	second := app.Run("rev-parse", "HEAD")
	third := app.Commit(map[string]string{"deploy/a.yaml": textMap("git", "third text")})
	app.Run("tag", "--force", "v1.1.0")
	f.cache = t.TempDir()
	f.want(1, []string{"the lock has v1.1.0@sha1:" + second + ", the source has v1.1.0@sha1:" + third, "hint: somebody moved the tag", "--update=app"}, "fetch", f.dir)
	f.want(0, nil, "fetch", "--update=apps/app", f.dir)
	f.want(0, []string{"text: third text"}, "build", f.dir)

	// What nothing uses any more leaves the lock.
	for _, name := range []string{"source-oci", "release"} {
		if err := os.Remove(filepath.Join(f.dir, "clusters/prod/"+name+".yaml")); err != nil {
			t.Fatal(err)
		}
	}
	f.want(1, []string{"nothing uses oci://" + f.Registry() + "/artifacts, tag latest"}, "fetch", "--check", f.dir)
	f.want(0, []string{"removed from the cache: "}, "fetch", "--prune", f.dir)
	if strings.Contains(f.lock(), "artifacts") {
		t.Errorf("the lock is\n%s", f.lock())
	}
}

// The files of a Bucket are fetched as those of other sources; one whose content changed is an error.
func TestFetchBucket(t *testing.T) {
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		t.Setenv(name, "")
	}
	f := newFetchCase(t)
	objects := map[string]string{"deploy/a.yaml": textMap("bucket", "first text"), "deploy/out.txt": "x",
		"chart/Chart.yaml": "apiVersion: v2\nname: packed\nversion: 1.0.0\n", "chart/templates/a.yaml": textMap("chart", "chart text")}
	f.Bucket("files", "", "", objects)
	f.source("Bucket", "files", fmt.Sprintf("endpoint: %q, insecure: true, bucketName: files", f.Registry()), "./deploy")
	f.put("clusters/prod/release.yaml", `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: packed, namespace: apps}
spec: {interval: 1h, chart: {spec: {chart: ./chart, sourceRef: {kind: Bucket, name: files}}}}
`)
	f.want(0, []string{"its source Bucket apps/files is another repository, branch or artifact; run fleetwright fetch"}, "build", f.dir)
	f.want(0, []string{f.URL + "/files", "the bucket", "0 charts and 1 source: 1 fetched"}, "fetch", f.dir)
	requests, lock := f.Requests(""), f.lock()
	f.want(0, []string{"0 charts and 1 source: 1 cached"}, "fetch", f.dir)
	f.want(0, nil, "fetch", "--check", f.dir)
	out := f.want(0, []string{"text: first text", "text: chart text"}, "build", f.dir)
	if strings.Contains(out, "unresolved") || f.Requests("") > requests || !strings.Contains(lock, "- kind: bucket\n      url: "+f.URL+"/files\n      resolved:\n        revision: sha256:") {
		t.Errorf("%d requests; built\n%s\nthe lock is\n%s", f.Requests("")-requests, out, lock)
	}

	objects["deploy/a.yaml"] = textMap("bucket", "second text")
	f.Bucket("files", "", "", objects)
	f.want(0, []string{"text: first text"}, "build", f.dir)
	f.cache = t.TempDir()
	f.want(1, []string{"the lock has sha256:", "hint: somebody moved the tag or replaced the content", "--update=files"}, "fetch", f.dir)
	f.want(0, []string{"is locked, but not in the cache; run fleetwright fetch"}, "build", f.dir)
	f.want(0, nil, "fetch", "--update=apps/files", f.dir)
	f.want(0, []string{"text: second text"}, "build", f.dir)

	// Secrets of the repository are not read.
	f.Bucket("files", "AKIDEXAMPLE", "s3cr3t-Passw0rd", objects)
	f.put("clusters/prod/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: apps}\nstringData: {accesskey: AKIDEXAMPLE, secretkey: s3cr3t-Passw0rd}\n")
	f.source("Bucket", "files", fmt.Sprintf("endpoint: %q, insecure: true, bucketName: files, secretRef: {name: keys}", f.Registry()), "./deploy")
	f.want(1, []string{"403 Forbidden, AccessDenied, and neither .netrc nor the configuration of AWS has credentials for it"}, "fetch", "--update", f.dir)
}

// A source may hold HelmReleases and sources, which are fetched, too; and include others.
func TestFetchNestedSources(t *testing.T) {
	f := newFetchCase(t)
	inner, innerAt := f.Git(t, "inner")
	inner.Commit(map[string]string{"deploy/a.yaml": textMap("inner", "inner text")})
	library, libraryAt := f.Git(t, "library")
	library.Commit(map[string]string{"base/kustomization.yaml": "resources: [a.yaml]\n", "base/a.yaml": textMap("library", "library text")})
	outer, outerAt := f.Git(t, "outer")
	f.Add("app", "1.0.0", fetchtest.Chart(t, "app", "1.0.0", "chart text"), "")
	nested := newFetchCase(t)
	nested.source("GitRepository", "inner", fmt.Sprintf("url: %q, ref: {branch: main}", innerAt), "./deploy")
	nested.release("app", "app", "1.x", f.Charts())
	files := map[string]string{"deploy/kustomization.yaml": "resources: [source-inner.yaml, app.yaml, ../lib/base]\n"}
	for _, name := range []string{"source-inner.yaml", "app.yaml"} {
		data, err := os.ReadFile(filepath.Join(nested.dir, "clusters/prod", name))
		if err != nil {
			t.Fatal(err)
		}
		files["deploy/"+name] = string(data)
	}
	outer.Commit(files)
	f.source("GitRepository", "outer", fmt.Sprintf("url: %q, ref: {branch: main}, include: [{repository: {name: library}, toPath: lib}]", outerAt), "./deploy")
	f.put("clusters/prod/library.yaml", fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: library, namespace: apps}\nspec: {interval: 1h, url: %q, ref: {branch: main}}\n", libraryAt))
	f.want(0, []string{"1 chart and 3 sources: 4 fetched"}, "fetch", f.dir)
	f.want(0, []string{"text: inner text", "text: library text", "text: chart text"}, "build", f.dir)
	f.want(0, []string{"1 chart and 3 sources: 4 cached"}, "fetch", f.dir)
	f.want(0, nil, "fetch", "--check", f.dir)

	// What cannot be reached keeps what is behind it in the lock.
	lock := f.lock()
	f.cache = t.TempDir()
	f.ProtectGit("ada", "secret")
	t.Setenv("HOME", t.TempDir())
	f.want(1, []string{"answers 401 Unauthorized"}, "fetch", f.dir)
	if f.lock() != lock {
		t.Errorf("the lock is\n%s", f.lock())
	}

	// Itself, and what is not there.
	f.ProtectGit("", "")
	f.source("GitRepository", "outer", fmt.Sprintf("url: %q, ref: {branch: main}, include: [{repository: {name: outer}}]", outerAt), "./deploy")
	f.want(0, nil, "fetch", f.dir)
	f.want(0, []string{"its source GitRepository apps/outer includes"}, "build", f.dir)
}

// Sources of a stranger's need --allow-host, and what cannot be fetched is listed.
func TestFetchSourcesRefused(t *testing.T) {
	f := newFetchCase(t)
	app, appAt := f.Git(t, "app")
	app.Commit(map[string]string{"a.yaml": textMap("a", "text")})
	f.source("GitRepository", "app", fmt.Sprintf("url: %q, ref: {branch: main}", appAt), "./")
	f.source("GitRepository", "stranger", fmt.Sprintf("url: %q, ref: {branch: main}", strings.Replace(appAt, "127.0.0.1", "169.254.169.254", 1)), "./")
	f.source("GitRepository", "secret", `url: "https://ada:s3cr3t-Passw0rd@example.org/x"`, "./")
	f.source("Bucket", "bucket", `bucketName: x, endpoint: example.org, provider: azure`, "./")
	out := f.want(1, []string{"which is link-local or of a metadata service", "GitRepository apps/secret is not fetched: the address contains credentials",
		"Bucket apps/bucket is not fetched: a Bucket of the provider azure has no S3 API", "0 charts and 2 sources: 1 fetched, 1 failed; 2 that cannot be fetched"}, "fetch", f.dir)
	if strings.Contains(out+f.lock(), "s3cr3t") {
		t.Errorf("the credentials are shown:\n%s\n%s", out, f.lock())
	}
	_, out = f.run("fetch", "--format", "json", f.dir)
	var report fetchReport
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if s := report.Summary; s.Sources != 2 || s.Cached != 1 || s.Failed != 1 || len(report.Unavailable) != 2 || report.Sources[0].Objects[0].Object != "GitRepository apps/app" {
		t.Errorf("%+v", report)
	}
}

// A bootstrap is compared with HelmReleases in a source that was fetched.
func TestFetchedBootstrap(t *testing.T) {
	f := newFetchCase(t)
	app, appAt := f.Git(t, "app")
	f.Add("web", "1.0.0", fetchtest.Chart(t, "web", "1.0.0", "text"), "")
	app.Commit(map[string]string{"deploy/a.yaml": fmt.Sprintf(`apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: apps}
spec: {interval: 1h, url: %q}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps}
spec: {interval: 1h, chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: charts}}}}
`, f.Charts())})
	f.source("GitRepository", "app", fmt.Sprintf("url: %q, ref: {branch: main}", appAt), "./deploy")
	f.put("bootstrap/helmfile.yaml", fmt.Sprintf("repositories: [{name: charts, url: %q}]\nreleases: [{name: web, namespace: apps, chart: charts/web, version: 1.0.0}]\n", f.Charts()))
	f.want(0, []string{"1 release: 1 unresolved"}, "bootstrap", "verify", f.dir)
	f.want(0, nil, "fetch", f.dir)
	f.want(0, []string{"✓ web", "1 release: 1 agrees"}, "bootstrap", "verify", f.dir)
}
