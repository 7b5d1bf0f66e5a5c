package v1alpha1

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// DurationPattern is the pattern that Flux's own CRDs put on a duration.
const DurationPattern = `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`

var durationPattern = regexp.MustCompile(DurationPattern)

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
	names  []string
}

// fieldTable reads the fields of all input kinds from their struct tags, once.
var fieldTable = sync.OnceValues(func() (map[reflect.Type]*structFields, error) {
	table := map[reflect.Type]*structFields{}
	for _, t := range kindTypes {
		if err := readFields(t, table); err != nil {
			return nil, err
		}
	}
	return table, nil
})

// kindTypes are the Go types of the input kinds.
var kindTypes = func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, kind := range Kinds() {
		t := reflect.TypeOf(kind).Elem()
		types[t.Name()] = t
	}
	return types
}()

// readFields puts a struct type, and those that it is made of, into the table.
func readFields(t reflect.Type, table map[reflect.Type]*structFields) error {
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
		fields.names = append(fields.names, name)
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
