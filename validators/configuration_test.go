package validators

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/strict"
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
		if !strings.Contains(block, "kind: "+ConfigurationKind) {
			continue
		}
		found++
		v, err := ReadConfiguration(ConfigurationFile, []byte(block))
		if err != nil {
			t.Fatal(err)
		}
		if v.FailOn != finding.Warning || !v.FailOnUnresolved || v.Baseline == "" || len(v.Disable) != 1 || len(v.Ignore) != 2 || v.Ignore[0].Line == 0 ||
			v.Severities["schema-unknown-field"] != finding.Warning {
			t.Errorf("it reads as %+v", v)
		}
		for name := range v.Fields() {
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

func TestReadConfigurationRefuses(t *testing.T) {
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
		_, err := ReadConfiguration(".fleetwright.yaml", []byte(c.text))
		var all strict.Errors
		if !errors.As(err, &all) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// Aliases are what they stand for.
func TestReadConfigurationFollowsAliases(t *testing.T) {
	v, err := ReadConfiguration("x", []byte(head+"spec:\n  disable: &d [schema-missing]\n  ignore:\n  - {rules: *d, paths: &p [a], reason: x}\n  - {paths: *p, reason: y}\n"))
	if err != nil || len(v.Ignore) != 2 || !slices.Equal(v.Ignore[0].Rules, v.Disable) || v.Ignore[1].Paths[0] != "a" {
		t.Errorf("%+v, %v", v, err)
	}
}

func FuzzReadConfiguration(f *testing.F) {
	f.Add(head + "spec:\n  failOn: warning\n  severities: {schema-invalid: info}\n  ignore:\n  - {rules: [schema-*], paths: ['**/a'], kinds: [X], reason: x}\n")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ReadConfiguration("x", []byte(text))
		var all strict.Errors
		if err != nil && !errors.As(err, &all) {
			t.Errorf("an error of another type: %v", err)
		}
		if err == nil && v.FailOn == "" {
			t.Error("it has no threshold")
		}
	})
}
