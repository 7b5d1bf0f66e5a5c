package reconcile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/charts"
)

// greeter is a chart that unique what it was given.
func greeter(dir, version string) string {
	return fmt.Sprintf(`-- %[1]s/Chart.yaml --
apiVersion: v2
name: greeter
version: %[2]s
-- %[1]s/values.yaml --
a: chart
b: chart
-- %[1]s/staging.yaml --
a: staging
-- %[1]s/crds/thing.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  scope: Cluster
  group: example.com
  names: {kind: Thing}
  versions: [{name: v1, served: true}]
-- %[1]s/templates/all.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data:
  version: {{ .Chart.Version }}
  a: {{ .Values.a | quote }}
  b: {{ .Values.b | quote }}
  c: {{ dig "d" "" (.Values.c | default dict) | quote }}
  thing: {{ .Capabilities.APIVersions.Has "example.com/v1/Thing" | quote }}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: wide}
`, dir, version)
}

// reconciled is the only cluster of files, with charts from others.
func reconciled(t *testing.T, files, shelf string) *Cluster {
	t.Helper()
	repo := parsed(t, sources+files)
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(shelf)).Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var library *charts.Library
	var err error
	if shelf != "" {
		if library, err = charts.Open(dir); err != nil {
			t.Fatal(err)
		}
	}
	fleet, err := Reconcile(t.Context(), repo, Options{Charts: library})
	if err != nil || len(fleet.Clusters) != 1 {
		t.Fatalf("%d clusters, %v", len(fleet.Clusters), err)
	}
	return fleet.Clusters[0]
}

const sources = `-- clusters/prod/flux.yaml --
apiVersion: fluxcd.controlplane.io/v1
kind: FluxInstance
metadata: {name: flux, namespace: flux-system}
spec:
  distribution: {version: 2.9.x, registry: ghcr.io/fluxcd}
  sync: {kind: GitRepository, url: https://git.example.com/fleet.git, ref: refs/heads/main, path: clusters/prod}
-- clusters/prod/sources.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: tagged, namespace: flux-system}
spec: {url: "oci://registry.example.com/charts/greeter", ref: {tag: v1.2.0, digest: "sha256:0"}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: ranged, namespace: flux-system}
spec: {url: "oci://registry.example.com/charts/greeter", ref: {semver: "<1.2.0", tag: 1.2.0}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: digest, namespace: flux-system}
spec: {url: "oci://registry.example.com/charts/greeter", ref: {digest: "sha256:0"}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: flux-system}
spec: {url: "https://charts.example.com"}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmChart
metadata: {name: chart, namespace: flux-system}
spec: {chart: greeter, version: 1.1.x, sourceRef: {kind: HelmRepository, name: charts}}
`

// release is a HelmRelease with more fields of its spec.
func release(spec string) string {
	return "-- clusters/prod/release.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: hi, namespace: flux-system}\nspec:\n  interval: 1h\n" + spec
}

const ownChart = "  chart: {spec: {chart: ./charts/greeter, sourceRef: {kind: GitRepository, name: flux-system}}}\n"

// TestCharts: the chart is the one that Flux would take, or none.
func TestCharts(t *testing.T) {
	shelf := greeter("one", "1.1.0") + greeter("deep/er/two", "1.1.5") + greeter("three", "1.2.0") + greeter("four", "1.3.0-rc.1")
	repository := func(version string) string {
		return "  chart: {spec: {chart: greeter, version: \"" + version + "\", sourceRef: {kind: HelmRepository, name: charts}}}\n"
	}
	ref := func(kind, name string) string { return "  chartRef: {kind: " + kind + ", name: " + name + "}\n" }
	for _, c := range []struct{ name, spec, want string }{
		{"its own source", ownChart, "greeter 0.5.0"},
		{"a folder that is none", strings.ReplaceAll(ownChart, "/greeter", "/none"), "failed"},
		{"another source", strings.ReplaceAll(ownChart, "name: flux-system", "name: other"), ""},
		{"a version", repository("1.1.0"), "greeter 1.1.0"},
		{"a range", repository("1.1.x"), "greeter 1.1.5"},
		{"the newest", repository("*"), "greeter 1.2.0"},
		{"any pre-release", repository(">=1.2.1-0"), "greeter 1.3.0-rc.1"},
		{"another version", repository("1.2.1"), "chart greeter is available locally in version 1.3.0-rc.1, 1.2.0, 1.1.5 and 1 more, but not in version 1.2.1"},
		{"an ignored folder", strings.ReplaceAll(ownChart, "/greeter", "/hidden"), "no chart for Flux at \"./charts/hidden\": charts/.sourceignore:1 excludes it from the source"},
		{"a file that is no pattern's", strings.ReplaceAll(ownChart, "/greeter", "/seen"), "seen 0.5.0"},
		{"a chart that is not there", strings.ReplaceAll(repository("1.1.0"), "greeter", "other"), ""},
		{"a version that is not known", repository("${VERSION}"), ""},
		{"a tag", ref("OCIRepository", "tagged"), "greeter 1.2.0"},
		{"a range of tags", ref("OCIRepository", "ranged"), "greeter 1.1.5"},
		{"a digest", ref("OCIRepository", "digest"), ""},
		{"a HelmChart", ref("HelmChart", "chart"), "greeter 1.1.5"},
		{"a HelmChart that is none", ref("HelmChart", "none"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := reconciled(t, release(c.spec)+greeter("charts/greeter", "0.5.0")+greeter("charts/hidden", "0.5.0")+
				strings.ReplaceAll(greeter("charts/seen", "0.5.0"), "name: greeter", "name: seen")+"-- charts/.sourceignore --\nhidden/\n", shelf)
			if len(cluster.Releases) != 1 {
				t.Fatalf("%d releases", len(cluster.Releases))
			}
			r := cluster.Releases[0]
			got := r.Chart
			switch {
			case r.Failure != nil && c.want == "failed":
				got = "failed"
			case r.Failure != nil:
				got = r.Failure.String()
			case r.Unknown != "":
				got = strings.TrimPrefix(r.Unknown, "it is not rendered and not checked: ")
			}
			if got != c.want || (r.Chart != "") != (len(r.Objects) > 0) {
				t.Errorf("got %q with %d objects, want %q: %v %s", got, len(r.Objects), c.want, r.Failure, r.Unknown)
			}
		})
	}
}

// TestReleaseValues: values are put together in Flux's order, and each is known to stand where
// it is set.
func TestReleaseValues(t *testing.T) {
	const maps = `-- clusters/prod/values.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: values, namespace: flux-system}
data:
  values.yaml: |
    a: first
    b: first
  other: |
    b: second
  text: d
---
apiVersion: v1
kind: Secret
metadata: {name: encrypted, namespace: flux-system}
stringData: {values.yaml: "ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]"}
sops: {mac: "ENC[x]"}
`
	for _, c := range []struct{ name, spec, want, places string }{
		{"the chart's", "", "chart chart  true", ""},
		{"files of the chart", "files", "staging   true", ""},
		{"inline", "  values: {a: x}\n", "x chart  true", "release.yaml:7"},
		{"one after the other", "  valuesFrom: [{kind: ConfigMap, name: values}, {kind: ConfigMap, name: values, valuesKey: other}]\n  values: {a: x}\n",
			"x second  true", "release.yaml:8 values.yaml:9"},
		{"a block", "  valuesFrom: [{kind: ConfigMap, name: values}]\n", "first first  true", "values.yaml:6 values.yaml:7"},
		{"at a path", "  valuesFrom: [{kind: ConfigMap, name: values, valuesKey: text, targetPath: c.d}]\n", "chart chart d true", ""},
		{"optional ones", "  valuesFrom: [{kind: ConfigMap, name: none, optional: true}, {kind: ConfigMap, name: values, valuesKey: none, optional: true}]\n", "chart chart  true", ""},
		{"one that is missing", "  valuesFrom: [{kind: ConfigMap, name: none}]\n", "values come from ConfigMap flux-system/none, which is not among the cluster's objects", ""},
		{"a key that is missing", "  valuesFrom: [{kind: ConfigMap, name: values, valuesKey: none}]\n", "failed", ""},
		{"an encrypted one", "  valuesFrom: [{kind: Secret, name: encrypted}]\n", "values come from Secret flux-system/encrypted, whose key \"values.yaml\" is encrypted or unknown", ""},
		{"without definitions", "  install: {crds: Skip}\n", "chart chart  true", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := ownChart + c.spec
			if c.spec == "files" {
				spec = strings.ReplaceAll(ownChart, "sourceRef", "valuesFiles: [charts/greeter/staging.yaml], sourceRef")
			}
			cluster := reconciled(t, release(spec)+maps+greeter("charts/greeter", "1.0.0"), "")
			r := cluster.Releases[0]
			got := r.Unknown
			if r.Failure != nil {
				got = "failed"
			}
			if len(r.Objects) > 0 {
				data := func(name string) string { return r.Objects[0].Text("data", name) }
				got = strings.Join([]string{data("a"), data("b"), data("c"), data("thing")}, " ")
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if skips := strings.Contains(c.spec, "Skip"); len(r.Objects) > 0 && skips != (len(r.Definitions) == 0) {
				t.Errorf("%d definitions", len(r.Definitions))
			}
			for i, want := range strings.Fields(c.places) {
				if at := filepath.Base(r.ValuePosition([]string{"a", "b"}[i]).Short()); at != want {
					t.Errorf("%s is set at %s, want %s", []string{"a", "b"}[i], at, want)
				}
			}
		})
	}
}

// TestReleasePlacement: names and namespaces are those of the release, and what goes to
// another cluster is in none.
func TestReleasePlacement(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"", "ConfigMap flux-system/hi, Thing wide"},
		{"  targetNamespace: apps\n", "ConfigMap apps/apps-hi, Thing wide"},
		{"  targetNamespace: apps\n  releaseName: hello\n", "ConfigMap apps/hello, Thing wide"},
		{"  kubeConfig: {secretRef: {name: x}}\n", ""},
		{"  postRenderers: [{kustomize: {patches: [{target: {kind: ConfigMap}, patch: \"- {op: replace, path: /metadata/name, value: patched}\"}]}}]\n", "ConfigMap flux-system/patched, Thing wide"},
	} {
		cluster := reconciled(t, release(ownChart+c.spec)+greeter("charts/greeter", "1.0.0"), "")
		var names []string
		for _, o := range cluster.Releases[0].Objects {
			names = append(names, o.String())
			if len(cluster.Find(o.Identity)) != 1 || o.HelmRelease != cluster.Releases[0].Object || o.Template != "greeter/templates/all.yaml" {
				t.Errorf("%s is not in the graph: %+v", o, o)
			}
		}
		if got := strings.Join(names, ", "); got != c.want {
			t.Errorf("%s gives %q, want %q: %v", c.spec, got, c.want, cluster.Releases[0].Failure)
		}
	}
}
