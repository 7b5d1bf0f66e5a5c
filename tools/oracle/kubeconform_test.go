package oracle

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/resource"
	"github.com/yannh/kubeconform/pkg/validator"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/schemas"
)

// keep is for benchmarks, which compare with the kubeconform command.
var keep = flag.String("catalog", "", "write the catalog of JSON Schemas to this folder, and leave it there")

// catalog writes JSON Schemas in the layout of github.com/datreeio/CRDs-catalog,
// made as kubeconform's openapi2jsonschema.py makes them, and returns the folder.
func catalog(t testing.TB) string {
	t.Helper()
	dir := *keep
	if dir == "" {
		dir = t.TempDir()
	}
	for _, doc := range documents(t) {
		definitions := map[string]any{}
		for name, text := range doc.Components.Schemas {
			var m map[string]any
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			definitions[name] = m
		}
		for name := range definitions {
			m := definitions[name].(map[string]any)
			kinds, _ := m["x-kubernetes-group-version-kind"].([]any)
			if len(kinds) != 1 {
				continue
			}
			k := kinds[0].(map[string]any)
			whole := inline(m, definitions, []string{name})
			write(t, dir, k["group"].(string), k["version"].(string), k["kind"].(string), closed(whole, true))
		}
	}
	var files []string
	for _, from := range []struct{ module, pattern string }{
		{operator, "config/crd/bases/*.yaml"}, {operator, "config/data/flux/v2.9.4/*.yaml"}, {certManager, "deploy/crds/cert-manager.io_*.yaml"},
	} {
		found, err := filepath.Glob(filepath.Join(module(t, from.module), filepath.FromSlash(from.pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("no definitions: %v", err)
		}
		files = append(files, found...)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range strings.SplitSeq(string(text), "\n---\n") {
			writeDefinition(t, dir, doc)
		}
	}
	return dir
}

func writeDefinition(t testing.TB, dir, doc string) {
	t.Helper()
	var crd struct {
		Kind string
		Spec struct {
			Group    string
			Names    struct{ Kind string }
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(doc), &crd); err != nil {
		t.Fatal(err)
	}
	if crd.Kind != "CustomResourceDefinition" {
		return
	}
	for _, v := range crd.Spec.Versions {
		m := v.Schema.OpenAPIV3Schema
		delete(m["properties"].(map[string]any), "status")
		write(t, dir, crd.Spec.Group, v.Name, crd.Spec.Names.Kind, closed(m, true))
	}
}

func write(t testing.TB, dir, group, version, kind string, m any) {
	t.Helper()
	if group == "" {
		group = version // as kubeconform has it in its templates
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, group, strings.ToLower(kind)+"_"+version+".json")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// inline puts the definitions in the places of the references.
func inline(m map[string]any, definitions map[string]any, stack []string) map[string]any {
	if ref, ok := m["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		switch {
		case slices.Contains(stack, name):
			return map[string]any{}
		case strings.HasSuffix(name, ".Quantity"):
			return map[string]any{"type": []any{"string", "number"}}
		}
		return inline(definitions[name].(map[string]any), definitions, append(slices.Clone(stack), name))
	}
	out := map[string]any{}
	for k, v := range m {
		if k == "default" {
			continue
		}
		out[k] = v
		switch v := v.(type) {
		case map[string]any:
			if k == "properties" {
				props := map[string]any{}
				for name, p := range v {
					props[name] = inline(p.(map[string]any), definitions, stack)
				}
				out[k] = props
				continue
			}
			out[k] = inline(v, definitions, stack)
		case []any:
			if k == "allOf" {
				return inline(v[0].(map[string]any), definitions, stack)
			}
		}
	}
	return out
}

// closed says of each object with fields that it has no others, and writes
// int-or-string as JSON Schema has it.
func closed(m map[string]any, root bool) map[string]any {
	if m["format"] == "int-or-string" {
		return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "integer"}}}
	}
	for k, v := range m {
		inner, ok := v.(map[string]any)
		if !ok {
			continue
		}
		switch k {
		case "properties":
			for name, p := range inner {
				inner[name] = closed(p.(map[string]any), false)
			}
		case "items", "additionalProperties":
			m[k] = closed(inner, false)
		}
	}
	_, props := m["properties"]
	_, additional := m["additionalProperties"]
	if props && !additional && !root && m["x-kubernetes-preserve-unknown-fields"] != true {
		m["additionalProperties"] = false
	}
	if m["nullable"] == true && m["type"] != nil {
		m["type"] = []any{m["type"], "null"}
	}
	return m
}

// reasons are why the verdicts may differ, each with how to recognise it.
var reasons = []struct {
	name string
	ours func(p schemas.Problem) bool
}{
	{"rules in CEL", func(p schemas.Problem) bool { return p.Kind == schemas.Violation }},
	{"an entry of a list given twice", func(p schemas.Problem) bool { return strings.Contains(p.Message, "repeats an entry") }},
	{"names, labels and annotations", func(p schemas.Problem) bool { return len(p.Path) > 0 && p.Path[0] == "metadata" }},
	{"quantities", func(p schemas.Problem) bool { return strings.Contains(p.Message, "must be a quantity") }},
	{"values that the OpenAPI document leaves open", func(p schemas.Problem) bool { return strings.Contains(p.Message, "must be one of") }},
	{"an unknown field at the top", func(p schemas.Problem) bool { return p.Kind == schemas.UnknownField && len(p.Path) == 1 }},
}

// isDescribed says that an object's kind is one of k0rdent's or Kommander's, whose
// schemas are descriptions of ours: no module and no catalog has the definitions.
func isDescribed(o map[string]any) bool {
	api, _ := o["apiVersion"].(string)
	group, _, _ := strings.Cut(api, "/")
	return slices.Contains([]string{
		schemas.K0rdentGroup, schemas.KommanderGroup, schemas.KommanderAppsGroup, schemas.KommanderDispatchGroup, schemas.KommanderWorkspacesGroup,
		schemas.ConstraintsGroup, "templates.gatekeeper.sh",
	}, group)
}

// TestKubeconform: kubeconform refuses nothing that has no problem, and accepts
// nothing that has one, but for what it doesn't know.
func TestKubeconform(t *testing.T) {
	v := kubeconform(t)
	var refused, accepted, defaulted int
	count := map[string]int{}
	for _, seed := range rendered(t) {
		if isDescribed(seed) {
			continue
		}
		for _, o := range mutants(seed, 60) {
			text, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			result := v.ValidateResource(resource.Resource{Path: "object.json", Bytes: text})
			problems := judge(o)
			if result.Status == validator.Error {
				t.Fatalf("%s: %v", o["kind"], result.Err)
			}
			invalid := result.Status == validator.Invalid
			switch {
			case invalid && len(problems) > 0:
				refused++
			case !invalid && len(problems) == 0:
				accepted++
			case invalid && strings.Contains(result.Err.Error(), "at '/spec/verify': missing property 'provider'"):
				defaulted++
			case invalid:
				t.Errorf("%s: no problem, but kubeconform: %v", o["kind"], result.Err)
			default:
				if name, ok := known(problems); ok {
					count[name]++
				} else {
					t.Errorf("%s: kubeconform accepts it, but %s", o["kind"], messages(problems))
				}
			}
		}
	}
	t.Logf("%d refused by both, %d accepted by both", refused, accepted)
	t.Logf("%d refused by kubeconform only: a required field that has a default", defaulted)
	for _, r := range reasons {
		t.Logf("%d accepted by kubeconform only: %s", count[r.name], r.name)
	}
	if refused < 500 || accepted < 500 {
		t.Error("too few objects were compared")
	}
}

// kubeconform is a validator with the schemas of a catalog.
func kubeconform(t testing.TB) validator.Validator {
	t.Helper()
	v, err := validator.New([]string{filepath.ToSlash(catalog(t)) + "/{{ .Group }}/{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json"}, validator.Opts{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// BenchmarkValidators compares the time that both take for the same objects, with
// all schemas known.
func BenchmarkValidators(b *testing.B) {
	v := kubeconform(b)
	objects := rendered(b)
	texts := make([][]byte, len(objects))
	for i, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			b.Fatal(err)
		}
		texts[i] = text
		judge(o)
		v.ValidateResource(resource.Resource{Path: "object.json", Bytes: text})
	}
	b.Run("schemas", func(b *testing.B) {
		for b.Loop() {
			for _, o := range objects {
				judge(o)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(objects)), "µs/object")
	})
	b.Run("kubeconform", func(b *testing.B) {
		for b.Loop() {
			for _, text := range texts {
				v.ValidateResource(resource.Resource{Path: "object.json", Bytes: text})
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(objects)), "µs/object")
	})
}

// known is the reason of all problems of an object that kubeconform accepts.
func known(problems []schemas.Problem) (string, bool) {
	name := ""
	for _, p := range problems {
		found := false
		for _, r := range reasons {
			if r.ours(p) {
				name, found = r.name, true
				break
			}
		}
		if !found {
			return "", false
		}
	}
	return name, true
}

// TestCatalogSchemasGiveTheVerdictsOfTheirDefinitions: what a JSON Schema was
// made of is found again in it.
func TestCatalogSchemasGiveTheVerdictsOfTheirDefinitions(t *testing.T) {
	dir := catalog(t)
	checked := 0
	for _, seed := range rendered(t) {
		gvk := kindOf(seed)
		if !strings.HasSuffix(gvk.Group, ".fluxcd.io") && gvk.Group != "fluxcd.controlplane.io" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, gvk.Group, strings.ToLower(gvk.Kind)+"_"+gvk.Version+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		s, err := schemas.FromJSONSchema(gvk, m)
		if err != nil {
			t.Errorf("%s: %v", gvk, err)
			continue
		}
		for _, o := range mutants(seed, 30) {
			want, got := messages(judge(o)), messages(s.ValidateWith(o, schemas.Options{Literal: true}))
			if want != got {
				t.Errorf("%s: %s\nwant %s", gvk, got, want)
			}
			checked++
		}
	}
	if checked < 500 {
		t.Errorf("only %d objects were compared", checked)
	}
}
