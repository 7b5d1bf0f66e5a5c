package resourceset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/testflux"
)

// TestResourceSetsAgainstOperator makes the objects of the operator's own examples, and compares
// them with those that its builder makes.
func TestResourceSetsAgainstOperator(t *testing.T) {
	dir := filepath.Join(testflux.Manifests(t), "../../../../internal/builder/testdata/resourceset")
	wanted, err := filepath.Glob(filepath.Join(dir, "*.golden.yaml"))
	if err != nil || len(wanted) < 7 {
		t.Fatalf("%d examples in %s: %v", len(wanted), dir, err)
	}
	for _, golden := range wanted {
		name := strings.TrimSuffix(filepath.Base(golden), ".golden.yaml")
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(dir, name+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			set := resultOf(t, content)
			if set.Because != "" && name != "slugify" {
				t.Error(set.Because)
			}
			// The builder's tests hand over the inputs without what the controller adds to them, and to the objects.
			var all []any
			for _, o := range set.Objects {
				all = append(all, viaJSON(t, withoutOwner(o.Plain())))
			}
			var expected []any
			for _, document := range strings.Split(string(want), "\n---\n") {
				var one any
				if err := yaml.Unmarshal([]byte(document), &one); err != nil {
					t.Fatal(err)
				}
				if one != nil {
					expected = append(expected, one)
				}
			}
			if name == "slugify" { // which is evaluated only where it changes nothing
				return
			}
			if !reflect.DeepEqual(all, expected) {
				t.Errorf("got %v\nwant %v", all, expected)
			}
		})
	}
}

// resultOf evaluates a ResourceSet.
func resultOf(t *testing.T, content []byte) Result {
	t.Helper()
	nodes, err := located.Parse("set.yaml", string(content))
	if err != nil || len(nodes) != 1 {
		t.Fatalf("%d documents, %v", len(nodes), err)
	}
	whole, err := located.ValueOf("set.yaml", nodes[0], located.AsKustomize)
	if err != nil {
		t.Fatal(err)
	}
	return NewEvaluator(t.Context()).Evaluate(ResourceSet{Namespace: located.TextAt(whole, "metadata", "namespace").Value,
		Name: located.TextAt(whole, "metadata", "name").Value, Whole: whole, Unknown: func(string) *located.Unknown { return nil }})
}

func viaJSON(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestResourceSetsHostile holds ResourceSets that would take all time or memory, or read files.
func TestResourceSetsHostile(t *testing.T) {
	for name, template := range map[string]string{
		"loop":       "<< range until 1000000000 >>a<< end >>",
		"repeat":     `<< repeat 1000000000 "a" >>`,
		"recursion":  `<< define "a" >><< template "a" >><< end >><< template "a" >>`,
		"file":       `<< readFile "set.yaml" >>`,
		"command":    `<< exec "true" (list) >>`,
		"variable":   `<< env "HOME" >>`,
		"many":       "<< range until 100000 >>\n    ---\n    kind: A\n    metadata: {name: n<< . >>}<< end >>",
		"no actions": "a: &a [x,x,x,x,x,x,x,x,x]\n    b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n    c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n    d: [*c,*c,*c,*c,*c,*c,*c,*c,*c]",
	} {
		set := resultOf(t, []byte("apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: a}\nspec:\n  resourcesTemplate: |\n    "+template+"\n"))
		if set.Because == "" && name != "no actions" || len(set.Objects) > limits.SetObjects {
			t.Errorf("%s: %d objects, %q", name, len(set.Objects), set.Because)
		}
	}
}

// withoutOwner takes the labels of the owner out of an object.
func withoutOwner(object any) any {
	metadata := object.(map[string]any)["metadata"].(map[string]any)
	all := metadata["labels"].(map[string]any)
	for _, name := range []string{"name", "namespace"} {
		delete(all, "resourceset.fluxcd.controlplane.io/"+name)
	}
	if len(all) == 0 {
		delete(metadata, "labels")
	}
	return object
}
