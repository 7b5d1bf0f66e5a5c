package schemas

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// defines is a CustomResourceDefinition of example.com/v1 Foo whose spec.size is
// of a type.
func defines(kind, version, size string) string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: ` + kind + `, plural: foos}
  versions:
  - {name: ` + version + `, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: ` + size + `}}}}}}}
  - {name: v0, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
`
}

// jsonOf is a JSON Schema of the same.
func jsonOf(size string) string {
	return `{"type": "object", "properties": {"spec": {"type": "object", "additionalProperties": false, "properties": {"size": {"type": "` + size + `"}}}}}`
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// readDefinitions reads the documents of files; package definitions, which the product reads with, is above.
func readDefinitions(files map[string][]byte) (all []Definition, err error) {
	for name, text := range files {
		for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var object map[string]any
			if err := d.Decode(&object); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if found, ok := DefinitionOf(object, name, 0); ok {
				all = append(all, found)
			}
		}
	}
	return all, nil
}

func TestSetLooksInItsSourcesInOrder(t *testing.T) {
	folder := NewFolder("first", fstest.MapFS{
		"crds/foo.yaml":           file("# text\n---\n" + defines("Foo", "v1", "string") + "---\n" + defines("Bar", "v1", "string")),
		"helm.toolkit.yaml":       file(strings.NewReplacer("example.com", "helm.toolkit.fluxcd.io", "name: v1", "name: v2").Replace(defines("HelmRelease", "v1", "string"))),
		"example.com/foo_v1.json": file(jsonOf("boolean")),
		"example.com/baz_v1.json": file(jsonOf("string")),
		".git/qux_v1.json":        file(jsonOf("string")),
	}, readDefinitions)
	second := NewFolder("second", fstest.MapFS{"example.com/baz_v1.json": file(jsonOf("integer")), "example.com/zap_v1.json": file(jsonOf("integer"))}, nil)
	set := NewSet(folder, second)
	d, ok := DefinitionOf(object(t, defines("Foo", "v1", "integer")), "own.yaml", 1)
	if !ok {
		t.Fatal("the definition is none")
	}
	set.Add(d)
	for _, c := range []struct{ apiVersion, kind, size, want string }{
		{"helm.toolkit.fluxcd.io/v2", "HelmRelease", "a", `unknown field "size" in spec`},
		{"example.com/v1", "Foo", "a", "spec.size must be an integer, not a string"},
		{"example.com/v1", "Bar", "a", ""},
		{"example.com/v1", "Baz", "a", ""},
		{"example.com/v1", "Zap", "a", "spec.size must be an integer, not a string"},
		{"example.com/v0", "Foo", "a", "no schema for example.com/v0 Foo: v1 of this kind is known; move to a known version, or add the CustomResourceDefinition that serves it to the repository or to --schemas"},
		{"example.com/v1", "Qux", "a", "no schema for example.com/v1 Qux: add the CustomResourceDefinition that serves it to the repository or to --schemas so that it is checked"},
		{"batch/v1beta1", "CronJob", "a", "no schema for batch/v1beta1 CronJob: it was removed in Kubernetes 1.25; move to batch/v1 CronJob"},
		{"extensions/v1beta1", "Ingress", "a", "no schema for extensions/v1beta1 Ingress: it was removed in Kubernetes 1.22; move to networking.k8s.io/v1 Ingress"},
		{"kustomize.toolkit.fluxcd.io/v2", "Kustomization", "a", "no schema for kustomize.toolkit.fluxcd.io/v2 Kustomization: v1 of this kind is known; move to a known version, or add the CustomResourceDefinition that serves it to the repository or to --schemas"},
	} {
		if got := verdict(set, gvk(c.apiVersion, c.kind), c.size); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %s: %q, want %q", c.apiVersion, c.kind, got, c.want)
		}
	}
	if namespaced, known := set.Namespaced(gvk("example.com/v1", "Bar")); namespaced || !known {
		t.Error("the scope of a folder's definition isn't known")
	}
	if _, known := set.Namespaced(gvk("example.com/v1", "Qux")); known {
		t.Error("the scope of nothing is known")
	}
	if _, ok := DefinitionOf(object(t, "apiVersion: v1\nkind: ConfigMap"), "", 1); ok {
		t.Error("a ConfigMap is a definition")
	}
}

// verdict are the problems of an object with a size, or why it has no schema.
func verdict(set *Set, of schema.GroupVersionKind, size any) string {
	found, err := set.Lookup(of)
	if err != nil {
		var missing *MissingError
		if !errors.As(err, &missing) {
			return "of another type: " + err.Error()
		}
		return err.Error()
	}
	return messages(found[0].Validate(map[string]any{
		"apiVersion": of.GroupVersion().String(), "kind": of.Kind, "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"size": size},
	}))
}

// TestLayouts are those of the catalogs in use.
func TestLayouts(t *testing.T) {
	for name, want := range map[string]bool{
		"example.com/foo_v1.json":                          true,
		"deep/er/example.com/Foo_v1.json":                  true,
		"foo_v1.json":                                      true,
		"foo-example-v1.json":                              true,
		"master-standalone-strict/foo-example-v1.json":     true,
		"master-standalone-strict/foo-example.com-v1.json": true,
		"other.com/foo_v1.json":                            false,
		"example.com/foo_v2.json":                          false,
		"foo-other-v1.json":                                false,
		"foo.json":                                         false,
	} {
		set := NewSet(NewFolder("f", fstest.MapFS{name: file(jsonOf("string"))}, nil))
		got := verdict(set, gvk("example.com/v1", "Foo"), "a")
		if found := got == ""; found != want {
			t.Errorf("%s: %q, found should be %v", name, got, want)
		}
	}
}

// TestFolderOnDisk reads nothing outside of the folder.
func TestFolderOnDisk(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "foo_v1.json"), []byte(jsonOf("string")), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bar_v1.json"), []byte(jsonOf("string")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "foo_v1.json"), filepath.Join(dir, "foo_v1.json")); err != nil {
		t.Skip(err)
	}
	f, err := OpenFolder(dir, readDefinitions)
	if err != nil {
		t.Fatal(err)
	}
	set := NewSet(f)
	if got := verdict(set, gvk("example.com/v1", "Bar"), "a"); got != "" {
		t.Errorf("a file gives %q", got)
	}
	if got := verdict(set, gvk("example.com/v1", "Foo"), "a"); !strings.Contains(got, "cannot be used") {
		t.Errorf("a link that leads out gives %q", got)
	}
	if err := os.Symlink(filepath.Join(outside, "foo.yaml"), filepath.Join(dir, "foo.yaml")); err != nil {
		t.Fatal(err)
	}
	if f, err = OpenFolder(dir, readDefinitions); err != nil {
		t.Fatal(err)
	}
	if got := verdict(NewSet(f), gvk("example.com/v1", "Other"), "a"); !strings.Contains(got, "a file cannot be read: foo.yaml: ") {
		t.Errorf("a definition that cannot be read gives %q", got)
	}
	if _, err := OpenFolder(filepath.Join(dir, "nothing"), readDefinitions); err == nil {
		t.Error("a folder that isn't there can be opened")
	}
}

func TestFromJSONSchema(t *testing.T) {
	const withRef = `{"type": "object", "properties": {"spec": {"$ref": "#/definitions/spec"}}, "definitions": {
		"spec": {"type": "object", "additionalProperties": false, "properties": {"size": {"type": "integer"}, "child": {"$ref": "#/definitions/spec"}}}}}`
	const spec = `{"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": %}}}}`
	for _, c := range []struct{ name, schema, spec, want string }{
		{"a reference", withRef, "{size: a}", "invalid: spec.size must be an integer, not a string\n"},
		{"a schema that contains itself", withRef, "{child: {size: 1, child: {anything: goes}}}", ""},
		{"a reference to nothing", `{"$ref": "#/definitions/no"}`, "{}", `error: the reference "#/definitions/no" leads nowhere`},
		{"another file", `{"properties": {"a": {"$ref": "x.json#/y"}}}`, "{}", `error: it refers to another file ("x.json#/y")`},
		{"null", strings.Replace(spec, "%", `{"type": ["integer", "null"]}`, 1), "{size: null}", ""},
		{"other fields, where nothing is closed", strings.Replace(spec, "%", `{}`, 1), "{other: 1}", ""},
		{"other fields in what is closed", `{"type": "object", "properties": {"spec": {"type": "object", "additionalProperties": false, "properties": {"size": {}}}}}`, "{sise: 1}", "unknown field: unknown field \"sise\" in spec\n"},
		{"int or string", strings.Replace(spec, "%", `{"oneOf": [{"type": "string"}, {"type": "integer"}]}`, 1), "{size: true}", "invalid: spec.size must be an integer or a string, not true\n"},
		{"const", strings.Replace(spec, "%", `{"const": "a"}`, 1), "{size: b}", "invalid: spec.size is \"b\", must be one of a\n"},
		{"types that are not structural", strings.Replace(spec, "%", `{"type": ["integer", "boolean"]}`, 1), "{size: a}", "invalid: spec.size must be an integer or true or false, not a string\n"},
		{"patterns of names", strings.Replace(spec, "%", `{"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": false}`, 1), "{size: {ab: 1, b: 2}}", "unknown field: unknown field \"b\" in spec.size\n"},
		{"metadata beside a schema that is not structural", strings.Replace(spec, "%", `{"type": ["integer", "boolean"]}`, 1), "{}\nmetadata: {labels: {a: 1}}", "invalid: metadata.labels.a must be a string, not an integer\n"},
		{"rules beside what is not structural", strings.Replace(spec, "%", `{"type": ["integer", "boolean"], "x-kubernetes-validations": [{"rule": "self > 1"}]}`, 1), "{}", "unresolved: the rules of Foo are not checked: its JSON Schema is not structural\n"},
		{"rules", `{"type": "object", "properties": {"spec": {"type": "object", "additionalProperties": false, "properties": {"size": {"type": "integer"}}, "x-kubernetes-validations": [{"rule": "self.size > 1", "message": "too small"}]}}}`, "{size: 1}", "violation: spec: too small\n"},
		{"a keyword that is not judged", `{"if": {"properties": {}}, "then": {}}`, "{}", `error: the keyword "if" is unknown to the API server's validator`},
		{"a pattern that Go doesn't know", `{"properties": {"a": {"pattern": "(?=a)"}}, "patternProperties": {}}`, "{}", `error: the pattern "(?=a)" is unknown to the API server's validator`},
		{"another kind", `{"x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "Pod"}]}`, "{}", "error: it is of another kind (x-kubernetes-group-version-kind)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := FromJSONSchema(gvk("example.com/v1", "Foo"), object(t, c.schema))
			var got string
			if err != nil {
				got = "error: " + err.Error()
			} else {
				got = messages(s.Validate(object(t, "apiVersion: example.com/v1\nkind: Foo\nspec: "+c.spec)))
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestReferencesAreBounded: each definition doubles what the next one is.
func TestReferencesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$ref": "#/definitions/a0", "definitions": {"a40": {}`)
	for i := range 40 {
		n, next := string(rune('0'+i/10))+string(rune('0'+i%10)), string(rune('0'+(i+1)/10))+string(rune('0'+(i+1)%10))
		b.WriteString(`, "a` + strings.TrimPrefix(n, "0") + `": {"properties": {"x": {"$ref": "#/definitions/a` + strings.TrimPrefix(next, "0") + `"}, "y": {"$ref": "#/definitions/a` + strings.TrimPrefix(next, "0") + `"}}}`)
	}
	b.WriteString("}}")
	_, err := FromJSONSchema(gvk("example.com/v1", "Foo"), object(t, b.String()))
	if err == nil || !strings.Contains(err.Error(), "more than 100000 parts") {
		t.Errorf("references that double give %v", err)
	}
}

// FuzzDefinition: no schema and no object of anybody's makes it panic.
func FuzzDefinition(f *testing.F) {
	f.Add(definitionText, "spec: {min: 3, max: 2, tags: [a, a], port: x, entries: [{name: a}, {name: a}], template: {metadata: 1}}")
	f.Add(jsonOf("integer"), "spec: {size: a}\nmetadata: {labels: {\"1\": 2}}")
	f.Fuzz(func(t *testing.T, definition, in string) {
		props, ok := decode(definition)
		o, isMap := decode(in)
		if !ok || !isMap {
			t.Skip()
		}
		of := gvk("example.com/v1", "Foo")
		var h Hints
		if s, err := FromDefinition(of, true, props); err == nil {
			found := slices.DeleteFunc(s.thorough(o, Options{Hints: &h}), func(p Problem) bool { return p.Rule })
			if s.quick(o) && len(found) > 0 {
				t.Errorf("quickly accepted, but\n%s", messages(found))
			}
			s.ValidateWith(o, Options{Hints: &h})
		}
		if s, err := FromJSONSchema(of, props); err == nil {
			s.ValidateWith(o, Options{Hints: &h})
		}
	})
}

// decode reads YAML into the values that Validate takes. Maps in each other, in rules, make types that
// double, which nothing here measures.
func decode(text string) (m map[string]any, ok bool) {
	if len(text) > 1<<14 || strings.Count(text, "ap(") > 8 || yaml.Unmarshal([]byte(text), &m) != nil {
		return nil, false
	}
	plain, ok := integers(m).(map[string]any)
	return plain, ok && isPlain(plain)
}

// isPlain says whether a value is made of what Validate takes.
func isPlain(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			if !isPlain(item) {
				return false
			}
		}
		return v != nil
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isPlain(item) })
	case nil, string, bool, int64, uint64:
		return true
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return false
}

// TestMistakes: what no release has is wrong for certain; what a CustomResourceDefinition may serve
// is not.
func TestMistakes(t *testing.T) {
	const noSuch, newer = "no known release of Flux has ", ", unless the cluster runs a newer release that has it"
	for _, c := range []struct{ apiVersion, kind, want string }{
		{"kustomize.toolkit.fluxcd.io/v3", "Kustomization", "apiVersion: " + noSuch + "kustomize.toolkit.fluxcd.io/v3 of Kustomization; write kustomize.toolkit.fluxcd.io/v1"},
		{"source.toolkit.fluxcd.io/v1beta9", "GitRepository", "apiVersion: " + noSuch + "source.toolkit.fluxcd.io/v1beta9 of GitRepository; write source.toolkit.fluxcd.io/v1"},
		{"notification.toolkit.fluxcd.io/v1", "Alert", "apiVersion: " + noSuch + "notification.toolkit.fluxcd.io/v1 of Alert; write notification.toolkit.fluxcd.io/v1beta3" + newer},
		{"fluxcd.controlplane.io/v2", "FluxInstance", "apiVersion: no known release of the Flux Operator has fluxcd.controlplane.io/v2 of FluxInstance; write fluxcd.controlplane.io/v1" + newer},
		{"apps/v2", "Deployment", "apiVersion: no known release of Kubernetes has apps/v2 of Deployment; write apps/v1" + newer},
		{"extensions/v1", "Ingress", "apiVersion: no known release of Kubernetes has extensions/v1 of Ingress; write networking.k8s.io/v1"},
		{"V1", "ConfigMap", "apiVersion: no known release of Kubernetes has V1 of ConfigMap; write v1"},
		{"batch/v2alpha1", "CronJob", ""}, // there was one
		{"batch/v1beta1", "CronJob", ""},
		{"helm.toolkit.fluxcd.oi/v2", "HelmRelease", `apiVersion: HelmRelease does not exist in helm.toolkit.fluxcd.oi/v2; did you mean "helm.toolkit.fluxcd.io/v2"?`},
		{"kustomise.toolkit.fluxcd.io/v1", "Kustomization", `apiVersion: Kustomization does not exist in kustomise.toolkit.fluxcd.io/v1; did you mean "kustomize.toolkit.fluxcd.io/v1"?`},
		{"source.toolkit.fluxcd.io/v1", "HelmRelease", `apiVersion: HelmRelease does not exist in source.toolkit.fluxcd.io/v1; did you mean "helm.toolkit.fluxcd.io/v2"?`},
		{"v1", "Deployment", `apiVersion: Deployment does not exist in v1; did you mean "apps/v1"?`},
		{"app/v1", "StatefulSet", `apiVersion: StatefulSet does not exist in app/v1; did you mean "apps/v1"?`},
		{"rbac.authorisation.k8s.io/v1", "ClusterRole", `apiVersion: ClusterRole does not exist in rbac.authorisation.k8s.io/v1; did you mean "rbac.authorization.k8s.io/v1"?`},
		{"helm.toolkit.fluxcd.io/v2", "HelmRelaese", `kind: kind "HelmRelaese" does not exist in helm.toolkit.fluxcd.io/v2; did you mean "HelmRelease"?`},
		{"scheduling.x-k8s.io/v1alpha1", "PodGroup", ""},
		{"talos.dev/v1alpha1", "ServiceAccount", ""},
		{"serving.knative.dev/v1", "Service", ""},
		{"kustomize.toolkit.fluxcd.io/v2beta1", "Kustomization", "apiVersion: " + noSuch + "kustomize.toolkit.fluxcd.io/v2beta1 of Kustomization; write kustomize.toolkit.fluxcd.io/v1" + newer},
		{"notification.toolkit.fluxcd.io/v1beta4", "Provider", "apiVersion: " + noSuch + "notification.toolkit.fluxcd.io/v1beta4 of Provider; write notification.toolkit.fluxcd.io/v1beta3" + newer},
		{"notification.toolkit.fluxcd.io/v1beta5", "Provider", "apiVersion: " + noSuch + "notification.toolkit.fluxcd.io/v1beta5 of Provider; write notification.toolkit.fluxcd.io/v1beta3"},
		{"source.toolkit.fluxcd.io/v1", "OCIRepo", `kind: kind "OCIRepo" does not exist in source.toolkit.fluxcd.io/v1; did you mean "OCIRepository"?`},
		{"helm.toolkit.fluxcd.io/v2", "HelmSomething", `kind: no known release of Flux has a kind "HelmSomething" in helm.toolkit.fluxcd.io; its kinds are HelmRelease, unless the cluster runs a newer release that has more`},
		{"apps/v1", "Application", ""},
		{"k0rdent.mirantis.com/v1", "Credential", ""},
		{"own.toolkit.fluxcd.io/v1", "Thing", ""},
		{"cert-manager.io/v1alpha2", "Certificate", ""},
		{"cert-manager.oi/v1", "Certificate", ""},
		{"image.toolkit.fluxcd.oi/v1", "ImagePolicy", ""}, // the repository has that group
	} {
		set := NewSet()
		set.Add(Definition{Group: "image.toolkit.fluxcd.oi", Kind: "ImageThing"})
		_, err := set.Lookup(gvk(c.apiVersion, c.kind))
		var missing *MissingError
		if !errors.As(err, &missing) {
			t.Errorf("%s %s: %v", c.apiVersion, c.kind, err)
			continue
		}
		got := ""
		if m := missing.Mistake; m != nil {
			got = m.Field + ": " + m.Message + "; " + m.Hint
			if m.Newer != strings.Contains(m.Hint, "newer release") {
				t.Errorf("%s %s: newer is %t, and the hint %s", c.apiVersion, c.kind, m.Newer, m.Hint)
			}
		}
		if got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.apiVersion, c.kind, got, c.want)
		}
	}
}

// TestCopies: a definition that a repository holds twice is compiled once.
func TestCopies(t *testing.T) {
	set := NewSet()
	for _, maximum := range []int64{1, 2, 1} {
		set.Add(Definition{Group: "example.com", Kind: "Foo", Namespaced: true, Versions: map[string]func() (map[string]any, error){
			"v1": func() (map[string]any, error) {
				return map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "integer", "maximum": maximum}}}, nil
			},
		}})
	}
	found, err := set.Lookup(gvk("example.com/v1", "Foo"))
	if err != nil || len(found) != 2 {
		t.Errorf("%d schemas, %v", len(found), err)
	}
}

// Namespaced says whether objects of a kind stand in a namespace, and whether
// that is known.
func (s *Set) Namespaced(gvk schema.GroupVersionKind) (namespaced, known bool) {
	if found, ok := Lookup(gvk); ok {
		return found.Namespaced, true
	}
	definitions := slices.Clone(s.definitions[gvk.GroupKind()])
	for _, f := range s.folders {
		definitions = append(definitions, f.defined(gvk.GroupKind())...)
	}
	for _, d := range definitions {
		return d.Namespaced, true
	}
	return false, false
}
