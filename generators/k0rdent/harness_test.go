package k0rdent_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// example is the specification of examples/k0rdent, changed by pairs of old and
// new text, each of which it must have.
func example(t testing.TB, changes ...string) *v1alpha1.Spec {
	t.Helper()
	var files []v1alpha1.File
	var all strings.Builder
	for _, name := range []string{"fleet.yaml", "k0rdent.yaml"} {
		files = append(files, edited(t, name, changes...))
		all.Write(edited(t, name).Content)
	}
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(all.String(), changes[i]) {
			t.Fatalf("the example has no %q", changes[i])
		}
	}
	spec, err := v1alpha1.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// edited is a file of the example with texts replaced.
func edited(t testing.TB, name string, changes ...string) v1alpha1.File {
	t.Helper()
	content, err := os.ReadFile("../../examples/k0rdent/fleet/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return v1alpha1.File{Path: name, Content: []byte(strings.NewReplacer(changes...).Replace(string(content)))}
}

// toText writes an object down.
func toText(t testing.TB, o object) string {
	t.Helper()
	text, err := yaml.Marshal(map[string]any(o))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// to112 renders the example as k0rdent 1.12.
var to112 = []string{"version: 1.11.4", "version: 1.12.0-rc2"}

// rendered is a rendered platform repository.
type rendered struct {
	t     testing.TB
	tree  *tree.Tree
	files map[string][]object // of k0rdent's steps
}

// object is a rendered object.
type object map[string]any

func render(t testing.TB, spec *v1alpha1.Spec, secrets ...string) *rendered {
	t.Helper()
	opts := generators.Options{Secrets: map[string][]byte{}}
	for _, path := range secrets {
		opts.Secrets[path] = []byte("kind: Secret\n")
	}
	target, err := generators.Platform(spec, opts)
	if err != nil {
		t.Fatal(err)
	}
	r := &rendered{t: t, tree: target.Tree, files: map[string][]object{}}
	for f := range target.Tree.All() {
		if strings.HasSuffix(f.Path, ".yaml") {
			r.files[f.Path] = decode(t, f.Content)
		}
	}
	return r
}

func decode(t testing.TB, content []byte) []object {
	t.Helper()
	var out []object
	for d := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var o object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
}

// get is a value of an object, nil where there is none.
func (o object) get(path ...any) any {
	var at any = map[string]any(o)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := at.(map[string]any)
			if typed, ok := at.(object); ok {
				m = typed
			}
			at = m[step]
		case int:
			list, _ := at.([]any)
			if step >= len(list) {
				return nil
			}
			at = list[step]
		}
	}
	return at
}

func (o object) text(path ...any) string { s, _ := o.get(path...).(string); return s }
func (o object) name() string            { return o.text("metadata", "name") }

// list is a list of strings.
func (o object) list(path ...any) []string {
	items, _ := o.get(path...).([]any)
	var out []string
	for _, item := range items {
		out = append(out, item.(string))
	}
	return out
}

// of are the objects of a kind, in the order of their files.
func (r *rendered) of(kind string) []object {
	var out []object
	for _, path := range slices.Sorted(maps.Keys(r.files)) {
		for _, o := range r.files[path] {
			if o.text("kind") == kind {
				out = append(out, o)
			}
		}
	}
	return out
}

// one is the object of a kind and name, nil where there is none.
func (r *rendered) one(kind, name string) object {
	for _, o := range r.of(kind) {
		if o.name() == name {
			return o
		}
	}
	return nil
}

// must is one that there has to be.
func (r *rendered) must(kind, name string) object {
	r.t.Helper()
	o := r.one(kind, name)
	if o == nil {
		r.t.Fatalf("there is no %s %s among %v", kind, name, r.names(kind))
	}
	return o
}

func (r *rendered) names(kind string) []string {
	var out []string
	for _, o := range r.of(kind) {
		out = append(out, o.name())
	}
	return out
}

// step is the folder of the step that applies an object.
func (r *rendered) step(kind, name string) string {
	for path, objects := range r.files {
		for _, o := range objects {
			if o.text("kind") == kind && o.name() == name {
				parts := strings.Split(path, "/")
				return parts[1]
			}
		}
	}
	return ""
}

// before says whether one step is applied before another, by dependsOn.
func (r *rendered) before(first, then string) bool {
	k := r.must("Kustomization", "k0rdent-"+then)
	deps, _ := k.get("spec", "dependsOn").([]any)
	for i := range deps {
		on, ours := strings.CutPrefix(k.text("spec", "dependsOn", i, "name"), "k0rdent-")
		if ours && (on == first || r.before(first, on)) {
			return true
		}
	}
	return false
}

// annotated says whether an object has an annotation.
func (o object) annotated(key, value string) bool {
	return o.text("metadata", "annotations", key) == value
}

const prune = "kustomize.toolkit.fluxcd.io/prune"
