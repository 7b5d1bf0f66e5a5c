// Package platformtest renders the examples of platform products for the tests of their generators,
// which are two folders below the root, and returns the rendered objects.
package platformtest

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/specs"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Annotations of Flux that tests check.
const (
	Prune = "kustomize.toolkit.fluxcd.io/prune"
	SSA   = "kustomize.toolkit.fluxcd.io/ssa"
)

// Files returns the files of an example's specification, with changes: pairs of an old and a new string. The test fails if
// the files lack an old string.
func Files(t testing.TB, example string, changes ...string) []specs.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../../examples", example, "fleet/*.yaml"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no specification (%v)", err)
	}
	var files []specs.File
	var all strings.Builder
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
		files = append(files, specs.File{Path: filepath.Base(name), Content: []byte(strings.NewReplacer(changes...).Replace(string(content)))})
	}
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(all.String(), changes[i]) {
			t.Fatalf("the example has no %q", changes[i])
		}
	}
	return files
}

// Spec returns the specification of an example, changed as Files does.
func Spec(t testing.TB, example string, changes ...string) *v1alpha1.Spec {
	t.Helper()
	spec, err := specs.Load(Files(t, example, changes...))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// Rendered is a rendered platform repository.
type Rendered struct {
	T    testing.TB
	Tree *tree.Tree
	// Files are its objects, by the path of their file.
	Files map[string][]Object
	// Product whose steps Step and Before look up.
	Product string
}

// Object is a rendered object.
type Object map[string]any

// components replace Flux's own manifests.
const components = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: flux-system\n"

// Render renders the platform repository, as if the files of the declared Secrets in secrets existed.
func Render(t testing.TB, product string, spec *v1alpha1.Spec, secrets ...string) *Rendered {
	t.Helper()
	opts := generators.Options{Secrets: map[string][]byte{}, FluxComponents: []byte(components)}
	for _, path := range secrets {
		opts.Secrets[path] = []byte("kind: Secret\n")
	}
	target, err := generators.Platform(spec, opts)
	if err != nil {
		t.Fatal(err)
	}
	r := &Rendered{T: t, Tree: target.Tree, Files: map[string][]Object{}, Product: product}
	for f := range target.Tree.All() {
		if strings.HasSuffix(f.Path, ".yaml") {
			r.Files[f.Path] = decode(t, f.Content)
		}
	}
	return r
}

func decode(t testing.TB, content []byte) []Object {
	t.Helper()
	var out []Object
	for d := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var o Object
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
}

// Get returns the value at a path of an object, nil if there is none.
func (o Object) Get(path ...any) any {
	var at any = map[string]any(o)
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := at.(map[string]any)
			if typed, ok := at.(Object); ok {
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

// Text returns the string at a path of an object, "" if there is none.
func (o Object) Text(path ...any) string { s, _ := o.Get(path...).(string); return s }

// Name returns the name of the object.
func (o Object) Name() string { return o.Text("metadata", "name") }

// List returns the list of strings at a path of an object.
func (o Object) List(path ...any) []string {
	items, _ := o.Get(path...).([]any)
	var out []string
	for _, item := range items {
		out = append(out, item.(string))
	}
	return out
}

// Annotated reports whether an object has an annotation.
func (o Object) Annotated(key, value string) bool {
	return o.Text("metadata", "annotations", key) == value
}

// Holds compares the value at a path of an object with YAML.
func (o Object) Holds(t testing.TB, want string, path ...any) {
	t.Helper()
	var wanted any
	if err := yaml.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(o.Get(path...))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := yaml.Marshal(wanted); err != nil || string(text) != string(got) {
		t.Errorf("%v of %s %s is\n%swant\n%s(%v)", path, o.Text("kind"), o.Name(), got, text, err)
	}
}

// YAML returns an object as YAML.
func (o Object) YAML(t testing.TB) string {
	t.Helper()
	text, err := yaml.Marshal(map[string]any(o))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Of returns the objects of a kind, in the order of their files.
func (r *Rendered) Of(kind string) []Object {
	var out []Object
	for _, path := range slices.Sorted(maps.Keys(r.Files)) {
		for _, o := range r.Files[path] {
			if o.Text("kind") == kind {
				out = append(out, o)
			}
		}
	}
	return out
}

// One returns the object of a kind and name, nil if there is none.
func (r *Rendered) One(kind, name string) Object {
	for _, o := range r.Of(kind) {
		if o.Name() == name {
			return o
		}
	}
	return nil
}

// Must returns the object of a kind and name; the test fails if there is none.
func (r *Rendered) Must(kind, name string) Object {
	r.T.Helper()
	o := r.One(kind, name)
	if o == nil {
		r.T.Fatalf("there is no %s %s among %v", kind, name, r.Names(kind))
	}
	return o
}

// Names returns the names of the objects of a kind.
func (r *Rendered) Names(kind string) []string {
	var out []string
	for _, o := range r.Of(kind) {
		out = append(out, o.Name())
	}
	return out
}

// File returns the path of the file of an object, "" if there is none.
func (r *Rendered) File(kind, name string) string {
	for path, objects := range r.Files {
		for _, o := range objects {
			if o.Text("kind") == kind && o.Name() == name {
				return path
			}
		}
	}
	return ""
}

// Before reports whether one step is applied before another, by dependsOn.
func (r *Rendered) Before(first, then string) bool {
	k := r.Must("Kustomization", r.Product+"-"+then)
	deps, _ := k.Get("spec", "dependsOn").([]any)
	for i := range deps {
		on, ours := strings.CutPrefix(k.Text("spec", "dependsOn", i, "name"), r.Product+"-")
		if ours && (on == first || r.Before(first, on)) {
			return true
		}
	}
	return false
}

// Expression returns the expression by which a Kustomization decides whether a kind is healthy, "" if it has none.
func Expression(k Object, kind string) string {
	exprs, _ := k.Get("spec", "healthCheckExprs").([]any)
	for i := range exprs {
		if k.Text("spec", "healthCheckExprs", i, "kind") == kind {
			return k.Text("spec", "healthCheckExprs", i, "current")
		}
	}
	return ""
}

// Waited returns the objects that a Kustomization waits for, as KIND NAMESPACE/NAME.
func Waited(k Object) []string {
	checks, _ := k.Get("spec", "healthChecks").([]any)
	var out []string
	for i := range checks {
		at := func(field string) string { return k.Text("spec", "healthChecks", i, field) }
		out = append(out, at("kind")+" "+at("namespace")+"/"+at("name"))
	}
	return out
}

// Same fails the test if an object changed.
func Same(t testing.TB, before, after *Rendered, kind, name string) {
	t.Helper()
	a, b := before.Must(kind, name), after.One(kind, name)
	if b == nil || a.YAML(t) != b.YAML(t) {
		t.Errorf("%s %s changed", kind, name)
	}
}

// Changed returns the paths of the files that differ between two trees, sorted.
func Changed(before, after *Rendered) []string {
	var out []string
	for _, path := range slices.Compact(slices.Sorted(slices.Values(append(before.Tree.Paths(), after.Tree.Paths()...)))) {
		a, _ := before.Tree.Get(path)
		b, _ := after.Tree.Get(path)
		if !bytes.Equal(a.Content, b.Content) {
			out = append(out, path)
		}
	}
	return out
}
