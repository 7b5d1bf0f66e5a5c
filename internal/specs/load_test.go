package specs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// rich is a specification with every way of writing YAML that must not matter.
const rich = `
apiVersion: fleetwright.dev/v1alpha1
kind: Addon
metadata: {name: app, annotations: {config.kubernetes.io/local-config: "true", example.com/note: kept}}
spec:
  namespace: app
  chart: {url: "oci://r.example.com/charts/app", version: 1.2.3}
  values:
    ints: [0, -1, 1_000, 0x10, 0o17, 1e3, 1.0, 9223372036854775807, 18446744073709551615]
    floats: [1.5, 1e-9, 1e21, 123456789012345678901234567890]
    bools: [true, False, "true", yes, on]
    strings: ["", "1", 'it''s', "a: b", "null", "~", "0777", "2001-02-03", 2001-02-03T04:05:06Z]
    octal: 0777
    nothing: [null, ~]
    empty: {list: [], map: {}}
    block: |
      two
      lines
    base: &base {a: 1, b: {c: 2}}
    merged: {<<: *base, a: 3}
    alias: *base
  overrides:
    - clusters: {environments: [staging]}
      values: {bools: null, base: {b: {d: 4}}}
`

func specFiles(t testing.TB) []File {
	t.Helper()
	base, err := os.ReadFile("testdata/errors/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return []File{{Path: "fleet/base.yaml", Content: base}, {Path: "fleet/rich.yaml", Content: []byte(rich)}}
}

func mustLoad(t testing.TB, files []File) *v1alpha1.Spec {
	t.Helper()
	spec, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// documents splits files into the nodes of their documents; empty ones are
// left out.
func documents(t testing.TB, files []File) []*yaml.Node {
	t.Helper()
	var out []*yaml.Node
	for _, f := range files {
		for reader := yaml.NewDecoder(bytes.NewReader(f.Content)); ; {
			var doc yaml.Node
			err := reader.Decode(&doc)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(doc.Content) == 1 && !strict.IsNull(doc.Content[0]) {
				out = append(out, &doc)
			}
		}
	}
	return out
}

func TestValues(t *testing.T) {
	values := mustLoad(t, specFiles(t)).Addon("app").Spec.Values
	want := map[string]any{
		"ints":    []any{int64(0), int64(-1), int64(1000), int64(16), int64(15), int64(1000), int64(1), int64(9223372036854775807), uint64(18446744073709551615)},
		"floats":  []any{1.5, 1e-9, 1e21, 123456789012345678901234567890.0},
		"bools":   []any{true, false, "true", "yes", "on"},
		"strings": []any{"", "1", "it's", "a: b", "null", "~", "0777", "2001-02-03", "2001-02-03T04:05:06Z"},
		"octal":   int64(511),
		"nothing": []any{nil, nil},
		"empty":   map[string]any{"list": []any{}, "map": map[string]any{}},
		"block":   "two\nlines\n",
		"base":    map[string]any{"a": int64(1), "b": map[string]any{"c": int64(2)}},
		"merged":  map[string]any{"a": int64(3), "b": map[string]any{"c": int64(2)}},
		"alias":   map[string]any{"a": int64(1), "b": map[string]any{"c": int64(2)}},
	}
	for key := range want {
		if !reflect.DeepEqual(values[key], want[key]) {
			t.Errorf("%s: got %#v, want %#v", key, values[key], want[key])
		}
	}
}

// TestFilesDoNotMatter shuffles, splits, merges and renames the files.
func TestFilesDoNotMatter(t *testing.T) {
	files := specFiles(t)
	want := mustLoad(t, files)
	docs := documents(t, files)
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		var mixed []File
		for i := 0; i < len(docs); {
			n := 1 + r.IntN(len(docs)-i)
			var content bytes.Buffer
			enc := yaml.NewEncoder(&content)
			for _, doc := range docs[i : i+n] {
				if err := enc.Encode(doc); err != nil {
					t.Fatal(err)
				}
			}
			mixed = append(mixed, File{Path: fmt.Sprintf("%d/%d.yaml", r.IntN(9), i), Content: content.Bytes()})
			i += n
		}
		r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		if got := mustLoad(t, mixed); !got.Equal(want) {
			t.Fatalf("seed %d: the specification differs", seed)
		}
	}
}

func TestErrorsDoNotDependOnOrder(t *testing.T) {
	files := []File{{"b.yaml", []byte("kind: x\n---\nkind: y\n")}, {"a.yaml", []byte("[")}, {"c.yaml", []byte("x")}}
	_, want := Load(files)
	files[0], files[2] = files[2], files[0]
	if _, err := Load(files); err == nil || err.Error() != want.Error() {
		t.Errorf("got\n%v\nwant\n%v", err, want)
	}
}

func TestLoadNodes(t *testing.T) {
	files := specFiles(t)
	items := documents(t, files)
	items = append(items, documents(t, []File{{Content: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: foreign}\n---\nkind: Kptfile\n---\napiVersion: fleetwright.dev/v1alpha1\nkind: RenderFleet\nmetadata: {name: f}\n")}})...)
	got, err := LoadNodes(items)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(mustLoad(t, files)) {
		t.Error("items give another specification than files")
	}
}

func TestLoadNodesErrors(t *testing.T) {
	const item = `
apiVersion: fleetwright.dev/v1alpha1
kind: Tenant
metadata:
  name: x
  annotations: {internal.config.kubernetes.io/path: fleet/tenants.yaml, internal.config.kubernetes.io/index: "2"}
spec:
  podSecurity: none # AGE-SECRET-KEY-1QQPQQ0QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQ
---
apiVersion: fleetwright.dev/v1alpha1
kind: Tenant
metadata: {name: y}
spec: {podSecurity: none}
---
apiVersion: fleetwright.dev/v1
kind: Tenant
metadata: {name: z}
`
	_, err := LoadNodes(append(documents(t, specFiles(t)), documents(t, []File{{Content: []byte(item)}})...))
	var all strict.Errors
	if !errors.As(err, &all) {
		t.Fatal(err)
	}
	want := `Tenant y: spec.podSecurity is "none", want privileged, baseline or restricted
Tenant z: unknown version "v1" of fleetwright.dev
  hint: write fleetwright.dev/v1alpha1
fleet/tenants.yaml: Tenant x: it contains a private key
  hint: ` + keyHint + `
fleet/tenants.yaml: Tenant x: spec.podSecurity is "none", want privileged, baseline or restricted`
	if sorted := strings.Join(lines(all), "\n"); sorted != want {
		t.Errorf("got\n%s\nwant\n%s", sorted, want)
	}
}

func lines(all strict.Errors) []string {
	var out []string
	for _, e := range all {
		out = append(out, e.Text())
	}
	return out
}

func TestSkippedFiles(t *testing.T) {
	files := specFiles(t)
	want := mustLoad(t, files)
	files = append(files,
		File{"fleet/kustomization.yaml", []byte("resources: [base.yaml]\n")},
		File{"fleet/Kptfile", []byte("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: x}\n")},
		File{"fleet/other.yaml", []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Component\n---\n\n---\n# nothing\n")},
		File{"fleet/fn.yaml", []byte("apiVersion: fleetwright.dev/v1alpha1\nkind: ValidateFleet\nmetadata: {name: x}\nspec: {any: thing}\n")},
		File{"fleet/empty.yaml", nil},
	)
	if got := mustLoad(t, files); !got.Equal(want) {
		t.Error("a skipped file changes the specification")
	}
}

func TestLargeFile(t *testing.T) {
	_, err := Load([]File{{"fleet/large.yaml", make([]byte, MaxFileSize+1)}})
	if err == nil || !strings.HasPrefix(err.Error(), "fleet/large.yaml: larger than 10 MB") {
		t.Errorf("got %v", err)
	}
}

// TestUnreadFileHidesNoName: what a file that cannot be read may define is not
// reported as missing.
func TestUnreadFileHidesNoName(t *testing.T) {
	files := append(specFiles(t), File{"fleet/a.yaml", []byte("[")},
		File{"fleet/b.yaml", []byte("apiVersion: fleetwright.dev/v1alpha1\nkind: Addon\nmetadata: {name: x}\nspec: {namespace: x, chart: {url: oci://h/x, version: 1.2.3}, dependsOn: [{name: in-a}], clusters: {names: [in-a]}}\n")})
	_, err := Load(files)
	var all strict.Errors
	if !errors.As(err, &all) || len(all) != 1 || all[0].File != "fleet/a.yaml" {
		t.Errorf("got %v, want one error in fleet/a.yaml", err)
	}
}

func TestManyErrorsAreBounded(t *testing.T) {
	content := "apiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata: {name: x}\nspec:\n  variables:\n"
	for i := range 5000 {
		content += fmt.Sprintf("    V%d: 1\n", i)
	}
	_, err := Load([]File{{"a.yaml", []byte(content)}})
	var all strict.Errors
	if !errors.As(err, &all) || len(all) != strict.MaxErrors+1 || !strings.Contains(all[strict.MaxErrors].Message, "more errors") {
		t.Errorf("got %d errors", len(all))
	}
}

// TestKustomizeChangesNothing passes a specification through the real
// kustomize, which sorts keys, resolves aliases and goes through JSON.
func TestKustomizeChangesNothing(t *testing.T) {
	files := specFiles(t)
	dir, out := t.TempDir(), t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		write(filepath.Base(f.Path), string(f.Content))
	}
	write("kustomization.yaml", "resources: [base.yaml, rich.yaml]\ntransformers: [fn.yaml]\n")
	write("fn.yaml", "apiVersion: fleetwright.dev/v1alpha1\nkind: RenderFleet\nmetadata:\n  name: fn\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./fn}\n")
	write("fn", "#!/bin/sh\nexec tee \"$SEEN\"\n") // the function sees its items, and changes nothing
	testpeer.Command{Tool: "kustomize", Args: []string{"build", "--enable-alpha-plugins", "--enable-exec", "."}, Dir: dir, Reads: []string{dir},
		Env: []string{"SEEN=" + filepath.Join(out, "seen")}, Writes: out, Keep: func(string) string { return "" }}.Output(t)
	seen, err := os.ReadFile(filepath.Join(out, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Items []yaml.Node }
	if err := yaml.Unmarshal(seen, &list); err != nil {
		t.Fatal(err)
	}
	var items []*yaml.Node
	for i := range list.Items {
		items = append(items, &list.Items[i])
	}
	got, err := LoadNodes(items)
	if err != nil {
		t.Fatalf("%v\n%s", err, seen)
	}
	want := mustLoad(t, files)
	if !got.Equal(want) {
		t.Errorf("got  %#v\nwant %#v", got.Addon("app").Spec.Values, want.Addon("app").Spec.Values)
	}
}

func FuzzLoad(f *testing.F) {
	for _, file := range specFiles(f) {
		f.Add(file.Content)
	}
	archives, err := filepath.Glob("testdata/errors/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range archives {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for part := range strings.SplitSeq(string(content), "\n-- ") {
			if _, doc, ok := strings.Cut(part, ".yaml --\n"); ok {
				f.Add([]byte(doc))
			}
		}
	}
	base, err := os.ReadFile("testdata/errors/base.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		spec, err := Load([]File{{"base.yaml", base}, {"fuzz.yaml", content}})
		var all strict.Errors
		switch {
		case err == nil && spec == nil, err != nil && spec != nil:
			t.Fatalf("got %v and %v", spec, err)
		case err != nil && !errors.As(err, &all):
			t.Fatalf("untyped error %v", err)
		}
		for _, e := range all {
			if e.Message == "" {
				t.Errorf("error without a message: %+v", *e)
			}
		}
		if err != nil {
			return
		}
		again, err := LoadNodes(documents(t, []File{{"base.yaml", base}, {"fuzz.yaml", content}}))
		if err != nil || !again.Equal(spec) {
			t.Errorf("as items the specification differs: %v", err)
		}
	})
}

func TestManyLines(t *testing.T) {
	_, err := Load([]File{{"a.yaml", bytes.Repeat([]byte("- x\n"), maxSeparators)}, {"b.yaml", []byte("x\n")}})
	if err == nil || !strings.Contains(err.Error(), "b.yaml: including this file, the specification has more than 500000 lines and items") {
		t.Errorf("got %v", err)
	}
}

// TestHostileInputIsBounded loads what is small to write and large to read.
func TestHostileInputIsBounded(t *testing.T) {
	const lines = maxSeparators / 10 // enough to tell a square from a line
	head := "apiVersion: fleetwright.dev/v1alpha1\nkind: Tenant\nmetadata: {name: x}\nspec:\n"
	for name, content := range map[string]string{
		"keys":       strings.Repeat("a:\n", lines),
		"items":      "a: [" + strings.Repeat("a,", lines) + "]",
		"documents":  strings.Repeat("---\n", lines),
		"depth":      strings.Repeat("[", MaxFileSize),
		"sequences":  strings.Repeat("- ", MaxFileSize/2),
		"duplicates": head + "  quota:\n" + strings.Repeat("    a: 1\n", lines),
		"unknown":    head + "  environments: {" + strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: x, ", 1000) + "}",
		"merges":     "a: &a {b: c}\n" + "x: {<<: [" + strings.Repeat("*a, ", 100_000) + "]}",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Load([]File{{"hostile.yaml", []byte(content)}}); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}
