//go:build peers

package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/generators"
	"github.com/fleetwright/fleetwright/internal/specs"
)

// k0rdentDefinitions returns k0rdent's own definitions, by the edition that they stand for. KCM names a folder with checkouts of kcm.
func k0rdentDefinitions(t *testing.T) map[string]map[schema.GroupVersionKind]*Schema {
	t.Helper()
	root := os.Getenv("KCM")
	if root == "" {
		t.Skip("KCM does not name a folder with checkouts of github.com/k0rdent/kcm, v1.11.4 and v1.12.0-rc2")
	}
	all := map[string]map[schema.GroupVersionKind]*Schema{}
	for edition, folder := range map[string]string{"1.11": "v1.11.4", "": "v1.12.0-rc2"} {
		files, err := filepath.Glob(filepath.Join(root, folder, "templates/provider/kcm/templates/crds/*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d definitions of %s: %v", len(files), folder, err)
		}
		all[edition] = map[schema.GroupVersionKind]*Schema{}
		for _, file := range files {
			s := definitionIn(t, file)
			all[edition][s.GVK] = s
		}
	}
	return all
}

func definitionIn(t *testing.T, file string) *Schema {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := yaml.Unmarshal(content, &object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	d, ok := DefinitionOf(object, file, 1)
	if !ok || len(d.Versions) != 1 {
		t.Fatalf("%s: %d versions", file, len(d.Versions))
	}
	props, err := d.Versions["v1beta1"]()
	if err != nil {
		t.Fatal(err)
	}
	fields := props["properties"].(map[string]any)
	delete(fields, "status") // nobody writes it into Git
	text, err := json.Marshal(props)
	if err != nil {
		t.Fatal(err)
	}
	s, err := compileJSON(origin{gvk: schema.GroupVersionKind{Group: d.Group, Version: "v1beta1", Kind: d.Kind}, namespaced: d.Namespaced}, text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return s
}

// The fields, types, bounds and defaults are k0rdent's own, and so are the rules
// on transitions, which no verdict on a single object tells apart.
func TestK0rdentHasTheFieldsOfItsDefinitions(t *testing.T) {
	for release, kinds := range k0rdentDefinitions(t) {
		if len(kinds) < 20 {
			t.Errorf("edition %q has %d kinds", release, len(kinds))
		}
		for gvk, theirs := range kinds {
			mine := ours(t, gvk, release)
			if mine.Namespaced != theirs.Namespaced {
				t.Errorf("%s: namespaced is %v", gvk.Kind, mine.Namespaced)
			}
			got, want := plainStructure(t, mine), plainStructure(t, theirs)
			if where := firstDifference(got, want, gvk.Kind); where != "" {
				t.Errorf("edition %q: %s", release, where)
			}
		}
	}
}

func firstDifference(got, want any, at string) string {
	a, ok := got.(map[string]any)
	b, both := want.(map[string]any)
	if !ok || !both {
		if !reflect.DeepEqual(got, want) {
			return fmt.Sprintf("%s is %v, the definition has %v", at, got, want)
		}
		return ""
	}
	for key := range b {
		if where := firstDifference(a[key], b[key], at+"."+key); where != "" {
			return where
		}
	}
	for key := range a {
		if _, there := b[key]; !there {
			return at + "." + key + " is not in the definition"
		}
	}
	return ""
}

// The verdicts on objects of every kind, right and wrong, are those of k0rdent's
// own definitions, CEL included.
func TestK0rdentVerdictsAreThoseOfItsDefinitions(t *testing.T) {
	meta, err := metadata()
	if err != nil {
		t.Fatal(err)
	}
	refused, accepted, violations := 0, 0, 0
	rules, broken := map[string]bool{}, map[string]bool{}
	for release, kinds := range k0rdentDefinitions(t) {
		for gvk, theirs := range kinds {
			mine := ours(t, gvk, release)
			m := &maker{rand: rand.New(rand.NewPCG(7, uint64(len(gvk.Kind)))), texts: k0rdentTexts}
			own := statements(plainRules(t, theirs))
			for rule := range own {
				rules[rule] = true
			}
			for i := range 90 + 24*len(own) {
				m.wrong = []int{0, 0, 5, 30}[i%4]
				m.optional = []int{0, 300, 600}[i%3] // rules are about fields deep down, several at once
				o := m.made(theirs, meta)
				for _, p := range theirs.Validate(o) {
					for rule := range own {
						broken[rule] = broken[rule] || p.Kind == Violation && strings.Contains(p.Message, own[rule])
					}
				}
				want, got := worst(theirs, o), worst(mine, o)
				if got != want {
					t.Fatalf("edition %q, %s: ours %q, theirs %q, of %v", release, gvk.Kind, got, want, o)
				}
				switch {
				case want == "":
					accepted++
				case want == string(Violation):
					violations++
				default:
					refused++
				}
			}
		}
	}
	for rule := range rules {
		if !broken[rule] {
			t.Errorf("no object breaks the rule %s", rule)
		}
	}
	if accepted < 500 || refused < 500 || violations < 100 {
		t.Errorf("%d accepted, %d refused, %d by rules: too few to tell", accepted, refused, violations)
	}
	t.Logf("%d accepted, %d refused, %d of those by rules", accepted, refused+violations, violations)
}

// statements are the rules in a schema that a single object can break, with their
// messages.
func statements(v any) map[string]string {
	out := map[string]string{}
	switch v := v.(type) {
	case map[string]any:
		list, _ := v["x-kubernetes-validations"].([]any)
		for _, item := range list {
			rule := item.(map[string]any)
			if expression := fmt.Sprint(rule["rule"]); !strings.Contains(expression, "oldSelf") {
				out[expression] = fmt.Sprint(rule["message"])
			}
		}
		for _, value := range v {
			maps.Copy(out, statements(value))
		}
	case []any:
		for _, value := range v {
			maps.Copy(out, statements(value))
		}
	}
	return out
}

// worst is the worst that is wrong with an object: what the API server refuses
// before it looks at rules comes first.
func worst(s *Schema, o map[string]any) string {
	found := ""
	for _, p := range s.Validate(o) {
		switch {
		case p.Kind == Violation && found == "", p.Kind == Invalid, p.Kind == UnknownField && found != string(Invalid):
			found = string(p.Kind)
		}
	}
	return found
}

// What the example renders to, for either release, and mutants of it get the same
// verdicts from our schemas and from k0rdent's own definitions.
func TestK0rdentVerdictsOnWhatIsRendered(t *testing.T) {
	objects, broken := 0, 0
	for release, kinds := range k0rdentDefinitions(t) {
		version := map[string]string{"1.11": "1.11.4", "": "1.12.0-rc2"}[release]
		for _, o := range renderedK0rdent(t, version) {
			gvk := schema.FromAPIVersionAndKind(o["apiVersion"].(string), o["kind"].(string))
			theirs, mine := kinds[gvk], ours(t, gvk, release)
			if problems := theirs.Validate(o); len(problems) > 0 {
				t.Errorf("%s %v: %v", gvk.Kind, o["metadata"], problems)
			}
			objects++
			for _, m := range mutantsOf(o) {
				want, got := worst(theirs, m), worst(mine, m)
				if got != want {
					t.Fatalf("edition %q, %s: ours %q, theirs %q, of %v", release, gvk.Kind, got, want, m)
				}
				if want != "" {
					broken++
				}
			}
		}
	}
	if objects < 60 || broken < 1000 {
		t.Errorf("%d objects, %d refused mutants: too few to tell", objects, broken)
	}
	t.Logf("%d objects, %d refused mutants", objects, broken)
}

// renderedK0rdent are the objects of k0rdent's kinds that the example renders to.
func renderedK0rdent(t *testing.T, version string) []map[string]any {
	t.Helper()
	var files []specs.File
	for _, name := range []string{"fleet.yaml", "k0rdent.yaml"} {
		content, err := os.ReadFile(filepath.Join("..", "examples", "k0rdent", "fleet", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, specs.File{Path: name, Content: []byte(strings.ReplaceAll(string(content), "version: 1.11.4", "version: "+version))})
	}
	spec, err := specs.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	target, err := generators.Platform(spec, generators.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for f := range target.Tree.All() {
		for doc := range strings.SplitSeq(string(f.Content), "\n---\n") {
			var o map[string]any
			if strings.HasSuffix(f.Path, ".yaml") && yaml.Unmarshal([]byte(doc), &o) == nil && strings.HasPrefix(fmt.Sprint(o["apiVersion"]), K0rdentGroup+"/") {
				out = append(out, o)
			}
		}
	}
	return out
}

// mutantsOf are copies of an object with one thing of its spec broken: a field taken
// out, renamed, given twice in a list, or of another type.
func mutantsOf(o map[string]any) []map[string]any {
	var out []map[string]any
	at := func(change func(parent map[string]any, key string)) func(path []any) {
		return func(path []any) {
			m := copyValue(o).(map[string]any)
			parent, _ := valueAt(m, path[:len(path)-1]).(map[string]any)
			change(parent, path[len(path)-1].(string))
			out = append(out, m)
		}
	}
	changes := []func(path []any){
		at(func(p map[string]any, k string) { delete(p, k) }),
		at(func(p map[string]any, k string) { p[k+"x"] = p[k]; delete(p, k) }),
		at(func(p map[string]any, k string) { p[k] = int64(7) }),
		at(func(p map[string]any, k string) { p[k] = "" }),
		at(func(p map[string]any, k string) { p[k] = []any{"x"} }),
		at(func(p map[string]any, k string) { p[k] = map[string]any{"x": "y"} }),
		at(func(p map[string]any, k string) {
			if list, ok := p[k].([]any); ok && len(list) > 0 {
				p[k] = append(slices.Clone(list), copyValue(list[0]))
			}
		}),
	}
	var walk func(v any, path []any)
	walk = func(v any, path []any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				next := append(slices.Clone(path), key)
				for _, change := range changes {
					change(next)
				}
				walk(v[key], next)
			}
		case []any:
			for i := range v {
				walk(v[i], append(slices.Clone(path), i))
			}
		}
	}
	walk(o["spec"], []any{"spec"})
	return out
}
