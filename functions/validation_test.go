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
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/validators"
)

// The configuration that the documentation shows is one.
func TestDocumentedConfiguration(t *testing.T) {
	page, err := os.ReadFile("../docs/validate.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for block := range strings.SplitSeq(string(page), "```yaml\n") {
		block, _, _ = strings.Cut(block, "```")
		if !strings.Contains(block, "kind: "+ValidationKind) {
			continue
		}
		found++
		v, err := ReadValidation(validators.ConfigurationFile, []byte(block))
		if err != nil {
			t.Fatal(err)
		}
		if v.FailOn != finding.Warning || !v.FailOnUnresolved || v.Baseline == "" || len(v.Disable) != 1 || len(v.Ignore) != 2 || v.Ignore[0].Line == 0 ||
			v.Severities["schema-unknown-field"] != finding.Warning {
			t.Errorf("it reads as %+v", v)
		}
		for name := range v.settings() {
			if !strings.Contains(string(page), "| `"+name+"` |") {
				t.Errorf("the field %s is not described", name)
			}
		}
	}
	if found != 1 {
		t.Errorf("%d configurations are shown, want 1", found)
	}
}

const head = "apiVersion: fleetwright.dev/v1alpha1\nkind: ValidateFleet\n"

func TestReadValidationRefuses(t *testing.T) {
	globs := strings.Repeat("a, ", mostGlobs+1)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ".fleetwright.yaml: has 0 YAML documents: want one"},
		{"a list", "- a\n", ".fleetwright.yaml:1:1: want an object"},
		{"no kind", "apiVersion: fleetwright.dev/v1alpha1\n", `.fleetwright.yaml:1:1: kind is missing`},
		{"another version", "apiVersion: fleetwright.dev/v2\nkind: ValidateFleet\n", `.fleetwright.yaml:1:13: apiVersion "fleetwright.dev/v2" is unknown`},
		{"a field beside spec", head + "sepc: {}\n", `.fleetwright.yaml:3:1: field "sepc" is unknown`},
		{"spec twice", head + "spec: {}\nspec: {}\n", `.fleetwright.yaml:4:1: field "spec" is set twice`},
		{"a spec that is text", head + "spec: x\n", `.fleetwright.yaml:3:7: spec: want a map`},
		{"an alias bomb", head + "spec:\n  a: &a [x, x, x, x, x, x, x, x, x]\n  b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n  c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\n  d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c]\n  e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d]\n  f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e]\n  g: [*f, *f, *f, *f, *f, *f, *f, *f, *f]\n", "aliases expand"},
		{"too many paths", head + "spec:\n  ignore:\n  - {reason: x, paths: [" + globs + "]}\n", "there are more than 500 paths"},
		{"a severity twice", head + "spec:\n  severities:\n    schema-invalid: info\n    schema-invalid: error\n", `.fleetwright.yaml:6:5: spec.severities.schema-invalid: is set twice`},
		{"an unknown profile", head + "spec:\n  profiles: [nothing]\n", `.fleetwright.yaml:4:13: spec.profiles: "nothing" is not a profile`},
	} {
		_, err := ReadValidation(".fleetwright.yaml", []byte(c.text))
		var all strict.Errors
		if !errors.As(err, &all) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// Aliases are what they stand for.
func TestReadValidationFollowsAliases(t *testing.T) {
	v, err := ReadValidation("x", []byte(head+"spec:\n  disable: &d [schema-missing]\n  ignore:\n  - {rules: *d, paths: &p [a], reason: x}\n  - {paths: *p, reason: y}\n"))
	if err != nil || len(v.Ignore) != 2 || !slices.Equal(v.Ignore[0].Rules, v.Disable) || v.Ignore[1].Paths[0] != "a" {
		t.Errorf("%+v, %v", v, err)
	}
}

func FuzzReadValidation(f *testing.F) {
	f.Add(head + "spec:\n  failOn: warning\n  severities: {schema-invalid: info}\n  ignore:\n  - {rules: [schema-*], paths: ['**/a'], kinds: [X], reason: x}\n")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ReadValidation("x", []byte(text))
		var all strict.Errors
		if err != nil && !errors.As(err, &all) {
			t.Errorf("an error of another type: %v", err)
		}
		if err == nil && v.FailOn == "" {
			t.Error("it has no threshold")
		}
	})
}

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
	v, err := ReadValidation(".fleetwright.yaml", []byte(doorConfig))
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
