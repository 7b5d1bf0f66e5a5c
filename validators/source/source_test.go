package source_test

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
	"github.com/fleetwright/fleetwright/validators/source"
)

// said gives what a rule finds, a line each: severity, line, message.
func said(t *testing.T, r rule.Rule, files string) string {
	t.Helper()
	var b strings.Builder
	for _, f := range ruletest.Find(t, r, files) {
		b.WriteString(string(f.Severity) + " " + f.Message + "\n")
	}
	return b.String()
}

func TestInsecure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, spec string
		want       finding.Severity
	}{
		{"HelmRepository", "{url: http://charts.example.com}", finding.Error},
		{"HelmRepository", "{url: 'http://user:hunter2@charts.example.com'}", finding.Error},
		{"HelmRepository", "{url: http://chartmuseum.charts}", finding.Error},
		{"HelmRepository", "{url: http://chartmuseum.b}", ""},
		{"HelmRepository", "{url: http://chartmuseum.charts.svc}", ""},
		{"HelmRepository", "{url: http://chartmuseum.charts.svc.cluster.local:8080/x}", ""},
		{"HelmRepository", "{url: http://chartmuseum}", ""},
		{"HelmRepository", "{url: http://10.1.2.3/charts}", finding.Info},
		{"HelmRepository", "{url: http://nas.lan/charts}", finding.Info},
		{"HelmRepository", "{url: http://127.0.0.1/charts}", ""},
		{"HelmRepository", "{url: http://203.0.113.7/charts}", finding.Error},
		{"HelmRepository", "{url: https://charts.example.com}", ""},
		{"GitRepository", "{url: git://git.example.com/a/b}", finding.Error},
		{"GitRepository", "{url: ssh://git@git.example.com/a/b}", ""},
		{"OCIRepository", "{url: oci://registry.example.com/a, insecure: true}", finding.Error},
		{"OCIRepository", "{url: oci://registry.example.com/a, insecure: false}", ""},
		{"OCIRepository", "{url: 'oci://${HOST}/a'}", ""},
		{"Bucket", "{endpoint: s3.example.com, bucketName: a, insecure: true}", finding.Error},
		{"Bucket", "{endpoint: 'minio.minio.svc:9000', bucketName: a, insecure: true}", ""},
		{"HelmRepository", "{url: 'http://[::1'}", ""},
		{"HelmRepository", "{}", ""},
	} {
		files := "-- a.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: " + c.kind + "\nmetadata: {name: a, namespace: b}\nspec: " + c.spec + "\n"
		found := ruletest.Find(t, source.Insecure, files)
		var got finding.Severity
		if len(found) > 0 {
			got = found[0].Severity
		}
		if got != c.want || len(found) > 1 {
			t.Errorf("%s %s: %q, want %q", c.kind, c.spec, got, c.want)
		}
		if strings.Contains(said(t, source.Insecure, files), "hunter2") {
			t.Error("the message contains a password")
		}
	}
}

func TestInsecureUnresolved(t *testing.T) {
	t.Parallel()
	found, unresolved := ruletest.Run(t, source.Insecure, "-- a.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: a, namespace: b}\nspec: {url: 'http://${HOST}/'}\n")
	if len(found) > 0 || len(unresolved) != 1 || unresolved[0].Line != 4 {
		t.Errorf("got %v, %v", found, unresolved)
	}
}

// fleet is a cluster that syncs a repository of acme's and applies apps.yaml.
func fleet(apps string) string {
	return `-- clusters/a/flux-system/gotk-sync.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: "ssh://git@github.com/acme/fleet", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, path: ./clusters/a, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
-- clusters/a/apps.yaml --
` + apps
}

const sourced = `apiVersion: source.toolkit.fluxcd.io/v1
kind: KIND
metadata: {name: a, namespace: b}
spec: {interval: 1h, SPEC}
---
`

const manifests = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: b}
spec: {interval: 1h, prune: true, sourceRef: {kind: KIND, name: a}}
`

const chart = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a, namespace: b}
spec: {interval: 1h, chartRef: {kind: OCIRepository, name: a}}
`

func TestMutableRef(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, spec, user, want string }{
		{"GitRepository", `url: "https://github.com/acme/apps", ref: {branch: main}`, manifests, ""},
		{"GitRepository", `url: "https://github.com/ACME/apps.git"`, manifests, ""},
		{"GitRepository", `url: "https://github.com/other/apps", ref: {branch: main}`, manifests, `warning GitRepository b/a follows the branch "main" of a repository with another owner`},
		{"GitRepository", `url: "https://github.com/other/apps"`, manifests, `warning GitRepository b/a follows the branch "master" of a repository with another owner`},
		{"GitRepository", `url: "https://github.com/other/apps", ref: {branch: main}`, "", ""},
		{"GitRepository", `url: "https://github.com/other/apps", secretRef: {name: a}, ref: {branch: main}`, manifests, ""},
		{"GitRepository", `url: "https://git.example.com/other/apps", ref: {branch: main}`, manifests, ""},
		{"GitRepository", `url: "https://github.com/other/apps", ref: {tag: v1}`, manifests, ""},
		{"GitRepository", `url: "https://github.com/other/apps", ref: {branch: main, commit: abc}`, manifests, ""},
		{"GitRepository", `url: "https://github.com/other/apps", ref: {name: refs/heads/main}`, manifests, `warning GitRepository b/a follows "refs/heads/main" of a repository with another owner`},
		{"GitRepository", `url: "https://github.com/other/apps", ref: {name: refs/tags/v1}`, manifests, ""},
		{"GitRepository", `url: "https://github.com/other/apps", ref: {semver: ">=1.0.0"}`, manifests, `info GitRepository b/a: the range ">=1.0.0" has no upper bound and allows any major version`},
		{"OCIRepository", `url: "oci://ghcr.io/acme/manifests/a", ref: {tag: latest}`, manifests, ""},
		{"OCIRepository", `url: "oci://ghcr.io/other/manifests/a", ref: {tag: latest}`, manifests, `warning OCIRepository b/a follows the tag "latest", which is mutable`},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {tag: latest}`, chart, `warning OCIRepository b/a follows the tag "latest", which is mutable`},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a"`, chart, `warning OCIRepository b/a has neither tag nor digest, so Flux follows the tag latest`},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {tag: latest, digest: "sha256:00"}`, chart, ""},
		{"GitRepository", `url: "https://github.com/other/apps", ref: {semver: ">=1.0.0", tag: v1.2.3}`, manifests, ""},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {semver: "*"}`, chart, `warning OCIRepository b/a: the range "*" has no upper bound and allows any major version`},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {semver: ">=0.0.0-0"}`, chart, `warning OCIRepository b/a: the range ">=0.0.0-0" has no upper bound and allows any major version`},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {semver: "1.x"}`, chart, ""},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {semver: "${RANGE}"}`, chart, ""},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {tag: 1.2.3}`, chart, ""},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {tag: 1.20}`, chart, ""},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {tga: 1.2.3}`, chart, ""},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: 1.2.3`, chart, ""},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {tag: }`, chart, `warning OCIRepository b/a has neither tag nor digest, so Flux follows the tag latest`},
		{"OCIRepository", `url: "oci://ghcr.io/acme/charts/a", ref: {semverFilter: "rc"}`, chart, `warning OCIRepository b/a has neither tag nor digest, so Flux follows the tag latest`},
		{"GitRepository", `url: "https://github.com/other/apps", ref: {tag: 1.20}`, manifests, ""},
		{"GitRepository", `url: "https://github.com/other/apps", ref: {branch: main, comit: abc}`, manifests, ""},
		{"HelmChart", `chart: a, sourceRef: {kind: HelmRepository, name: x}`, "", `warning the chart "a" has no version, so Flux always installs the newest one`},
		{"HelmChart", `chart: a, sourceRef: {kind: GitRepository, name: x}`, "", ""},
	} {
		files := fleet(strings.NewReplacer("KIND", c.kind, "SPEC", c.spec).Replace(sourced + c.user))
		if got := strings.TrimSpace(said(t, source.MutableRef, files)); got != c.want {
			t.Errorf("%s {%s}: %q, want %q", c.kind, c.spec, got, c.want)
		}
	}
}

// A tenant follows a branch of its own repository, wherever that is.
func TestMutableRefOfATenant(t *testing.T) {
	t.Parallel()
	files := fleet(strings.NewReplacer("KIND", "GitRepository", "SPEC", `url: "https://github.com/team/apps", ref: {branch: main}`).
		Replace(sourced+manifests) + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: b, labels: {toolkit.fluxcd.io/tenant: team}}\n")
	if got := said(t, source.MutableRef, files); got != "" {
		t.Errorf("got %s", got)
	}
}

// What two clusters share is one finding, which names no cluster.
func TestSharedBase(t *testing.T) {
	t.Parallel()
	shared := func(path string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + path + ", namespace: flux-system}\n" +
			"spec: {interval: 1h, path: ./" + path + ", prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n---\n"
	}
	a := fleet(shared("both") + shared("one"))
	files := a + strings.ReplaceAll(fleet(shared("both")), "clusters/a", "clusters/b") + `-- both/a.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: a, namespace: b}
spec: {url: http://charts.example.com}
-- one/a.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: c, namespace: b}
spec: {url: http://charts.example.com}
-- none/a.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: d, namespace: b}
spec: {url: http://charts.example.com}
`
	found := ruletest.Find(t, source.Insecure, files)
	if len(found) != 2 || found[0].File != "both/a.yaml" || found[0].Cluster != "" || found[1].File != "one/a.yaml" || found[1].Cluster != "a" {
		t.Errorf("got %+v", found)
	}
}

func TestUnverified(t *testing.T) {
	t.Parallel()
	files := fleet(`apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: a, namespace: b}
spec: {type: oci, url: oci://ghcr.io/acme/charts}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: a, namespace: b}
spec:
  chart:
    spec: {chart: a, version: 1.0.0, sourceRef: {kind: HelmRepository, name: a}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: c, namespace: b}
spec:
  chart:
    spec: {chart: a, version: 1.0.0, sourceRef: {kind: HelmRepository, name: x}}
`)
	found := ruletest.Find(t, source.Unverified, files)
	if len(found) != 1 || found[0].Line != 11 || found[0].Object.Name != "a" {
		t.Errorf("got %+v", found)
	}
}
