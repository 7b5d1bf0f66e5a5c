package functions

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/render"
	"github.com/fleetwright/fleetwright/validators"
)

// captures are ResourceLists as kustomize and kpt sent them.
func captures(t *testing.T, prefix string) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/" + prefix + "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	out := map[string]string{}
	for _, f := range files {
		content, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(f)] = string(content)
	}
	return out
}

// withConfig replaces the functionConfig of a ResourceList; an empty one takes
// it away.
func withConfig(list, config string) string {
	before, _, _ := strings.Cut(list, "\nfunctionConfig:")
	before = strings.TrimRight(before, "\n") + "\n"
	if config == "" {
		return before
	}
	return before + "functionConfig:\n  " + strings.ReplaceAll(strings.TrimSpace(config), "\n", "\n  ") + "\n"
}

func call(t *testing.T, list string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := Run(t.Context(), strings.NewReader(list), &out, Options{Root: t.TempDir()})
	return out.String(), err
}

// items parses the items of a ResourceList.
func items(t *testing.T, list string) []*kyaml.RNode {
	t.Helper()
	r := &kio.ByteReader{Reader: strings.NewReader(list), OmitReaderAnnotations: true}
	nodes, err := r.Read()
	if err != nil {
		t.Fatalf("not a ResourceList: %v\n%s", err, list)
	}
	return nodes
}

// texts are the items as YAML, comments included.
func texts(t *testing.T, list string) []string {
	t.Helper()
	var out []string
	for _, n := range items(t, list) {
		out = append(out, n.MustString())
	}
	return out
}

const validate = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\ndata:\n  function: ValidateFleet\n"

const kindValidate = "apiVersion: fleetwright.dev/v1alpha1\nkind: ValidateFleet\nmetadata:\n  name: v\n"

func TestValidatorEchoesToKpt(t *testing.T) {
	for name, list := range captures(t, "kpt-") {
		for _, config := range []string{validate, kindValidate} {
			list := withConfig(list, config)
			out, err := call(t, list)
			// The Deployment of some captures is invalid; it is echoed all the same.
			if found := (*FindingsError)(nil); err != nil && !errors.As(err, &found) {
				t.Errorf("%s: %v", name, err)
			}
			if got, want := texts(t, out), texts(t, list); !slices.Equal(got, want) {
				t.Errorf("%s: the items changed:\n%s", name, out)
			}
		}
	}
}

func TestValidatorReturnsNothingToKustomize(t *testing.T) {
	for name, list := range captures(t, "kustomize-") {
		if name == "kustomize-generator.yaml" {
			continue // its one item is its own configuration, see below
		}
		out, err := call(t, withConfig(list, kindValidate))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(items(t, out)); n != 0 || !strings.Contains(out, "items: []") {
			t.Errorf("%s: %d items came back, want items: []", name, n)
		}
	}
}

func TestCallers(t *testing.T) {
	for name, list := range captures(t, "") {
		l, err := readList(strings.NewReader(list))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if want := strings.HasPrefix(name, "kustomize-"); l.kustomize != want {
			t.Errorf("%s: taken for kustomize's: %v, want %v", name, l.kustomize, want)
		}
		if want := name == "kustomize-generator.yaml"; l.generator != want {
			t.Errorf("%s: taken for a generator's: %v, want %v", name, l.generator, want)
		}
	}
	doubtful := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a\n"
	l, err := readList(strings.NewReader(doubtful))
	if err != nil || l.kustomize {
		t.Errorf("items without any annotation: kustomize %v, error %v; in doubt they are echoed", l != nil && l.kustomize, err)
	}
}

func TestConfigIsDecodedStrictly(t *testing.T) {
	capture := captures(t, "kpt-validator")["kpt-validator.yaml"]
	kustomize := captures(t, "kustomize-transformer")["kustomize-transformer.yaml"]
	const head = "apiVersion: fleetwright.dev/v1alpha1\nkind: "
	for _, c := range []struct{ name, list, config, want string }{
		{"none", capture, "", "want kind RenderFleet, ValidateFleet, VerifyBootstrap or EncryptSecrets"},
		{"kind", capture, head + "RenderFlet\n", `kind "RenderFlet" is unknown`},
		{"version", capture, "apiVersion: fleetwright.dev/v1\nkind: RenderFleet\n", `apiVersion "fleetwright.dev/v1" is unknown`},
		{"field", capture, head + "ValidateFleet\nspec:\n  failon: error\n", `field "failon" of spec is unknown: want baseline, disable, failOn, failOnUnresolved, ignore, kubernetes, minCoverage, profiles, roots, rules or severities`},
		{"top-level field", capture, head + "ValidateFleet\nsepc: {}\n", `field "sepc" is unknown`},
		{"twice", capture, head + "ValidateFleet\nspec:\n  failOn: error\n  failOn: info\n", `"failOn" of spec is set twice`},
		{"type", capture, head + "ValidateFleet\nspec:\n  failOn: [error]\n", "spec.failOn: want a string"},
		{"value", capture, head + "ValidateFleet\nspec:\n  failOn: never\n", `"never" is not allowed: want error, warning or info`},
		{"near field", capture, head + "ValidateFleet\nspec:\n  rule: [schema-invalid]\n", `did you mean "rules"?`},
		{"ignore without reason", capture, head + "ValidateFleet\nspec:\n  ignore:\n  - rules: [schema-invalid]\n", `spec.ignore[0]: reason is missing`},
		{"ignore of everything", capture, head + "ValidateFleet\nspec:\n  ignore:\n  - reason: x\n", `spec.ignore[0]: want rules, paths or kinds`},
		{"ignore of no rule", capture, head + "ValidateFleet\nspec:\n  ignore:\n  - {reason: x, rules: [no-rule]}\n", `spec.ignore[0].rules: "no-rule" is not a rule`},
		{"ignore with a bad path", capture, head + "ValidateFleet\nspec:\n  ignore:\n  - {reason: x, paths: ['a[']}\n", `spec.ignore[0].paths: "a[" is not a valid pattern`},
		{"ignore that is text", capture, head + "ValidateFleet\nspec:\n  ignore: [schema-invalid]\n", `spec.ignore[0]: want a map`},
		{"severity", capture, head + "ValidateFleet\nspec:\n  severities: {schema-invalid: off}\n", `spec.severities.schema-invalid: "off" is not a severity`},
		{"no root", capture, head + "ValidateFleet\nspec:\n  roots: [nowhere]\n", `the root "nowhere" is not a folder`},
		{"nothing left", capture, head + "ValidateFleet\nspec:\n  rules: [schema-invalid]\n  disable: [schema-*]\n", "no rule is left"},
		{"baseline outside", capture, head + "ValidateFleet\nspec:\n  baseline: ../b.json\n", "spec.baseline: ../b.json is not a file inside the working directory"},
		{"rule", capture, head + "ValidateFleet\nspec:\n  rules: [no-such-rule]\n", `"no-such-rule" is not a rule`},
		{"map without function", capture, "apiVersion: v1\nkind: ConfigMap\ndata:\n  output: files\n", "without data.function"},
		{"map with an unknown function", capture, "apiVersion: v1\nkind: ConfigMap\ndata:\n  function: Render\n", `data.function "Render" is unknown`},
		{"map with an unknown field", capture, "apiVersion: v1\nkind: ConfigMap\ndata:\n  function: RenderFleet\n  outptu: files\n", `field "outptu" of data is unknown`},
		{"spec is a list", capture, head + "RenderFleet\nspec: []\n", "spec: want a map"},
		{"objects without cluster", capture, head + "RenderFleet\nspec:\n  output: objects\n", "needs spec.cluster"},
		{"cluster without objects", capture, head + "RenderFleet\nspec:\n  output: files\n  cluster: a\n", "spec.cluster can be set only with"},
		{"package for kustomize", kustomize, head + "RenderFleet\n", "spec.output is not set"},
		{"path out of the folder", capture, head + "RenderFleet\nspec:\n  output: files\n  path: ../x\n", "is outside of the working directory"},
		{"path that is not there", capture, head + "RenderFleet\nspec:\n  output: files\n  path: x\n", "does not exist"},
		{"absolute path", capture, head + "VerifyBootstrap\nspec:\n  root: /etc\n", "is outside of the working directory"},
		{"no bootstrap", capture, head + "VerifyBootstrap\n", "no bootstrap to verify"},
		{"no specification", capture, head + "RenderFleet\n", "the items contain no specification"},
		{"files that leave", capture, head + "VerifyBootstrap\nspec:\n  files:\n    ../helmfile.yaml: a\n", `"../helmfile.yaml"`},
		{"foreign object", capture, head + "RenderFleet\nspec:\n  output: files\n  objects:\n  - apiVersion: v1\n    kind: Secret\n    metadata:\n      name: s\n", "spec.objects contains Secret s"},
	} {
		out, err := call(t, withConfig(c.list, c.config))
		var input *advice.Error
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want wrong input with %q", c.name, err, c.want)
			continue
		}
		if !strings.Contains(out, "severity: error") {
			t.Errorf("%s: the results don't hold the error", c.name)
		}
		if c.list == capture && !slices.Equal(texts(t, out), texts(t, c.list)) {
			t.Errorf("%s: a failed call changed the items", c.name)
		}
	}
}

func TestNotAResourceList(t *testing.T) {
	for name, in := range map[string]string{
		"nothing": "", "text": "hello", "an object": "apiVersion: v1\nkind: ConfigMap\n",
		"broken":        "kind: ResourceList\nitems: [",
		"a scalar item": "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: [a]\n",
	} {
		var out bytes.Buffer
		err := Run(t.Context(), strings.NewReader(in), &out, Options{Root: "."})
		if input := (*advice.Error)(nil); !errors.As(err, &input) {
			t.Errorf("%s: error %v, want wrong input: empty output with success deletes a kpt package", name, err)
		}
	}
}

const fleetItems = `apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: kpt.dev/v1
  kind: Kptfile
  metadata:
    name: platform
    annotations:
      config.kubernetes.io/index: '0'
      config.kubernetes.io/path: 'Kptfile'
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'Kptfile'
      internal.config.kubernetes.io/package-path: '/pkg'
- apiVersion: fleetwright.dev/v1alpha1
  kind: Fleet
  metadata:
    name: acme
    annotations:
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'fleet/fleet.yaml'
      internal.config.kubernetes.io/package-path: '/pkg'
  spec:
    repository:
      url: https://github.com/acme/platform # ours
- apiVersion: fleetwright.dev/v1alpha1
  kind: Cluster
  metadata:
    name: staging
    annotations:
      internal.config.kubernetes.io/index: '1'
      internal.config.kubernetes.io/path: 'fleet/fleet.yaml'
      internal.config.kubernetes.io/package-path: '/pkg'
  spec:
    environment: staging
    variables:
      CLUSTER_NAME: staging
- apiVersion: fleetwright.dev/v1alpha1
  kind: Addon
  metadata:
    name: podinfo
    annotations:
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'fleet/podinfo.yaml'
      internal.config.kubernetes.io/package-path: '/pkg'
  spec:
    stateful: false
    namespace: podinfo
    chart:
      url: oci://ghcr.io/stefanprodan/charts/podinfo
      version: 6.9.4
    values:
      replicaCount: 2
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: users-own
    annotations:
      internal.config.kubernetes.io/index: '1'
      internal.config.kubernetes.io/path: 'deep/own.yaml'
      internal.config.kubernetes.io/package-path: '/pkg'
- # a comment
  apiVersion: v1
  kind: ConfigMap
  metadata:
    name: users-first
    annotations:
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'deep/own.yaml'
      internal.config.kubernetes.io/package-path: '/pkg'
- apiVersion: v1
  kind: ConfigMap
  metadata:
    name: child
    annotations:
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'cluster-vars.yaml'
      internal.config.kubernetes.io/package-path: '/pkg/clusters/staging/child'
`

const renderConfig = "apiVersion: fleetwright.dev/v1alpha1\nkind: RenderFleet\nmetadata:\n  name: r\n"

// byPath finds the items of a file.
func byPath(t *testing.T, list, file string) []*kyaml.RNode {
	t.Helper()
	var out []*kyaml.RNode
	for _, n := range items(t, list) {
		if a := annotationsOf(n); a[pathKey] == file && a[packagePath] == "/pkg" {
			out = append(out, n)
		}
	}
	return out
}

func TestRenderFleetInKpt(t *testing.T) {
	list := withConfig(fleetItems, renderConfig)
	out, err := call(t, list)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := texts(t, out)[:7], texts(t, list); !slices.Equal(got, want) {
		t.Errorf("items that are not fleetwright's changed:\n%s", strings.Join(got, "---\n"))
	}
	for _, n := range items(t, out)[7:] {
		a := annotationsOf(n)
		if a[pathKey] == "" || a[pathKey] != a[legacyPathKey] || a[indexKey] == "" || a[indexKey] != a[legacyIndexKey] {
			t.Errorf("%s: prefixes of path and index disagree: %v", nameOf(n), a)
		}
		if a[packagePath] != "/pkg" {
			t.Errorf("%s: package path %q", nameOf(n), a[packagePath])
		}
	}
	if len(byPath(t, out, "clusters/staging/cluster-vars.yaml")) != 1 {
		t.Fatal("the cluster's variables are not rendered")
	}

	again, err := call(t, out)
	if err != nil || again != out {
		t.Errorf("the second call changes something: error %v", err)
	}

	// Files that are no longer generated go; an edited one stays.
	const gone = "infrastructure/controllers/base/podinfo/helmrelease.yaml"
	if len(byPath(t, out, gone)) != 1 {
		t.Fatal("the add-on is not rendered")
	}
	after, err := call(t, without(t, out, "Addon"))
	if err != nil {
		t.Fatal(err)
	}
	if len(byPath(t, after, gone)) != 0 {
		t.Error("a file that is no longer generated stayed")
	}
	after, err = call(t, strings.ReplaceAll(without(t, out, "Addon"), "replicaCount: 2", "replicaCount: 3"))
	if err != nil {
		t.Fatal(err)
	}
	if len(byPath(t, after, gone)) != 1 {
		t.Error("an edited file was dropped")
	}
	if !strings.Contains(after, "was edited") || !strings.Contains(after, "severity: warning") {
		t.Error("no result tells of the edited file")
	}
}

// without is a ResourceList without the items of a kind, for RenderFleet.
func without(t *testing.T, list, kind string) string {
	t.Helper()
	kept := slices.DeleteFunc(items(t, list), func(n *kyaml.RNode) bool { return n.GetKind() == kind })
	var b bytes.Buffer
	w := kio.ByteWriter{Writer: &b, KeepReaderAnnotations: true, WrappingKind: kio.ResourceListKind, WrappingAPIVersion: kio.ResourceListAPIVersion}
	if err := w.Write(kept); err != nil {
		t.Fatal(err)
	}
	return withConfig(b.String(), renderConfig)
}

func TestRenderFleetLeavesEditedFiles(t *testing.T) {
	out, err := call(t, withConfig(fleetItems, renderConfig))
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(out, "CLUSTER_NAME: staging")
	edited := out[:at] + strings.Replace(out[at:], "staging", "mine", 1)
	after, err := call(t, edited)
	if err != nil {
		t.Fatal(err)
	}
	if got := byPath(t, after, "clusters/staging/cluster-vars.yaml")[0].GetDataMap()["CLUSTER_NAME"]; got != "mine" {
		t.Errorf("the edited file says %q", got)
	}
	if !strings.Contains(after, "spec.overwrite: [clusters/staging/cluster-vars.yaml]") {
		t.Errorf("no way out is named:\n%s", after)
	}
	over, err := call(t, withConfig(edited, renderConfig+"spec:\n  overwrite: [clusters/staging/cluster-vars.yaml]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := byPath(t, over, "clusters/staging/cluster-vars.yaml")[0].GetDataMap()["CLUSTER_NAME"]; got != "staging" {
		t.Errorf("the overwritten file says %q", got)
	}
}

func TestRenderFleetRefusesATenantTakenOut(t *testing.T) {
	const tenant = `- apiVersion: fleetwright.dev/v1alpha1
  kind: Tenant
  metadata:
    name: shop
    annotations:
      internal.config.kubernetes.io/index: '0'
      internal.config.kubernetes.io/path: 'fleet/shop.yaml'
      internal.config.kubernetes.io/package-path: '/pkg'
  spec:
    source:
      url: https://github.com/acme/shop
`
	out, err := call(t, withConfig(fleetItems+tenant, renderConfig))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, without(t, out, "Tenant")); err == nil || !strings.Contains(err.Error(), "removed from the specification") {
		t.Errorf("error %v", err)
	}
}

func TestRenderFleetOfAGenerator(t *testing.T) {
	config := `apiVersion: fleetwright.dev/v1alpha1
kind: RenderFleet
metadata:
  annotations:
    config.kubernetes.io/function: |
      exec:
        path: fleetwright
        args: [fn]
    config.kubernetes.io/local-config: 'true'
  name: r
spec:
  output: files
  objects:
  - apiVersion: fleetwright.dev/v1alpha1
    kind: Fleet
    metadata:
      name: acme
    spec:
      repository:
        url: https://github.com/acme/platform
  - apiVersion: fleetwright.dev/v1alpha1
    kind: Cluster
    metadata:
      name: staging
`
	item := "- " + strings.ReplaceAll(strings.TrimSpace(config), "\n", "\n  ")
	list := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n" + item + "\n"
	out, err := call(t, withConfig(list, config))
	if err != nil {
		t.Fatal(err)
	}
	all := items(t, out)
	if len(all) < 5 || all[0].GetKind() != "RenderFleet" {
		t.Fatalf("%d items", len(all))
	}
	names := map[string]bool{}
	for _, n := range all[1:] {
		if n.GetKind() != render.KindFile || names[n.GetName()] {
			t.Errorf("%s is no File, or not the only one of its name", nameOf(n))
		}
		names[n.GetName()] = true
	}
	loaded, others, err := render.FromStream(strings.NewReader(out), "stream", t.TempDir())
	if err != nil || others != 1 {
		t.Fatalf("unpacking: %v, %d others", err, others)
	}
	if targets := loaded.Stream.Targets; len(targets) != 1 || len(targets[0].Tree.Paths()) != len(all)-2 {
		t.Errorf("unpacked %d targets", len(targets))
	}
	if _, err := call(t, withConfig(strings.ReplaceAll(list, "  objects:", "  unused:"), strings.Split(config, "  objects:")[0])); err == nil || !strings.Contains(err.Error(), "a generator sees only its own functionConfig") {
		t.Errorf("a generator without a specification: %v", err)
	}
}

func TestVerifyBootstrapNamesWhatDrifts(t *testing.T) {
	config, err := os.ReadFile("verifybootstrap/verifybootstrap.yaml")
	if err != nil {
		t.Fatal(err)
	}
	list := func(release string) string {
		docs, err := os.ReadFile("verifybootstrap/apps/cert-manager.yaml")
		if err != nil {
			t.Fatal(err)
		}
		out := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
		for d := range strings.SplitSeq(strings.Replace(string(docs), "tag: v1.19.2", "tag: "+release, 1), "---\n") {
			out += "- " + strings.ReplaceAll(strings.TrimSpace(d), "\n", "\n  ") + "\n"
		}
		return withConfig(out, string(config))
	}
	out, err := call(t, list("v1.19.2"))
	if err != nil || len(items(t, out)) != 2 {
		t.Fatalf("a bootstrap that agrees: %v", err)
	}
	out, err = call(t, list("v1.20.0"))
	if found := (*FindingsError)(nil); !errors.As(err, &found) {
		t.Fatalf("a bootstrap that drifts: %v", err)
	}
	for _, want := range []string{"release cert-manager/cert-manager", "HelmRelease cert-manager/cert-manager", `"v1.19.2"`, `"v1.20.0"`, "[bootstrap-version-drift]"} {
		if !strings.Contains(err.Error(), want) || !strings.Contains(out, strings.Trim(want, `"`)) {
			t.Errorf("error or results don't name %s:\n%v", want, err)
		}
	}
}

// The function finds what the command finds in the same files.
func TestSameFindingsAsTheCommand(t *testing.T) {
	content, err := os.ReadFile("validatefleet/app/podinfo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.NewReplacer("chartRef:", "chartReff:", "interval: 1h", "interval: [1h]").Replace(string(content))
	repo, err := repository.FromFiles(maps.All(map[string][]byte{"app/podinfo.yaml": []byte(broken)}), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report, err := validators.Run(t.Context(), repo, validators.Options{})
	if err != nil || len(report.Findings) == 0 {
		t.Fatalf("the command finds nothing: %v", err)
	}
	var want []string
	for _, f := range report.Findings {
		want = append(want, fmt.Sprintf("%s: %s: %s: %s [%s]", f.File, f.Severity, objectText(f.Object), f.Message, f.Rule))
	}
	list := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
	for i, d := range strings.Split(broken, "---\n") {
		d = strings.Replace(d, "  namespace: podinfo\n", fmt.Sprintf("  namespace: podinfo\n  annotations:\n"+
			"    internal.config.kubernetes.io/path: app/podinfo.yaml\n    internal.config.kubernetes.io/index: '%d'\n", i), 1)
		list += "- " + strings.ReplaceAll(strings.TrimSpace(d), "\n", "\n  ") + "\n"
	}
	_, err = call(t, withConfig(list, validate))
	var found *FindingsError
	if !errors.As(err, &found) {
		t.Fatalf("the function finds nothing: %v", err)
	}
	got := slices.DeleteFunc(strings.Split(found.Text, "\n"), func(line string) bool { return !strings.HasPrefix(line, "app/") })
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the function finds\n%s\nand the command\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Lists in place of metadata make kyaml panic.
func TestListedMetadata(t *testing.T) {
	const head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
	for list, want := range map[string]string{
		head + "items:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: [a]\n":                                   "items[0] of the ResourceList: metadata is a list, want a map",
		head + "items:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {annotations: [a]}\n":                    "items[0] of the ResourceList: annotations is a list, want a map",
		head + "items: []\nfunctionConfig: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: [a]}}\n": "the functionConfig of the ResourceList: labels is a list, want a map",
	} {
		var out bytes.Buffer
		if err := Run(t.Context(), strings.NewReader(list), &out, Options{Root: t.TempDir()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func FuzzRun(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(withConfig(string(content), validate))
	}
	f.Add(withConfig(fleetItems, renderConfig))
	f.Fuzz(func(t *testing.T, list string) {
		var out bytes.Buffer
		err := Run(t.Context(), strings.NewReader(list), &out, Options{Root: t.TempDir()})
		if err == nil && out.Len() == 0 {
			t.Error("empty output with success deletes a kpt package")
		}
	})
}
