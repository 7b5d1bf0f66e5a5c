package functions

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

const listHead = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"

// TestEncode: a list is written as kyaml writes it, however many items are encoded at once.
func TestEncode(t *testing.T) {
	lists := map[string]string{
		"nothing":  listHead + "items: []\n",
		"comments": listHead + "# items\nitems:\n# first\n- a: b # line\n  # foot\n\n# second\n- c: |\n    x\n\n      y\n  d: >-\n    folded\n    text\n  e: [1, {f: g}]\n# end\nfunctionConfig: # config\n  kind: X\n",
		"odd":      listHead + "items:\n- metadata: {annotations: {}}\n- {a: &x {b: c}, d: *x}\n- 'a b': \"c\\n d\"\n  e: ''\n  f: |2-\n      x\n",
		"many":     listHead + "items:\n" + strings.Repeat("# a\n- a: b\n  c:\n  - d\n  - - e\n", 3*atOnce+1),
	}
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no lists", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lists[file] = string(data)
	}
	for name, text := range lists {
		for _, results := range []framework.Results{nil, {{Message: "a\nb"}, {Message: "c", Severity: framework.Error}}} {
			list, err := parseList([]byte(text))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			list.results = results
			got, err := list.encode()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var want bytes.Buffer
			if list.stream.Writer = &want; results != nil {
				text, err := kyaml.Marshal(results)
				if err != nil {
					t.Fatal(err)
				}
				list.stream.Results = kyaml.MustParse(string(text))
			}
			if err := list.stream.Write(list.items); err != nil {
				t.Fatal(err)
			}
			if string(got) != want.String() {
				t.Errorf("%s:\n%s\nwant:\n%s", name, got, &want)
			}
		}
	}
}

// TestHostileLists: a list that would crash or never end is refused before anything looks into it.
func TestHostileLists(t *testing.T) {
	config := "functionConfig: {apiVersion: fleetwright.dev/v1alpha1, kind: ValidateFleet, metadata: {name: x}}\n"
	merged := "- a0: &a0 {k: v}\n"
	for i := 1; i < 60; i++ {
		merged += fmt.Sprintf("  a%d: &a%d {<<: [*a%d, *a%d, *a%d]}\n", i, i, i-1, i-1, i-1)
	}
	for name, c := range map[string]struct {
		items string
		limit bool
		says  string
	}{
		"metadata that contains itself": {"- {apiVersion: v1, kind: A, metadata: &m {<<: *m}}\n", false, `items[0] of the ResourceList: the alias "*m" contains itself`},
		"an item that contains itself":  {"- {apiVersion: v1, kind: A}\n- &x\n  apiVersion: v1\n  <<: *x\n", false, `items[1] of the ResourceList: the alias "*x" contains itself`},
		"maps that are merged":          {merged + "  metadata: {<<: *a59}\n", true, "items[0] of the ResourceList: the document's aliases expand to more than 1000000 values"},
		"many values":                   {"- {a: [" + strings.Repeat("1,", 5_000_000) + "]}\n", true, "it holds up to 5000"},
		"many bytes":                    {"- {a: " + strings.Repeat("x", 64<<20) + "}\n", true, "it is larger than 64.0 MB"},
		"many brackets that stay open":  {"- " + strings.Repeat("[", 100_000), false, "exceeded max depth"},
		"a configuration of itself":     {"[]\nfunctionConfig: &s {kind: ValidateFleet, <<: *s}\n", false, "the functionConfig of the ResourceList: the alias"},
	} {
		t.Run(name, func(t *testing.T) {
			text := listHead + config + "items:\n" + c.items
			if strings.Contains(c.items, "functionConfig") {
				text = listHead + "items: " + c.items
			}
			var out bytes.Buffer
			err := Run(t.Context(), strings.NewReader(text), &out, Options{Root: t.TempDir()})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %.300v, want %q", err, c.says)
			}
			if tooMuch := (*bounds.Error)(nil); errors.As(err, &tooMuch) != c.limit {
				t.Errorf("%T: a limit is exceeded: want %v", err, c.limit)
			}
		})
	}
}
