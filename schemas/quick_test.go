package schemas

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// maker makes objects of a schema that are mostly valid.
type maker struct {
	rand *rand.Rand
	// wrong is how often, in a thousand, something is made wrong.
	wrong int
	depth int
	// optional is how often, in a thousand, a field that needn't be is there; 0 is
	// less often the deeper it lies.
	optional int
	// texts that strings are; those of every kind by default.
	texts []string
}

var texts = []string{"a", "a-b", "1h", "10Gi", "100m", "", "A b", "TCP", "80", "25%", "https://example.com/a", "${VAR}", "v1", "2006-01-02T15:04:05Z", "aGVsbG8=", "*/5 * * * *", "1.2.3.4"}

func (m *maker) chance(of int) bool { return m.rand.IntN(1000) < of }

func (m *maker) value(s *structural.Structural) any {
	if m.chance(m.wrong) {
		return []any{"x", int64(1), int64(-1), true, nil, 1.5, uint64(1 << 63), map[string]any{"x": "y"}, []any{"x", "x"}, map[string]any{}}[m.rand.IntN(10)]
	}
	m.depth++
	defer func() { m.depth-- }()
	if v := s.ValueValidation; v != nil && len(v.Enum) > 0 && !m.chance(100) {
		return v.Enum[m.rand.IntN(len(v.Enum))].Object
	}
	switch s.Type {
	case "object":
		return m.object(s)
	case "array":
		list := []any{}
		for range m.rand.IntN(4) {
			list = append(list, m.value(s.Items))
		}
		return list
	case "integer":
		return int64(m.rand.IntN(200) - 5)
	case "number":
		return []any{int64(3), 1.5}[m.rand.IntN(2)]
	case "boolean":
		return m.chance(500)
	}
	if s.XIntOrString && m.chance(500) {
		return int64(m.rand.IntN(100))
	}
	if m.texts != nil {
		return m.texts[m.rand.IntN(len(m.texts))]
	}
	return texts[m.rand.IntN(len(texts))]
}

func (m *maker) object(s *structural.Structural) map[string]any {
	o := map[string]any{}
	var required []string
	if s.ValueValidation != nil {
		required = s.ValueValidation.Required
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if slices.Contains(required, name) && !m.chance(m.wrong) || m.chance(cmp.Or(m.optional, max(60, 350-60*m.depth))) {
			o[name] = m.value(&p)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		for _, k := range []string{"a", "a.b/c", "-x", "requests.cpu"} {
			if m.chance(300) {
				o[k] = m.value(s.AdditionalProperties.Structural)
			}
		}
	}
	if m.chance(m.wrong) {
		o["unknown"] = []any{"x", nil}[m.rand.IntN(2)]
	}
	return o
}

// made is an object of a kind.
func (m *maker) made(s *Schema, meta *Schema) map[string]any {
	o := m.object(s.structure)
	o["apiVersion"], o["kind"] = s.GVK.GroupVersion().String(), s.GVK.Kind
	fields := m.object(meta.structure)
	for k := range fields {
		if k != "labels" && k != "annotations" && k != "finalizers" || m.chance(500) {
			delete(fields, k)
		}
	}
	fields["name"] = []any{"a", "a", "a", "web-1", "web-1", "web-1", "a.b", "A", "", "x_y", "-a", "${NAME}", int64(1)}[m.rand.IntN(13)]
	o["metadata"] = fields
	return o
}

// TestQuickYesIsTheAPIServersYes holds what is accepted quickly against the API
// server's code, for objects of every kind.
func TestQuickYesIsTheAPIServersYes(t *testing.T) {
	meta, err := metadata()
	if err != nil {
		t.Fatal(err)
	}
	quickly, sound := 0, 0
	for _, kind := range Kinds() {
		s, _ := Lookup(kind)
		m := &maker{rand: rand.New(rand.NewPCG(1, uint64(len(kind.String()))))}
		for i := range 150 {
			m.wrong = []int{0, 3, 30}[i%3]
			o := m.made(s, meta)
			before := fmt.Sprint(o)
			found := slices.DeleteFunc(s.thorough(o, Options{}), func(p Problem) bool { return p.Rule })
			if len(found) == 0 {
				sound++
			}
			if s.quick(o) {
				quickly++
				if len(found) > 0 {
					t.Fatalf("%s: quickly accepted, but\n%s\nof %v", kind, messages(found), o)
				}
			}
			if fmt.Sprint(o) != before {
				t.Fatalf("%s: the object was changed", kind)
			}
		}
	}
	// The other way round it need not agree, but it should be of use.
	if quickly < sound/2 || sound < 1000 {
		t.Errorf("of %d valid objects %d are accepted quickly", sound, quickly)
	}
	t.Logf("of %d valid objects %d are accepted quickly", sound, quickly)
}

func messages(found []Problem) string {
	var b strings.Builder
	for _, p := range found {
		fmt.Fprintf(&b, "%s: %s\n", p.Kind, p.Message)
	}
	return b.String()
}
