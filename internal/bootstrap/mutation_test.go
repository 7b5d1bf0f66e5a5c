package bootstrap

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/testarchive"
)

// whole is a repository whose bootstrap agrees with Git, by two ways: values that stand in the
// helmfile, and values of a file that both sides read. Mutants of it start from it.
const whole = `-- bootstrap/helmfile.yaml --
releases:
  - name: cilium
    namespace: kube-system
    chart: oci://quay.io/cilium/charts/cilium
    version: 1.18.6
    values:
      - hubble:
          relay:
            resources:
              limits: {memory: 64Mi}
        operator:
          replicas: 2
          args: [--debug, --verbose]
          enabled: true
        port: 8080
  - name: coredns
    namespace: kube-system
    chart: oci://ghcr.io/coredns/charts/coredns
    version: 1.45.0
    values: [../kubernetes/apps/kube-system/coredns/app/values.yaml]
-- kubernetes/apps/kube-system/cilium/app/helmrelease.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: cilium
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: cilium
  values:
    hubble:
      relay:
        resources:
          limits:
            memory: 64Mi
    operator:
      replicas: 2
      args: [--debug, --verbose]
      enabled: true
    port: 8080
-- kubernetes/apps/kube-system/cilium/app/ocirepository.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: cilium
spec:
  interval: 1h
  url: oci://quay.io/cilium/charts/cilium
  ref:
    tag: 1.18.6
-- kubernetes/apps/kube-system/cilium/app/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - helmrelease.yaml
  - ocirepository.yaml
-- kubernetes/apps/kube-system/coredns/app/helmrelease.yaml --
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: coredns
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: coredns
  valuesFrom:
    - kind: ConfigMap
      name: coredns-values
-- kubernetes/apps/kube-system/coredns/app/ocirepository.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: coredns
spec:
  interval: 1h
  url: oci://ghcr.io/coredns/charts/coredns
  ref:
    tag: 1.45.0
-- kubernetes/apps/kube-system/coredns/app/values.yaml --
replicaCount: 2
servers:
  - port: 53
-- kubernetes/apps/kube-system/coredns/app/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - helmrelease.yaml
  - ocirepository.yaml
configMapGenerator:
  - name: coredns-values
    files: [values.yaml]
configurations: [kustomizeconfig.yaml]
-- kubernetes/apps/kube-system/coredns/app/kustomizeconfig.yaml --
nameReference:
  - kind: ConfigMap
    version: v1
    fieldSpecs:
      - path: spec/valuesFrom/name
        kind: HelmRelease
-- kubernetes/apps/kube-system/ks.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: cilium
spec:
  interval: 1h
  path: ./kubernetes/apps/kube-system/cilium/app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
    namespace: flux-system
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: coredns
spec:
  interval: 1h
  path: ./kubernetes/apps/kube-system/coredns/app
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
    namespace: flux-system
-- kubernetes/apps/kube-system/kustomization.yaml --
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: kube-system
resources:
  - ks.yaml
patches:
  - target:
      kind: Kustomization
      group: kustomize.toolkit.fluxcd.io
    patch: |
      - op: add
        path: /spec/targetNamespace
        value: kube-system
-- kubernetes/flux/cluster/ks.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1h
  url: https://example.com/home.git
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: cluster
  namespace: flux-system
spec:
  interval: 1h
  path: ./kubernetes/flux/cluster
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: apps
  namespace: flux-system
spec:
  interval: 1h
  path: ./kubernetes/apps/kube-system
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`

const (
	helmfilePath = "bootstrap/helmfile.yaml"
	ciliumPath   = "kubernetes/apps/kube-system/cilium/app/"
	corednsPath  = "kubernetes/apps/kube-system/coredns/app/"
)

// changed returns the whole repository with texts of a file replaced, old and new in turn. An
// empty old text adds to the file, or makes it.
func changed(t *testing.T, edits [][3]string) *txtar.Archive {
	t.Helper()
	a := txtar.Parse([]byte(whole))
	for _, e := range edits {
		found := false
		for i, f := range a.Files {
			switch {
			case f.Name != e[0]:
				continue
			case e[1] == "":
				a.Files[i].Data = slices.Concat(f.Data, []byte(e[2]))
			case strings.Count(string(f.Data), e[1]) != 1:
				t.Fatalf("%s has %q not once", e[0], e[1])
			default:
				a.Files[i].Data = []byte(strings.Replace(string(f.Data), e[1], e[2], 1))
			}
			found = true
		}
		if !found {
			a.Files = append(a.Files, txtar.File{Name: e[0], Data: []byte(e[2])})
		}
	}
	return a
}

// found are the differences of a repository: "rule field bootstrap-line git-file:git-line".
func found(t *testing.T, a *txtar.Archive) []string {
	t.Helper()
	report, err := Verify(t.Context(), testarchive.Repository(t, a), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range report.Releases {
		for _, d := range r.Differences {
			all = append(all, fmt.Sprintf("%s %s %d %s:%d", strings.TrimPrefix(d.Rule, "bootstrap-"), d.Field, d.Bootstrap.Line, d.Git.File, d.Git.Line))
		}
		if r.Verdict == Unresolved || r.Verdict == Missing {
			all = append(all, string(r.Verdict)+" "+r.Reason)
		}
	}
	return all
}

// TestMutations breaks a repository whose bootstrap agrees with Git in one thing each, and asks
// what is found, and where.
func TestMutations(t *testing.T) {
	helmrelease, source := ciliumPath+"helmrelease.yaml", ciliumPath+"ocirepository.yaml"
	for _, c := range []struct {
		name  string
		edits [][3]string
		want  string
	}{
		{"version in Git", [][3]string{{source, "tag: 1.18.6", "tag: 1.18.7"}}, "version-drift version 5 " + source + ":9"},
		{"version in the bootstrap", [][3]string{{helmfilePath, "version: 1.18.6", "version: 1.18.7"}}, "version-drift version 5 " + source + ":9"},
		{"version by a patch", [][3]string{{ciliumPath + "kustomization.yaml", "", "patches:\n  - target: {kind: OCIRepository}\n    patch: |\n      - op: replace\n        path: /spec/ref/tag\n        value: 2.0.0\n"}},
			"version-drift version 5 " + ciliumPath + "kustomization.yaml:11"},
		{"range outside of it", [][3]string{{source, "tag: 1.18.6", "semver: 1.17.x"}}, "version-drift version 5 " + source + ":9"},
		{"range", [][3]string{{source, "tag: 1.18.6", "semver: 1.18.x"}}, `unresolved Git pins no version: "1.18.x" is a range`},
		{"chart", [][3]string{{helmfilePath, "charts/cilium\n", "charts/cilium-enterprise\n"}}, "chart-drift chart 4 " + source + ":7"},
		{"value three maps deep", [][3]string{{helmrelease, "memory: 64Mi", "memory: 128Mi"}},
			"values-drift values.hubble.relay.resources.limits.memory 10 " + helmrelease + ":15"},
		{"list element", [][3]string{{helmrelease, "[--debug, --verbose]", "[--debug, --quiet]"}}, "values-drift values.operator.args[1] 13 " + helmrelease + ":18"},
		{"longer list", [][3]string{{helmrelease, "[--debug, --verbose]", "[--debug]"}}, "values-drift values.operator.args 13 " + helmrelease + ":18"},
		{"order of a list", [][3]string{{helmrelease, "[--debug, --verbose]", "[--verbose, --debug]"}},
			"values-drift values.operator.args[0] 13 " + helmrelease + ":18;values-drift values.operator.args[1] 13 " + helmrelease + ":18"},
		{"type", [][3]string{{helmrelease, "port: 8080", `port: "8080"`}}, "values-drift values.port 15 " + helmrelease + ":20"},
		{"boolean", [][3]string{{helmrelease, "enabled: true", `enabled: "true"`}}, "values-drift values.operator.enabled 14 " + helmrelease + ":19"},
		{"null", [][3]string{{helmrelease, "port: 8080", "port: null"}}, "values-drift values.port 15 " + helmrelease + ":20"},
		{"value of its own", [][3]string{{helmfilePath, "        port: 8080\n", "        port: 8080\n        debug: true\n"}}, "values-drift values.debug 16 :0"},
		{"namespace", [][3]string{{helmfilePath, "cilium\n    namespace: kube-system", "cilium\n    namespace: cilium"}},
			"identity-drift namespace 3 kubernetes/apps/kube-system/kustomization.yaml:13"},
		{"target namespace", [][3]string{{helmrelease, "  interval: 1h\n", "  interval: 1h\n  targetNamespace: cilium\n  releaseName: cilium\n"}},
			"identity-drift namespace 3 " + helmrelease + ":7"},
		{"storage namespace", [][3]string{{helmrelease, "  interval: 1h\n", "  interval: 1h\n  storageNamespace: flux-system\n"}},
			"identity-drift storageNamespace 3 " + helmrelease + ":7"},
		{"release name", [][3]string{{helmrelease, "  interval: 1h\n", "  interval: 1h\n  releaseName: cni\n"}}, "identity-drift release 2 " + helmrelease + ":7"},
		{"overlay", [][3]string{{ciliumPath + "kustomization.yaml", "", "patches:\n  - path: patch.yaml\n"},
			{ciliumPath + "patch.yaml", "", "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: cilium\nspec:\n  values:\n    operator:\n      replicas: 3\n"}},
			"overlay values.operator.replicas 12 " + ciliumPath + "patch.yaml:8"},
		{"patch of the parent", [][3]string{{"kubernetes/apps/kube-system/ks.yaml", "  path: ./kubernetes/apps/kube-system/cilium/app\n",
			"  path: ./kubernetes/apps/kube-system/cilium/app\n  patches:\n    - target: {kind: HelmRelease}\n      patch: |\n        - op: replace\n          path: /spec/values/port\n          value: 9090\n"}},
			"overlay values.port 15 kubernetes/apps/kube-system/ks.yaml:13"},
		{"valuesFrom", [][3]string{{helmrelease, "  values:\n", "  valuesFrom: [{kind: ConfigMap, name: more}]\n  values:\n"},
			{source, "", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata:\n  values.yaml: |\n    ipam: {mode: kubernetes}\n"}},
			"values-from values.ipam.mode 0 " + source + ":16"},
		{"valuesFrom at a targetPath", [][3]string{{helmrelease, "  values:\n", "  valuesFrom: [{kind: ConfigMap, name: more, valuesKey: n, targetPath: operator.replicas}]\n  values:\n"},
			{source, "", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata:\n  n: \"5\"\n"}},
			"values-from values.operator.replicas 12 " + source + ":15"},
		{"substitution", [][3]string{{helmrelease, "port: 8080", "port: ${PORT}"}, {helmfilePath, "port: 8080", `port: "${PORT}"`},
			{"kubernetes/apps/kube-system/ks.yaml", "  path: ./kubernetes/apps/kube-system/cilium/app\n", "  path: ./kubernetes/apps/kube-system/cilium/app\n  postBuild: {substitute: {PORT: \"8080\"}}\n"}},
			"substitution values.port 15 " + helmrelease + ":20"},
		{"encrypted", [][3]string{{helmrelease, "  values:\n", "  valuesFrom: [{kind: Secret, name: more, valuesKey: p, targetPath: operator.token}]\n  values:\n"},
			{source, "", "---\napiVersion: v1\nkind: Secret\nmetadata: {name: more}\nstringData: {p: \"ENC[AES256_GCM,data:a]\"}\nsops: {mac: \"ENC[a]\"}\n"}},
			"unresolved values come from the encrypted Secret kube-system/more"},
		{"values file", [][3]string{{helmfilePath, "coredns/app/values.yaml", "coredns/app/old.yaml"}, {corednsPath + "old.yaml", "", "replicaCount: 1\nservers:\n  - port: 53\n"}},
			"values-from values.replicaCount 1 " + corednsPath + "values.yaml:1"},
		{"values file that is gone", [][3]string{{helmfilePath, "coredns/app/values.yaml", "coredns/app/gone.yaml"}}, "values-drift values 20 :0"},
		{"literals of the generator", [][3]string{{corednsPath + "kustomization.yaml", "    files: [values.yaml]\n", "    files: [values.yaml=other.yaml]\n"}, {corednsPath + "other.yaml", "", "replicaCount: 2\nservers:\n  - port: 54\n"}},
			"values-from values.servers[0].port 3 " + corednsPath + "other.yaml:3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(found(t, changed(t, c.edits)), ";"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestNoMutation writes the same in another way: nothing is found.
func TestNoMutation(t *testing.T) {
	helmrelease, source := ciliumPath+"helmrelease.yaml", ciliumPath+"ocirepository.yaml"
	for name, edits := range map[string][][3]string{
		"nothing":           {},
		"leading v":         {{source, "tag: 1.18.6", "tag: v1.18.6"}},
		"digest":            {{source, "tag: 1.18.6", "tag: 1.18.6@sha256:aaaa"}},
		"mirror":            {{source, "oci://quay.io/cilium/charts", "oci://mirror.example.com/quay"}},
		"quotes":            {{source, "tag: 1.18.6", `tag: "1.18.6"`}, {helmrelease, "memory: 64Mi", "memory: '64Mi'"}},
		"comments":          {{helmrelease, "      replicas: 2\n", "      # as many as there are nodes\n      replicas: 2 # two\n"}},
		"flow style":        {{helmrelease, "      replicas: 2\n      args: [--debug, --verbose]\n      enabled: true\n", "      {replicas: 2, args: [--debug, --verbose], enabled: true}\n"}},
		"order of keys":     {{helmrelease, "      replicas: 2\n", ""}, {helmrelease, "      enabled: true\n", "      enabled: true\n      replicas: 2\n"}},
		"order of all":      {{helmrelease, "    port: 8080\n", ""}, {helmrelease, "  values:\n", "  values:\n    port: 8080\n"}},
		"anchors":           {{helmrelease, "memory: 64Mi", "memory: &memory 64Mi"}, {helmrelease, "    port: 8080\n", "    port: &port 8080\n"}},
		"aliases":           {{helmrelease, "  interval: 1h\n", "  interval: &count 1h\n"}, {helmrelease, "  name: cilium\nspec", "  name: &app cilium\nspec"}, {helmrelease, "    name: cilium\n", "    name: *app\n"}},
		"merge keys":        {{helmrelease, "    operator:\n      replicas: 2\n", "    operator:\n      <<: {replicas: 2}\n"}},
		"document start":    {{helmrelease, "apiVersion", "---\napiVersion"}},
		"indentation":       {{helmrelease, "      args: [--debug, --verbose]\n", "      args:\n      - --debug\n      - --verbose\n"}},
		"numbers":           {{helmrelease, "port: 8080", "port: 8080.0"}, {helmrelease, "replicas: 2", "replicas: 0x2"}},
		"block text":        {{helmrelease, "memory: 64Mi", "memory: >-\n              64Mi"}},
		"empty map":         {{helmrelease, "    port: 8080\n", "    port: 8080\n    affinity: {}\n"}},
		"patch to the same": {{ciliumPath + "kustomization.yaml", "", "patches:\n  - target: {kind: HelmRelease}\n    patch: |\n      - op: add\n        path: /spec/values/port\n        value: 8080\n"}},
		"variable with the value": {{helmrelease, "port: 8080", "port: ${PORT:-8080}"},
			{"kubernetes/apps/kube-system/ks.yaml", "  path: ./kubernetes/apps/kube-system/cilium/app\n", "  path: ./kubernetes/apps/kube-system/cilium/app\n  postBuild: {substitute: {A: b}}\n"}},
		"values moved to valuesFrom": {{helmrelease, "    port: 8080\n", ""}, {helmrelease, "  values:\n", "  valuesFrom: [{kind: ConfigMap, name: more, optional: true}]\n  values:\n"},
			{source, "", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\ndata: {values.yaml: \"{port: 8080, operator: {replicas: 9}}\"}\n"}},
		"same names spelled out": {{helmrelease, "  interval: 1h\n", "  interval: 1h\n  releaseName: cilium\n  targetNamespace: kube-system\n  storageNamespace: kube-system\n"}},
		"windows line ends":      {{source, "  ref:\n    tag: 1.18.6\n", "  ref:\r\n    tag: 1.18.6\r\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := found(t, changed(t, edits)); len(got) > 0 {
				t.Errorf("got %s", strings.Join(got, "\n"))
			}
		})
	}
}
