package repository

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

func items(t *testing.T, texts ...string) []*kyaml.RNode {
	t.Helper()
	var nodes []*kyaml.RNode
	for _, text := range texts {
		n, err := kyaml.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func item(kind, name, annotations string) string {
	return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: " + name + ", annotations: {" + annotations + "}}\n"
}

func TestFromItems(t *testing.T) {
	nodes := items(t,
		item("ConfigMap", "second", "config.kubernetes.io/path: a.yaml, config.kubernetes.io/index: '1'"),
		item("ConfigMap", "first", "internal.config.kubernetes.io/path: a.yaml, internal.config.kubernetes.io/index: '0'"),
		item("ConfigMap", "nested", "internal.config.kubernetes.io/path: a.yaml, internal.config.kubernetes.io/package-path: /pkg/sub"),
		item("Kptfile", "pkg", "internal.config.kubernetes.io/path: Kptfile, internal.config.kubernetes.io/package-path: /pkg"),
		item("ConfigMap", "nowhere", ""),
		"kind: Kustomization\nresources: [a.yaml]\nmetadata: {annotations: {config.kubernetes.io/path: kustomization.yaml}}\n",
	)
	before := nodes[0].MustString()
	r, err := FromItems(nodes, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for o := range r.Objects() {
		got = append(got, o.File()+" "+o.Name)
		if line, column := o.Position("metadata", "name"); line != 0 || column != 0 {
			t.Errorf("%s has the position %d:%d", o, line, column)
		}
	}
	want := []string{"Kptfile pkg", "a.yaml first", "a.yaml second", "configmap_nowhere.yaml nowhere", "sub/a.yaml nested"}
	if !slices.Equal(got, want) {
		t.Errorf("objects are %q, want %q", got, want)
	}
	if r.Use("a.yaml") != Resource || r.Use("sub/a.yaml") != Plain {
		t.Error("the kustomization among the items is not used")
	}
	if nodes[0].MustString() != before || nodes[0].YNode().Line == 0 {
		t.Error("an item was changed")
	}
}

func TestFromItemsRefusesPathsThatLeadOut(t *testing.T) {
	for _, annotation := range []string{
		"config.kubernetes.io/path: ../a.yaml", "config.kubernetes.io/path: /a.yaml",
		"internal.config.kubernetes.io/path: ../../a.yaml, internal.config.kubernetes.io/package-path: /pkg",
		"config.kubernetes.io/path: a.yaml, config.kubernetes.io/index: x",
	} {
		if _, err := FromItems(items(t, item("ConfigMap", "a", annotation)), Options{}); err == nil {
			t.Errorf("%s is accepted", annotation)
		}
	}
	for _, text := range []string{bomb(), "a: &a {<<: *a}\nmetadata: &m {<<: *m}\n"} {
		if _, err := FromItems(items(t, text), Options{}); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// TestItemsAreFiles: the text of an item's file is the one that kpt writes, and it falls into the same documents, so
// that a build takes them as they are; kustomize takes a time for it that grows with the square of their number.
func TestItemsAreFiles(t *testing.T) {
	r, err := FromItems(items(t,
		item("ConfigMap", "a", "config.kubernetes.io/path: a.yaml, internal.config.kubernetes.io/path: a.yaml, config.kubernetes.io/index: '0', internal.config.kubernetes.io/index: '0'"),
		item("ConfigMap", "b", "config.kubernetes.io/path: a.yaml, config.kubernetes.io/index: '1', own: x"),
		item("ConfigMap", "c", "own: &x y, other: *x, config.kubernetes.io/path: a.yaml, config.kubernetes.io/index: '2'"),
	), Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.ReadFile("a.yaml")
	want := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, annotations: {own: x}}\n" +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, annotations: {own: &x y, other: *x}}\n"
	if err != nil || string(data) != want {
		t.Errorf("%v\n%s\nwant:\n%s", err, data, want)
	}
	if f, ok := r.File("a.yaml"); !ok || !f.Apart || len(f.Documents) != 3 {
		t.Errorf("%+v", f)
	}
}

// TestFromItemsOfTheRealTools loads what kpt and kustomize passed to a function.
func TestFromItemsOfTheRealTools(t *testing.T) {
	lists, err := filepath.Glob(filepath.Join("..", "..", "functions", "testdata", "k*-*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(lists) == 0 {
		t.Fatal("there are no captured ResourceLists")
	}
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		reader := kio.ByteReader{Reader: bytes.NewReader(data), OmitReaderAnnotations: true}
		nodes, err := reader.Read()
		if err != nil {
			t.Fatal(err)
		}
		r, err := FromItems(nodes, Options{})
		if err != nil {
			t.Errorf("%s: %v", list, err)
			continue
		}
		documents := 0
		for _, f := range r.Files() {
			documents += len(f.Documents)
			if strings.HasPrefix(f.Path, "..") {
				t.Errorf("%s: the path %s", list, f.Path)
			}
		}
		if documents != len(nodes) {
			t.Errorf("%s: %d documents of %d items", list, documents, len(nodes))
		}
	}
}

func TestFromItemsHasTheirText(t *testing.T) {
	r, err := FromItems(items(t,
		item("ConfigMap", "first", "config.kubernetes.io/path: a/b.yaml, config.kubernetes.io/index: '0'"),
		item("ConfigMap", "second", "config.kubernetes.io/path: a/b.yaml, config.kubernetes.io/index: '1'"),
	), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if names, ok := r.ReadDir("a"); !ok || !slices.Equal(names, []string{"b.yaml"}) || !r.Partial() {
		t.Errorf("the folder holds %v, %v", names, ok)
	}
	text, err := r.ReadFile("a/b.yaml")
	if err != nil || strings.Count(string(text), "kind: ConfigMap") != 2 || strings.Count(string(text), "\n---\n") != 1 {
		t.Errorf("the file of the items is %q, %v", text, err)
	}
}
