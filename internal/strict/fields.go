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

// bounds are what a field's jsonschema tag says of its value; on a list of
// strings, enum and pattern hold for each item.
type bounds struct {
	required  bool
	enum      []string
	pattern   *regexp.Regexp
	minLength int
	maxLength int // 0: unbounded
	minItems  int
	// minimum and maximum of a whole number; 0 for none.
	minimum, maximum int
	// examples of the value, for hints: those of the tag, or its defaults.
	examples []string
}

// field is a field of an input kind.
type field struct {
	name   string
	index  []int
	typ    reflect.Type
	bounds bounds
}

// structFields are the fields of one struct type, by name and in the order of
// their declaration.
type structFields struct {
	list   []field
	byName map[string]int
	Names  []string
}

// Table has the fields of struct types.
type Table map[reflect.Type]*structFields

// FieldsOf reads the fields of struct types, and of those that they are made of, from their tags.
func FieldsOf(types ...reflect.Type) (Table, error) {
	all := Table{}
	for _, t := range types {
		if err := readFields(t, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readFields puts a struct type, and those that it is made of, into the table.
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

// unescapedComma splits a jsonschema tag; a comma of a value is written \,.
var unescapedComma = regexp.MustCompile(`(?:[^,\\]|\\.)+`)

// parseBounds reads a jsonschema tag as github.com/invopop/jsonschema does.
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
