package strict

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
)

var durationPattern = regexp.MustCompile(v1alpha1.DurationPattern)

// bounds are the restrictions in a field's jsonschema tag; for a list of strings, enum and pattern
// apply to each item.
type bounds struct {
	required  bool
	enum      []string
	pattern   *regexp.Regexp
	minLength int
	maxLength int // 0 means unlimited
	minItems  int
	// minimum and maximum of a whole number; 0 means no limit.
	minimum, maximum int
	// examples of the value, for hints: those in the tag, or its defaults.
	examples []string
}

// field is a field of an input kind.
type field struct {
	name   string
	index  []int
	typ    reflect.Type
	bounds bounds
}

// structFields are the fields of a struct type, by name and in the order of their declaration.
type structFields struct {
	list   []field
	byName map[string]int
	Names  []string
}

// Table maps struct types to their fields.
type Table map[reflect.Type]*structFields

// FieldsOf reads the fields of struct types, and of the structs that they contain, from their tags.
func FieldsOf(types ...reflect.Type) (Table, error) {
	all := Table{}
	for _, t := range types {
		if err := readFields(t, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readFields adds a struct type, and the structs that it contains, to the table.
func readFields(t reflect.Type, table Table) error {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, t.Kind()) {
		t = t.Elem()
	}
	if _, known := table[t]; known || t.Kind() != reflect.Struct {
		return nil
	}
	fields := &structFields{byName: map[string]int{}}
	table[t] = fields
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" {
			continue
		}
		b, err := parseBounds(f.Tag.Get("jsonschema"))
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t.Name(), f.Name, err)
		}
		fields.byName[name] = len(fields.list)
		fields.Names = append(fields.Names, name)
		fields.list = append(fields.list, field{name: name, index: f.Index, typ: f.Type, bounds: b})
		if err := readFields(f.Type, table); err != nil {
			return err
		}
	}
	return nil
}

// unescapedComma matches the parts of a jsonschema tag; a comma in a value is written as \,.
var unescapedComma = regexp.MustCompile(`(?:[^,\\]|\\.)+`)

// parseBounds parses a jsonschema tag as github.com/invopop/jsonschema does.
func parseBounds(tag string) (bounds, error) {
	var b bounds
	for _, part := range unescapedComma.FindAllString(tag, -1) {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "required":
			b.required = true
		case "enum":
			b.enum = append(b.enum, value)
		case "pattern":
			b.pattern, err = regexp.Compile(strings.ReplaceAll(value, `\,`, ","))
		case "minLength":
			b.minLength, err = strconv.Atoi(value)
		case "maxLength":
			b.maxLength, err = strconv.Atoi(value)
		case "minItems":
			b.minItems, err = strconv.Atoi(value)
		case "minimum":
			b.minimum, err = strconv.Atoi(value)
		case "maximum":
			b.maximum, err = strconv.Atoi(value)
		case "default", "example":
			b.examples = append(b.examples, strings.ReplaceAll(value, `\,`, ","))
		default:
			err = fmt.Errorf("keyword %q is not checked by the decoder", key)
		}
		if err != nil {
			return bounds{}, fmt.Errorf("jsonschema tag %q: %w", tag, err)
		}
	}
	return b, nil
}
