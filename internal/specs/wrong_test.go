package specs

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// TestWrongSpecifications makes one mistake at a time in a specification of each
// platform and compares all that is said of it. A case is NAME.edit, the text of
// the base and behind => what takes its place, with the errors in NAME.want.
func TestWrongSpecifications(t *testing.T) {
	for _, name := range []string{"k0rdent", "kommander"} {
		t.Run(name, func(t *testing.T) {
			path := "testdata/wrong/" + name + ".txtar"
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) < 100 || archive.Files[0].Name != "base.yaml" {
				t.Fatalf("%s has %d files, want the base and its cases", path, len(archive.Files))
			}
			base := archive.Files[0].Data
			if _, err := Load([]File{{Path: "fleet/" + name + ".yaml", Content: base}}); err != nil {
				t.Fatal("the base is not valid:", err)
			}
			for i := 1; i+1 < len(archive.Files); i += 2 {
				edit, want := archive.Files[i], &archive.Files[i+1]
				id := strings.TrimSuffix(edit.Name, ".edit")
				if want.Name != id+".want" {
					t.Fatalf("%s stands behind %s", want.Name, edit.Name)
				}
				t.Run(id, func(t *testing.T) {
					got := errorText(t, []File{{Path: "fleet/" + name + ".yaml", Content: edited(t, string(base), string(edit.Data))}})
					if *update {
						want.Data = []byte(got)
					} else if got != string(want.Data) {
						t.Errorf("got:\n%s\nwant:\n%s", got, want.Data)
					}
				})
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// However long a value is, what is said of it is short.
func TestErrorsAreShort(t *testing.T) {
	long := strings.Repeat("aB_", 100_000)
	for name, doc := range map[string]string{
		"name":       "kind: Cluster\nmetadata: {name: " + long + "}\n",
		"version":    "kind: K0rdent\nmetadata: {name: k}\nspec: {version: v1.1.1-" + long + ", cluster: a, capi: {version: 1.1.1}}\n",
		"url":        "kind: Fleet\nmetadata: {name: f}\nspec: {repository: {url: example.com/" + long + "}}\n",
		"list":       "kind: Addon\nmetadata: {name: a}\nspec: {namespace: a, clusters: {names: " + long + "}}\n",
		"mapping":    "kind: Kommander\nmetadata: {name: k}\nspec: {version: 2.4.0, cluster: a, gatekeeper: " + long + ", appManagement: {version: 1.0.0}, definitions: [" + long + "]}\n",
		"variable":   "kind: Cluster\nmetadata: {name: a}\nspec: {variables: {\"" + long + "-\": a}}\n",
		"cluster":    "kind: K0rdent\nmetadata: {name: k}\nspec: {version: 1.11.4, cluster: " + long + ", capi: {version: 1.1.1}}\n",
		"definition": "kind: Kommander\nmetadata: {name: k}\nspec: {version: 2.4.0, cluster: a, gatekeeper: {version: " + long + "}, appManagement: {version: " + long + "}, definitions: [{name: x, chart: {url: 'https://example.com', version: 1.0.0}}]}\n",
		"label":      "kind: Cluster\nmetadata: {name: a, labels: {a: " + long + "}}\n",
		"anchor":     "kind: Cluster\nmetadata: {name: *" + long + "}\n",
	} {
		_, err := Load([]File{{Path: "x.yaml", Content: []byte("apiVersion: " + v1alpha1.APIVersion + "\n" + doc)}})
		if err == nil || len(err.Error()) > 4000 {
			t.Errorf("%s: %d bytes are said of a long value: %.300v", name, len(err.Error()), err)
		}
	}
}

// edited is the base with the text of an edit replaced, which it must hold.
func edited(t *testing.T, base, edit string) []byte {
	t.Helper()
	before, after, ok := strings.Cut(edit, "=>\n")
	before, after = strings.TrimSuffix(before, "\n"), strings.TrimSuffix(after, "\n")
	if !ok || before == "" || !strings.Contains(base, before) {
		t.Fatalf("the base has no\n%s", before)
	}
	return []byte(strings.Replace(base, before, after, 1))
}
