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

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators"
)

const head = "apiVersion: fleetwright.dev/v1alpha1\nkind: ValidateFleet\n"

// doorFiles have findings that are reported, and others that are ignored in each
// way that both doors know.
var doorFiles = map[string][]byte{
	"a.yaml":        []byte(repositoryNamed("plain", "", "")),
	"b.yaml":        []byte(repositoryNamed("annotated", "  annotations:\n    fleetwright.dev/ignore: \"schema-unknown-field: why\"\n", "")),
	"c.yaml":        []byte(repositoryNamed("commented", "", " # fleetwright:ignore schema-unknown-field why")),
	"d.yaml":        []byte(repositoryNamed("unreasoned", "", " # fleetwright:ignore schema-unknown-field")),
	"e.yaml":        []byte(strings.Replace(repositoryNamed("unused", "  annotations:\n    fleetwright.dev/ignore: \"schema-invalid: why\"\n", ""), "  mirror: x\n", "", 1)),
	"legacy/f.yaml": []byte(repositoryNamed("old", "", "")),
	"known/g.yaml":  []byte(repositoryNamed("known", "", "")),
}

func repositoryNamed(name, annotations, comment string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata:\n  name: " + name + "\n  namespace: apps\n" + annotations +
		"spec:\n  url: https://example.com/charts\n  mirror: x" + comment + "\n"
}

const doorConfig = head + `spec:
  disable: [schema-missing]
  severities: {ignore-invalid: error}
  ignore:
  - {rules: [schema-*], paths: [legacy], reason: it goes}
  baseline: baseline.json
`

// The function reports what validate reports, and ignores what it ignores.
func TestDoorsAgreeOnWhatIsIgnored(t *testing.T) {
	v, err := validators.ReadConfiguration(".fleetwright.yaml", []byte(doorConfig))
	if err != nil {
		t.Fatal(err)
	}
	options, err := v.Options()
	if err != nil {
		t.Fatal(err)
	}
	repo, err := repository.FromFiles(maps.All(doorFiles), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := validators.Run(t.Context(), repo, options)
	if err != nil {
		t.Fatal(err)
	}
	all.Findings = slices.DeleteFunc(all.Findings, func(f finding.Finding) bool { return f.File != "known/g.yaml" })
	options.Baseline, options.BaselineFile = finding.NewBaseline(all, repo.Lines().Line), v.Baseline
	report, err := validators.Run(t.Context(), repo, options)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range report.Findings {
		want = append(want, fmt.Sprintf("%s: %s: %s: %s [%s]", f.File, f.Severity, f.Object, f.Message, f.Rule))
	}
	if len(want) != 4 || report.Summary.Ignored != 4 {
		t.Fatalf("validate reports %q and ignores %d", want, report.Summary.Ignored)
	}

	root := t.TempDir()
	var text bytes.Buffer
	if err := options.Baseline.Write(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "baseline.json"), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	list := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"
	for _, name := range slices.Sorted(maps.Keys(doorFiles)) {
		item := strings.Replace(string(doorFiles[name]), "spec:\n", "  ANNOTATIONS\nspec:\n", 1)
		if !strings.Contains(item, "  annotations:\n") {
			item = strings.Replace(item, "  ANNOTATIONS\n", "  annotations:\n    ANNOTATIONS\n", 1)
		} else {
			item = strings.Replace(item, "  ANNOTATIONS\n", "    ANNOTATIONS\n", 1)
		}
		item = strings.Replace(item, "ANNOTATIONS", "config.kubernetes.io/path: "+name, 1)
		list += "- " + strings.ReplaceAll(strings.TrimSuffix(item, "\n"), "\n", "\n  ") + "\n"
	}
	err = Run(t.Context(), strings.NewReader(withConfig(list, doorConfig)), &bytes.Buffer{}, Options{Root: root})
	found := (*FindingsError)(nil)
	if !errors.As(err, &found) {
		t.Fatalf("the function gives %v", err)
	}
	for _, line := range want {
		if !strings.Contains(found.Text, line) {
			t.Errorf("the function lacks %q:\n%s", line, found.Text)
		}
	}
	if !strings.HasSuffix(found.Text, "3 errors, 1 warning, 4 ignored") {
		t.Errorf("the function reports something else:\n%s", found.Text)
	}
}

func TestFunctionFailsOnLittleCoverage(t *testing.T) {
	const item = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system, annotations: {config.kubernetes.io/path: a.yaml}}\n" +
		"spec: {interval: 1h, path: ./gone, prune: true, sourceRef: {kind: GitRepository, name: elsewhere}}\n"
	list := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(item), "\n", "\n  ") + "\n"
	if _, err := call(t, withConfig(list, head)); err != nil {
		t.Errorf("little coverage fails: %v", err)
	}
	_, err := call(t, withConfig(list, head+"spec: {minCoverage: 50}\n"))
	if found := (*FindingsError)(nil); !errors.As(err, &found) || !strings.Contains(found.Text, "coverage is 0 %") {
		t.Errorf("little coverage gives %v", err)
	}
	for _, wrong := range []string{"-1", "101", "many", "[1]"} {
		if _, err := call(t, withConfig(list, head+"spec: {minCoverage: "+wrong+"}\n")); err == nil || !strings.Contains(err.Error(), "want a number from 0 to 100") {
			t.Errorf("%s gives %v", wrong, err)
		}
	}
}

func TestFunctionFailsOnUnresolved(t *testing.T) {
	const item = "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a, annotations: {config.kubernetes.io/path: a.yaml}}\n"
	list := "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(item), "\n", "\n  ") + "\n"
	if _, err := call(t, withConfig(list, head)); err != nil {
		t.Errorf("what is unresolved fails: %v", err)
	}
	_, err := call(t, withConfig(list, head+"spec: {failOnUnresolved: true}\n"))
	if found := (*FindingsError)(nil); !errors.As(err, &found) || !strings.Contains(found.Text, "a.yaml: unresolved: no schema for example.com/v1 Foo") {
		t.Errorf("what is unresolved gives %v", err)
	}
	const asMap = "apiVersion: v1\nkind: ConfigMap\ndata:\n  function: ValidateFleet\n  failOnUnresolved: \"true\"\n  disable: schema-missing\n"
	if _, err := call(t, withConfig(list, asMap)); err != nil {
		t.Errorf("a disabled rule fails: %v", err)
	}
}
