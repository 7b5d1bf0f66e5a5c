package examples

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/testrenovate"
)

// renovated returns what the preset for Renovate finds in a file: "registry name version".
func renovated(t *testing.T, path, text string) []string {
	t.Helper()
	var found []string
	for _, m := range testrenovate.Matches(t, "../default.json", path, text) {
		if name := m["depName"]; name != "" {
			found = append(found, "oci://"+name+" "+m["currentValue"])
			continue
		}
		found = append(found, m["registryUrl"]+" "+cmp.Or(m["chart"], m["addon"])+" "+m["currentValue"])
	}
	slices.Sort(found)
	return found
}

// charts returns the same for the Addons of a file, from their YAML.
func charts(t *testing.T, text string) []string {
	t.Helper()
	var all []string
	for d := yaml.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct {
				Chart struct{ URL, Name, Version string }
			}
		}
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			slices.Sort(all)
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		switch c := o.Spec.Chart; {
		case o.Kind != "Addon" || c.URL == "":
		case strings.HasPrefix(c.URL, "oci://"):
			all = append(all, c.URL+" "+c.Version)
		case c.Name != "":
			all = append(all, c.URL+" "+c.Name+" "+c.Version)
		default:
			all = append(all, c.URL+" "+o.Metadata.Name+" "+c.Version)
		}
	}
}

// Renovate finds the version of each Addon's chart, and no other version.
func TestRenovatePreset(t *testing.T) {
	files, err := filepath.Glob("*/fleet/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := charts(t, string(text))
		total += len(want)
		for _, text := range []string{string(text), strings.ReplaceAll(string(text), "\n", "\r\n")} {
			if got := renovated(t, file, text); !slices.Equal(got, want) {
				t.Errorf("%s: Renovate finds\n%s\nand the Addons have\n%s", file, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	if total < 20 {
		t.Errorf("the examples have %d charts", total)
	}
	const addon = "apiVersion: fleetwright.dev/v1alpha1\nkind: Addon\nmetadata:\n  labels:\n    name: other\n  name: a\nspec:\n  namespace: apps\n"
	for name, text := range map[string]string{
		"a flow mapping":          addon + "  chart: {url: oci://a.example/b, version: 1.0.0}\n",
		"a repository's, in flow": addon + "  chart: {url: \"https://a.example\", name: b, version: 'v1.0.0'}\n",
		"metadata in flow":        "kind: Addon\nmetadata: {name: a}\nspec:\n  chart: {url: https://a.example, version: 1.0.0}\n",
		"quotes and comments":     addon + "  chart: # it\n# is\n\n    # here\n    url: \"oci://a.example/b\" # there\n    verify:\n      provider: cosign\n    version: \"1.0.0\"\n",
		"a name":                  addon + "  chart:\n    url: 'https://a.example/c'\n    name: \"b\"\n    version: 1.0.0-rc.1\n",
		"none, beside one":        addon + "  resources: []\n---\nkind: Addon\nmetadata:\n  name: b\nspec:\n  chart:\n    url: https://b.example\n    version: 2.0.0\n",
		"in values":               addon + "  values:\n    chart:\n      url: oci://a.example/b\n      version: 1.0.0\n",
		"of definitions":          "kind: Kommander\nmetadata:\n  name: k\nspec:\n  definitions:\n    - name: a\n      version: 1.0.0\n      chart:\n        url: https://a.example\n        version: 1.0.0\n",
		"of Flux":                 "kind: Fleet\nmetadata:\n  name: f\nspec:\n  repository:\n    url: https://a.example\n  flux:\n    version: 2.9.4\n",
	} {
		if got, want := renovated(t, "fleet/a.yaml", text), charts(t, text); !slices.Equal(got, want) {
			t.Errorf("%s: Renovate finds %q, not %q", name, got, want)
		}
	}
}
