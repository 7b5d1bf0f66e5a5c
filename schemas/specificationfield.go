package schemas

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/advice"
)

// SpecificationField is a field of a kind of the specification, as its JSON Schema describes it.
type SpecificationField struct {
	// Path starting with the kind, such as Addon.spec.chart.
	Path string
	// Name is the last part of the path.
	Name string
	// Type in words, such as "list of string".
	Type     string
	Required bool
	// Meaning describes the field in one or more sentences.
	Meaning string
	// Wants describes the pattern, default and examples of the value; "" if it has none.
	Wants string
	// Fields of an object, or of the items of a list or map: required ones first, then by name.
	Fields []SpecificationField
}

// noField returns the error for a name that is not one of the names: of the fields at a path, or of the kinds if the path
// is "".
func noField(path, name string, names []string) error {
	hint, _ := suggest(name, names)
	if path == "" {
		return advice.Input(fmt.Errorf("the specification has no kind %q", name), hint)
	}
	return advice.Input(fmt.Errorf("%s has no field %q", path, name), hint)
}

// IsSpecificationPath reports whether a path begins with a kind of the specification, in any case.
func IsSpecificationPath(path string) bool {
	kind, _, _ := strings.Cut(path, ".")
	return slices.Contains(SpecificationKinds(), strings.ToLower(kind))
}

// SpecificationFieldAt returns the field at a path such as Tenant.spec.access.rules.verbs. Indexes
// of lists and maps are ignored: rules[].verbs and rules[0].verbs are the same.
func SpecificationFieldAt(path string) (SpecificationField, error) {
	names := strings.Split(path, ".")
	content, ok := Specification(names[0])
	if !ok {
		return SpecificationField{}, noField("", names[0], SpecificationKinds())
	}
	var at fieldSchema
	if err := json.Unmarshal(content, &at); err != nil {
		return SpecificationField{}, fmt.Errorf("schema of %s: %w", names[0], err)
	}
	f := at.field(SpecificationField{Path: fmt.Sprint(at.Properties["kind"].Const), Required: true})
	for _, name := range names[1:] {
		name, _, _ = strings.Cut(name, "[")
		i := slices.IndexFunc(f.Fields, func(f SpecificationField) bool { return f.Name == name })
		if i < 0 {
			var known []string
			for _, f := range f.Fields {
				known = append(known, f.Name)
			}
			return SpecificationField{}, noField(f.Path, name, known)
		}
		f = f.Fields[i]
	}
	return f, nil
}

// fieldSchema is the schema of a field in the specification's JSON Schemas.
type fieldSchema struct {
	Description string
	Type        string
	Const       any
	Default     any
	Enum        []any
	Examples    []any
	Wants       string `json:"patternErrorMessage"`
	Required    []string
	Properties  map[string]fieldSchema
	Items       *fieldSchema
	// Others is a schema, or a boolean.
	Others json.RawMessage `json:"additionalProperties"`
}

// values returns the schema of a map's values; nil if there is none.
func (s fieldSchema) values() *fieldSchema {
	var values *fieldSchema
	if json.Unmarshal(s.Others, &values) != nil {
		return nil
	}
	return values
}

// field completes a field and the fields below it.
func (s fieldSchema) field(f SpecificationField) SpecificationField {
	f.Meaning, f.Type, f.Wants = s.Description, s.words(), s.wants()
	inner := s
	for inner.Items != nil || len(inner.Properties) == 0 && inner.values() != nil {
		if inner.Items != nil {
			inner = *inner.Items
		} else {
			inner = *inner.values()
		}
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(inner.Properties)), func(name string) bool { return slices.Contains(inner.Required, name) })
	for _, name := range slices.Concat(inner.Required, names) {
		f.Fields = append(f.Fields, inner.Properties[name].field(SpecificationField{Path: f.Path + "." + name, Name: name, Required: slices.Contains(inner.Required, name)}))
	}
	return f
}

// words returns the type of a field in words.
func (s fieldSchema) words() string {
	switch {
	case s.Items != nil:
		return "list of " + s.Items.words()
	case len(s.Properties) == 0 && s.values() != nil:
		return "map of " + s.values().words()
	case len(s.Enum) > 0:
		return listed(s.Enum, " or ")
	}
	return s.Type
}

// wants returns the default, pattern and examples of a value in words.
func (s fieldSchema) wants() string {
	var parts []string
	if s.Default != nil {
		parts = append(parts, fmt.Sprintf("Default: %v.", s.Default))
	}
	if s.Items != nil {
		s = *s.Items
	}
	if about, ok := strings.CutPrefix(s.Wants, "want "); ok {
		parts = append(parts, "It is "+about+".")
	}
	if len(s.Examples) > 0 {
		parts = append(parts, "Such as "+listed(s.Examples, " or ")+".")
	}
	return strings.Join(parts, " ")
}

func listed(values []any, separator string) string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, fmt.Sprint(v))
	}
	return strings.Join(out, separator)
}
