package repository

import (
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A file of a test's that holds no objects is kept as its text, and gives the same documents as
// the one of the same text that is kept whole.
func TestFolded(t *testing.T) {
	for name, text := range map[string]string{
		"values":           "a: &x {b: [1, two, ~]}\nc: *x # said\n\"d\": |\n  text\n",
		"several":          "---\n# nothing\n---\na: {b: c, d: e, f: g}\n---\n- x\n- y\n- z\n---\nword\n",
		"nested object":    "gateways:\n- {apiVersion: v1, kind: Service, metadata: {name: a}}\n",
		"another spelling": "? [a, b]\n: c\nd: {e: f, g: h}\n",
	} {
		t.Run(name, func(t *testing.T) {
			const whole, kept = "values/a.yaml", "testdata/a.yaml"
			r, err := FromFiles(maps.All(map[string][]byte{whole: []byte(text), kept: []byte(text)}), Options{})
			if err != nil {
				t.Fatal(err)
			}
			w, f := r.byPath[whole], r.byPath[kept]
			if w.folded != nil || f.folded == nil || len(f.Documents) != len(w.Documents) {
				t.Fatalf("folded %v and %v, %d and %d documents", w.folded != nil, f.folded != nil, len(w.Documents), len(f.Documents))
			}
			for i, d := range f.Documents {
				if of := w.Documents[i]; d.node != nil || d.Line != of.Line || d.Index != of.Index {
					t.Errorf("document %d: line %d, index %d; whole %d, %d", i, d.Line, d.Index, of.Line, of.Index)
				}
				if d.Lookup("absent", "b") != nil || d.node != nil {
					t.Error("what a document lacks was looked for in its nodes")
				}
			}
			for i, d := range f.Documents {
				of := w.Documents[i]
				for _, key := range []string{"a", "d", "gateways"} {
					if got, want := d.Lookup(key) != nil, of.Lookup(key) != nil; got != want {
						t.Errorf("document %d has %q: %v, whole %v", i, key, got, want)
					}
				}
				if !reflect.DeepEqual(d.Root(), of.Root()) {
					t.Errorf("document %d differs from the one that is kept whole", i)
				}
			}
		})
	}
}

// What the rules look at, what isn't whole and what would take no less as text stays as it is.
func TestNotFolded(t *testing.T) {
	object := "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n"
	for file, text := range map[string]string{
		"apps/a.yaml":                 "a: {b: c, d: e}\n",
		"testdata/object.yaml":        object,
		"testdata/beside.yaml":        "a: {b: c, d: e}\n---\n" + object,
		"testdata/kustomization.yaml": "resources: [a, b, c, d]\n",
		"testdata/encrypted.yaml":     "a: {b: c, d: e}\nsops: {mac: x, lastmodified: y, age: [a, b]}\n",
		"testdata/merged.yaml":        "a: &x {b: c, d: e}\n<<: *x\n",
		"testdata/broken.yaml":        "a: {b: c, d: e}\n---\na: [\n",
		"testdata/text.yaml":          "a: " + strings.Repeat("long ", 200) + "\n",
	} {
		r, err := FromFiles(maps.All(map[string][]byte{file: []byte(text)}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Files() {
			if f.folded != nil {
				t.Errorf("%s is folded", f.Path)
			}
		}
	}
}

// The nodes come once, whoever asks for them at the same time.
func TestUnfoldedOnce(t *testing.T) {
	text := "a: {b: c, d: e}\n---\nf: {g: h, i: j}\n"
	r, err := FromFiles(maps.All(map[string][]byte{"tests/a.yaml": []byte(text)}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	documents := r.files[0].Documents
	if !documents[1].Mentions("g") || documents[1].Mentions("absent") || documents[1].node != nil {
		t.Error("whether a word is mentioned must be known from the text")
	}
	var wg sync.WaitGroup
	roots := make([][2]*yaml.Node, 8)
	for i := range roots {
		wg.Go(func() { roots[i] = [2]*yaml.Node{documents[0].Root(), documents[1].Root()} })
	}
	wg.Wait()
	for _, pair := range roots {
		if pair != roots[0] || pair[0] == nil || pair[1] == nil {
			t.Fatal("two that ask for a document got different ones")
		}
	}
}
