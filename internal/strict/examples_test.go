package strict

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

// kindFields are the fields of the input kinds.
func kindFields() (Table, error) {
	var types []reflect.Type
	for _, kind := range v1alpha1.Kinds() {
		types = append(types, reflect.TypeOf(kind).Elem())
	}
	return FieldsOf(types...)
}

// eachField visits every field of the input kinds, in the order of their types' names.
func eachField(t *testing.T, visit func(owner reflect.Type, f field)) {
	t.Helper()
	table, err := kindFields()
	if err != nil {
		t.Fatal(err)
	}
	for owner, fields := range table {
		for _, f := range fields.list {
			visit(owner, f)
		}
	}
}

// text says whether a type is a string, or a list of them.
func text(t reflect.Type) bool {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.Kind() == reflect.String && t != reflect.TypeFor[v1alpha1.Duration]()
}

// A pattern is told in words, by a format whose own example it takes.
func TestPatternsAreDescribed(t *testing.T) {
	patterns := 0
	eachField(t, func(owner reflect.Type, f field) {
		if f.bounds.pattern == nil {
			return
		}
		patterns++
		format := formatOf(f.bounds.pattern.String())
		if format.what == "" || format.example == "" {
			t.Errorf("%s.%s: the pattern %s is told in no words", owner.Name(), f.name, f.bounds.pattern)
		}
		if example := format.example; !f.bounds.pattern.MatchString(example) {
			t.Errorf("%s.%s: the example %s is not of the pattern %s", owner.Name(), f.name, example, f.bounds.pattern)
		}
	})
	if patterns < 40 {
		t.Errorf("only %d patterns were found", patterns)
	}
}

// The examples of the types' tags are within the bounds beside them, and there
// is one wherever a hint has to show something.
func TestExamplesAreWithinBounds(t *testing.T) {
	eachField(t, func(owner reflect.Type, f field) {
		for _, example := range f.bounds.examples {
			if text(f.typ) && !f.bounds.allows(example) {
				t.Errorf("%s.%s: the example %q is out of bounds", owner.Name(), f.name, example)
			}
		}
		shown := len(f.bounds.examples) > 0 || len(f.bounds.enum) > 0 || f.bounds.pattern != nil || f.name == "apiVersion" || f.name == "kind"
		if f.bounds.required && text(f.typ) && !shown {
			t.Errorf("%s.%s is required and has no example", owner.Name(), f.name)
		}
	})
}

// Each text field of the platforms' kinds has its values, a default or an example
// for editors and the reference.
func TestPlatformFieldsHaveExamples(t *testing.T) {
	table, err := kindFields()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{}
	var walk func(owner reflect.Type)
	walk = func(owner reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, owner.Kind()) {
			owner = owner.Elem()
		}
		fields := table[owner]
		if fields == nil || seen[owner] {
			return
		}
		seen[owner] = true
		for _, f := range fields.list {
			if text(f.typ) && len(f.bounds.examples)+len(f.bounds.enum) == 0 {
				t.Errorf("%s.%s has no example", owner.Name(), f.name)
			}
			walk(f.typ)
		}
	}
	walk(reflect.TypeFor[v1alpha1.K0rdentSpec]())
	walk(reflect.TypeFor[v1alpha1.KommanderSpec]())
	if len(seen) < 40 {
		t.Errorf("only %d types were found", len(seen))
	}
}

// What a hint shows of a type is what the decoder takes for it.
func TestExamplesDecode(t *testing.T) {
	table, err := kindFields()
	if err != nil {
		t.Fatal(err)
	}
	for owner := range table {
		o := &Object{File: "x.yaml", Kind: owner.Name()}
		r := &Report{}
		d := &decoder{Object: o, report: r, table: table}
		shown, err := yaml.Marshal(d.example(owner, bounds{required: true}))
		if err != nil {
			t.Fatal(err)
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(shown, &doc); err != nil {
			t.Fatalf("%s: %v in %s", owner.Name(), err, shown)
		}
		o.Root = doc.Content[0]
		d.structure(o.Root, nil, reflect.New(owner).Elem())
		for _, e := range r.Errors {
			t.Errorf("%s is shown as %s, which is refused: %v", owner.Name(), shown, e)
		}
	}
}

// A value that is nearly right is told as it should be.
func TestFormatsMend(t *testing.T) {
	const (
		plain = `^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$`
		chart = `^v?(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`
		dns   = `^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	)
	for _, test := range []struct{ pattern, value, want string }{
		{plain, "v1.11.4", "1.11.4"},
		{plain, "V1.11.4+build", "1.11.4"},
		{plain, "1.11", ""},
		{chart, "~1.2.3", "1.2.3"},
		{chart, ">= v1.2.3", "v1.2.3"},
		{chart, "1.x", ""},
		{dnsLabelPattern, "Team_A", "team-a"},
		{dnsLabelPattern, "-a-", "a"},
		{dnsLabelPattern, "*", ""},
		{dns, "https://Kommander.example.com/x", "kommander.example.com"},
		{`^https://`, "git@github.com:acme/fleet.git", "https://github.com/acme/fleet.git"},
		{`^https://`, "ssh://git@github.com/acme/fleet.git", "https://github.com/acme/fleet.git"},
		{`^https://`, "ssh://git@github.com:2222/acme/fleet.git", ""},
		{`^https://`, "http://github.com/acme/fleet.git", "https://github.com/acme/fleet.git"},
		{`^https://`, "oci://ghcr.io/acme/fleet", ""},
		{`^https://`, "acme/fleet", ""},
		{`^(https?|ssh)://`, "git@github.com:acme/fleet.git", "ssh://git@github.com/acme/fleet.git"},
		{`^(https?|ssh)://`, "github.com/acme/fleet", "https://github.com/acme/fleet"},
		{`^(https?|ssh)://`, "git://github.com/acme/fleet", "https://github.com/acme/fleet"},
		{`^(oci|https?)://`, "charts.example.com", ""},
		{`^oci://`, "ghcr.io/k0rdent/kcm/charts", "oci://ghcr.io/k0rdent/kcm/charts"},
		{`^oci://`, "https://ghcr.io/k0rdent/kcm/charts", "oci://ghcr.io/k0rdent/kcm/charts"},
	} {
		b, err := parseBounds("pattern=" + test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		want := "write " + test.want
		if got := formatOf(test.pattern).hint(test.value, b); got != want && test.want != "" {
			t.Errorf("%s for %s: got %q, want %q", test.value, test.pattern, got, want)
		} else if test.want == "" && !strings.Contains(got, "such as ") {
			t.Errorf("%s for %s: got %q, want no guess", test.value, test.pattern, got)
		}
	}
}
