package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs"
)

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	files, err := generate(typesFolder)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(v1alpha1.Kinds()) + 4; len(files) != want {
		t.Errorf("generated %d files, want %d", len(files), want)
	}
	for _, f := range files {
		folder := "../../schemas"
		if filepath.Ext(f.name) == ".md" {
			folder = "../../docs"
		}
		committed, err := os.ReadFile(filepath.Join(folder, f.name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(unpacked(t, f.name, committed), unpacked(t, f.name, f.content)) {
			t.Errorf("%s/%s is stale: go -C tools/specschema run .", folder, f.name)
		}
	}
}

// unpacked is the content of a file: compressed bytes may differ between versions of Go.
func unpacked(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	if filepath.Ext(name) != ".gz" {
		return data
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return text
}

// schemas compiles the generated schemas: the combined one under "", each
// kind's under its name.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	kinds, err := reflectKinds(typesFolder)
	if err != nil {
		t.Fatal(err)
	}
	all, err := combined(kinds)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*jsonschema.Schema{"": compile(t, all)}
	for _, k := range kinds {
		content, err := k.document()
		if err != nil {
			t.Fatal(err)
		}
		out[k.name] = compile(t, content)
	}
	return out
}

func compile(t *testing.T, content []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate checks each document of a file against both schemas for it.
func validate(t *testing.T, schemas map[string]*jsonschema.Schema, content []byte) error {
	t.Helper()
	var errs []error
	for reader := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var doc map[string]any
		err := reader.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		}
		if err != nil {
			t.Fatal(err)
		}
		if doc == nil {
			continue
		}
		whole := schemas[""].Validate(doc)
		errs = append(errs, whole)
		if kind, _ := doc["kind"].(string); schemas[kind] != nil {
			single := schemas[kind].Validate(doc)
			if (single == nil) != (whole == nil) {
				t.Errorf("the schema of %s says %v, the combined one %v", kind, single, whole)
			}
		}
	}
}

func TestExamplesAreValid(t *testing.T) {
	compiled := schemas(t)
	starter, err := specs.Starter(specs.StarterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]specs.File{"starter": starter}
	paths, err := filepath.Glob("../../examples/*/fleet/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		content, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Dir(p)] = append(all[filepath.Dir(p)], specs.File{Path: p, Content: content})
	}
	for name, files := range all {
		if _, err := specs.Load(files); err != nil {
			t.Errorf("%s: the decoder refuses it:\n%v", name, err)
		}
		for _, f := range files {
			if filepath.Base(f.Path) == "kustomization.yaml" {
				continue
			}
			if err := validate(t, compiled, f.Content); err != nil {
				t.Errorf("%s: the schema refuses it: %v", f.Path, err)
			}
		}
	}
}

// TestBadOnesAreRefusedByBoth holds the schema and the decoder together: each
// case is refused by both, for the same reason.
func TestBadOnesAreRefusedByBoth(t *testing.T) {
	const head = "apiVersion: fleetwright.dev/v1alpha1\n"
	for _, test := range []struct{ name, doc, decoder string }{
		{"unknown kind", head + "kind: Tennant\nmetadata: {name: a}\nspec: {}\n", `unknown kind "Tennant"`},
		{"unknown version", "apiVersion: fleetwright.dev/v1\nkind: Cluster\nmetadata: {name: a}\n", `unknown version "v1"`},
		{"unknown field", head + "kind: Cluster\nmetadata: {name: a}\nspec: {environmen: x}\n", `unknown field "environmen"`},
		{"missing field", head + "kind: Addon\nmetadata: {name: a}\nspec: {}\n", `missing required field "namespace"`},
		{"enum", head + "kind: Fleet\nmetadata: {name: a}\nspec: {repository: {url: 'https://x/y'}, layout: flet}\n", `spec.layout is "flet"`},
		{"enum of a list", head + "kind: Fleet\nmetadata: {name: a}\nspec: {repository: {url: 'https://x/y'}, flux: {components: [helm]}}\n", `spec.flux.components[0] is "helm"`},
		{"pattern", head + "kind: Cluster\nmetadata: {name: A_b}\n", `metadata.name is "A_b"`},
		{"pattern of a list", head + "kind: Tenant\nmetadata: {name: a}\nspec: {namespaces: [A]}\n", `spec.namespaces[0] is "A"`},
		{"longer", head + "kind: Cluster\nmetadata: {name: " + strings.Repeat("a", 64) + "}\n", "64 characters"},
		{"empty list", head + "kind: Tenant\nmetadata: {name: a}\nspec: {namespaces: []}\n", "want at least 1"},
		{"number", head + "kind: Cluster\nmetadata: {name: a}\nspec: {variables: {A: 1}}\n", "want a string"},
		{"boolean", head + "kind: Cluster\nmetadata: {name: a, labels: {a: true}}\n", "want a string"},
		{"string for a boolean", head + "kind: Fleet\nmetadata: {name: a}\nspec: {repository: {url: 'https://x/y'}, multiTenancy: {lockdown: 'yes'}}\n", "want true or false"},
		{"list for a mapping", head + "kind: Tenant\nmetadata: {name: a}\nspec: {quota: []}\n", "want a mapping"},
		{"mapping for a list", head + "kind: Tenant\nmetadata: {name: a}\nspec: {namespaces: {}}\n", "want a list"},
		{"duration", head + "kind: Cluster\nmetadata: {name: a}\nspec: {sync: {interval: 1 minute}}\n", "want a duration"},
		{"chart version", head + "kind: Addon\nmetadata: {name: a}\nspec: {namespace: a, chart: {url: 'oci://x/y', version: 1.x}}\n", `spec.chart.version is "1.x"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := validate(t, schemas(t), []byte(test.doc)); err == nil {
				t.Error("the schema accepts it")
			}
			_, err := specs.Load([]specs.File{{Path: "bad.yaml", Content: []byte(test.doc)}})
			if err == nil || !strings.Contains(err.Error(), test.decoder) {
				t.Errorf("the decoder says %v, want %s", err, test.decoder)
			}
		})
	}
}
