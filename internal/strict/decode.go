// Package strict decodes YAML into Go structs strictly, with the position of each value. A value that does not
// fit its field is an error with a line, a column, the path of the field and a hint; decoding continues with
// the next field. The bounds of a field are in its jsonschema tag.
package strict

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/nearest"
)

// decoder decodes one object from its YAML nodes. A value that does not fit its field is an error,
// and decoding continues with the next field.
type decoder struct {
	*Object
	report *Report
	table  Table
}

// DecodeInto decodes an object into the struct that into points to, and reports all errors.
func DecodeInto(o *Object, into any, fields Table, r *Report) {
	d := &decoder{Object: o, report: r, table: fields}
	d.structure(o.Root, nil, reflect.ValueOf(into).Elem())
}

// fail reports an error at a node.
func (d *decoder) fail(n *yaml.Node, p *Path, hint, format string, args ...any) {
	d.Broken = true
	if d.report.Full() {
		d.report.more = true
		return // formatting the message alone would cost too much
	}
	if d.Bad == nil {
		d.Bad, d.Torn = map[string]bool{}, map[string]bool{}
	}
	d.Bad[p.String()], d.Torn[p.ofSpec()] = true, true
	d.report.Add(d.ErrorAt(n, p, hint, fmt.Sprintf(format, args...)))
}

// subject returns how messages name a field.
func subject(p *Path) string {
	if p == nil {
		return "the object"
	}
	return p.String()
}

// value decodes a node into v, which must be settable.
func (d *decoder) value(n *yaml.Node, p *Path, v reflect.Value, b bounds) {
	node := Dereference(n)
	switch v.Kind() {
	case reflect.Pointer:
		target := reflect.New(v.Type().Elem())
		d.value(n, p, target.Elem(), b)
		v.Set(target)
	case reflect.Struct:
		d.structure(n, p, v)
	case reflect.Map:
		d.mapping(n, p, v)
	case reflect.Slice:
		d.list(n, p, v, b)
	case reflect.String:
		d.text(n, p, v, b)
	case reflect.Bool:
		if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!bool" {
			d.fail(n, p, "write true or false", "%s is %s, want true or false", subject(p), Describe(node))
			return
		}
		v.SetBool(strings.EqualFold(node.Value, "true"))
	case reflect.Int:
		d.whole(n, p, v, b)
	case reflect.Interface:
		if plain := d.plain(n, p); plain != nil {
			v.Set(reflect.ValueOf(plain))
		}
	}
}

// structure decodes a mapping into the fields of a struct.
func (d *decoder) structure(n *yaml.Node, p *Path, v reflect.Value) {
	pairs, ok := d.pairs(n, p, v.Type())
	if !ok {
		return
	}
	fields := d.table[v.Type()]
	present := make([]bool, len(fields.list))
	for _, pair := range pairs {
		name := Dereference(pair.key).Value
		i, known := fields.byName[name]
		if !known {
			d.fail(pair.key, p.Child(name), d.report.Suggest(name, "field", "", fields.Names), "unknown field %s%s", Quote(name), inside(p))
			continue
		}
		if IsNull(pair.value) {
			continue
		}
		present[i] = true
		f := fields.list[i]
		d.value(pair.value, p.Child(name), v.FieldByIndex(f.index), f.bounds)
	}
	for i, f := range fields.list {
		if f.bounds.required && !present[i] {
			d.fail(d.Node(p), p.Child(f.name), d.missingHint(f), "missing required field %q%s", f.name, inside(p))
		}
	}
}

func inside(p *Path) string {
	if p == nil {
		return ""
	}
	return " in " + p.String()
}

// pairs returns the pairs of a mapping that is decoded into a type. It reports keys that are not
// distinct strings, and merges that are not mappings.
func (d *decoder) pairs(n *yaml.Node, p *Path, t reflect.Type) ([]pair, bool) {
	node := Dereference(n)
	if node.Kind != yaml.MappingNode {
		d.fail(n, p, d.mappingHint(n, p, t), "%s is %s, want a mapping", subject(p), described(p, node))
		return nil, false
	}
	d.checkKeys(node, p)
	return slices.DeleteFunc(flatten(node), func(p pair) bool { return !isString(p.key) }), true
}

func isString(n *yaml.Node) bool {
	n = Dereference(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str"
}

// checkKeys reports keys of a mapping that are not strings or are duplicates, and merges of other
// values than mappings.
func (d *decoder) checkKeys(node *yaml.Node, p *Path) {
	first := make(map[string]int, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := Dereference(node.Content[i])
		if isMerge(key) {
			d.checkMerge(node.Content[i+1], p)
			continue
		}
		if !isString(key) {
			d.fail(node.Content[i], p, quotedHint(key), "a key in %s is %s, want a string", subject(p), Describe(key))
			continue
		}
		if line, taken := first[key.Value]; taken {
			d.fail(node.Content[i], p.Child(key.Value), fmt.Sprintf("the first one is in line %d; keep one of them", line),
				"duplicate key %s%s", Quote(key.Value), inside(p))
			continue
		}
		first[key.Value] = node.Content[i].Line
	}
}

func (d *decoder) checkMerge(n *yaml.Node, p *Path) {
	from := []*yaml.Node{n}
	if list := Dereference(n); list.Kind == yaml.SequenceNode {
		from = list.Content
	}
	for _, m := range from {
		if target := Dereference(m); target.Kind != yaml.MappingNode {
			d.fail(m, p, "write an alias after <<, such as <<: *common", "<< merges %s, want a mapping or a list of mappings", Describe(target))
		} else {
			d.checkKeys(target, p)
		}
	}
}

// quotedHint returns how to write a scalar so that YAML reads it as a string.
func quotedHint(n *yaml.Node) string {
	n = Dereference(n)
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return ""
	}
	return fmt.Sprintf("YAML parses this as %s; quote it: %s", kindOf(n), Quote(n.Value))
}

func kindOf(n *yaml.Node) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(Describe(n), "the "), "a "), " ")
	return "a " + kind
}

// mapping decodes a mapping into a Go map with string keys.
func (d *decoder) mapping(n *yaml.Node, p *Path, v reflect.Value) {
	pairs, ok := d.pairs(n, p, v.Type())
	if !ok {
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(pairs))
	for _, pair := range pairs {
		name := Dereference(pair.key).Value
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(pair.value, p.Child(name), item, bounds{})
		out.SetMapIndex(reflect.ValueOf(name), item)
	}
	v.Set(out)
}

// list decodes a sequence into a slice, which is never nil.
func (d *decoder) list(n *yaml.Node, p *Path, v reflect.Value, b bounds) {
	node := Dereference(n)
	if node.Kind != yaml.SequenceNode {
		d.fail(n, p, d.listHint(node, p, v.Type(), b), "%s is %s, want a list", subject(p), Describe(node))
		return
	}
	if len(node.Content) < b.minItems {
		d.fail(n, p, d.emptyHint(p, v.Type(), b), "%s has %d items, want at least %d", subject(p), len(node.Content), b.minItems)
	}
	out := reflect.MakeSlice(v.Type(), len(node.Content), len(node.Content))
	for i, item := range node.Content {
		d.value(item, p.Item(i), out.Index(i), b)
	}
	v.Set(out)
}

// text decodes a scalar into a string and checks the string's bounds.
func (d *decoder) text(n *yaml.Node, p *Path, v reflect.Value, b bounds) {
	if !isString(n) {
		want, hint := d.stringHint(n, p, v.Type(), b)
		d.fail(n, p, hint, "%s is %s, want %s", subject(p), Describe(n), want)
		return
	}
	s := Dereference(n).Value
	v.SetString(s)
	length := utf8.RuneCountInString(s)
	switch {
	case len(b.enum) > 0 && !slices.Contains(b.enum, s):
		hint := ""
		if near, ok := nearest.To(s, b.enum); ok {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		d.fail(n, p, hint, "%s is %s, want %s", subject(p), Quote(s), OneOf(b.enum))
	case length < b.minLength:
		d.fail(n, p, d.emptyHint(p, v.Type(), b), "%s is empty", subject(p))
	case b.maxLength > 0 && length > b.maxLength:
		d.fail(n, p, fmt.Sprintf("shorten it by %d: Kubernetes does not accept longer names", length-b.maxLength),
			"%s has %d characters, but at most %d are allowed", subject(p), length, b.maxLength)
	case b.pattern != nil && !b.pattern.MatchString(s):
		f := formatOf(b.pattern.String())
		d.fail(n, p, f.hint(s, b), "%s is %s, want %s", subject(p), Quote(s), f.what)
	case v.Type() == reflect.TypeFor[v1alpha1.Duration]():
		if problem := durationProblem(s); problem != "" {
			d.fail(n, p, durationHint, "%s is %s, %s", subject(p), Quote(s), problem)
		}
	}
}

// whole decodes a whole number and checks its bounds.
func (d *decoder) whole(n *yaml.Node, p *Path, v reflect.Value, b bounds) {
	node := Dereference(n)
	var i int
	if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!int" || node.Decode(&i) != nil {
		d.fail(n, p, fmt.Sprintf("write a number from %d to %d", b.minimum, b.maximum), "%s is %s, want a whole number", subject(p), Describe(node))
		return
	}
	if i < b.minimum || i > b.maximum {
		d.fail(n, p, "write a number in that range", "%s is %d, want %d to %d", subject(p), i, b.minimum, b.maximum)
		return
	}
	v.SetInt(int64(i))
}

const (
	durationWords = "a duration with a unit"
	durationHint  = "write one such as 30s, 10m or 1h; a day is 24h"
)

// durationProblem returns the reason why Flux does not accept a string as a duration; "" if it does.
func durationProblem(s string) string {
	parsed, err := time.ParseDuration(s)
	switch {
	case err == nil && parsed <= 0:
		return "which is not positive"
	case err != nil || !durationPattern.MatchString(s):
		return "want " + durationWords
	}
	return ""
}

// OneOf returns a list of the allowed values: a, b or c.
func OneOf(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// plain decodes a node into nil, bool, int64, uint64, float64, string, []any and map[string]any. Different notations of a
// number have one result (1.0 and 1 are int64), because kustomize passes specifications on as JSON, which loses the
// difference.
func (d *decoder) plain(n *yaml.Node, p *Path) any {
	node := Dereference(n)
	switch node.Kind {
	case yaml.MappingNode:
		pairs, _ := d.pairs(n, p, reflect.TypeFor[map[string]any]())
		out := make(map[string]any, len(pairs))
		for _, pair := range pairs {
			name := Dereference(pair.key).Value
			out[name] = d.plain(pair.value, p.Child(name))
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(node.Content))
		for i, item := range node.Content {
			out[i] = d.plain(item, p.Item(i))
		}
		return out
	}
	switch node.ShortTag() {
	case "!!null":
		return nil
	case "!!str":
		return node.Value
	case "!!timestamp":
		return d.date(n, p)
	case "!!bool":
		return strings.EqualFold(node.Value, "true")
	case "!!int", "!!float":
		return d.number(n, p)
	}
	d.fail(n, p, "remove the tag, and quote the value if it is a string", "%s has the tag %s, which is not supported", subject(p), Quote(node.Tag))
	return nil
}

// date returns an unquoted date as a string. kustomize rewrites unquoted dates, except for one notation. All other
// notations are refused, because the specification would depend on the tool that reads it.
func (d *decoder) date(n *yaml.Node, p *Path) any {
	node := Dereference(n)
	var t time.Time
	if err := node.Decode(&t); err != nil || t.Format(time.RFC3339Nano) != node.Value {
		d.fail(n, p, quotedHint(n), "%s is the unquoted date %s, which tools may rewrite", subject(p), node.Value)
	}
	return node.Value
}

// number decodes a number into int64, uint64 or, if it is not whole or too large, float64.
func (d *decoder) number(n *yaml.Node, p *Path) any {
	node := Dereference(n)
	var v any
	if err := node.Decode(&v); err != nil {
		d.fail(n, p, quotedHint(n), "%s is %s, which is not a number", subject(p), Quote(node.Value))
		return nil
	}
	switch x := v.(type) {
	case int:
		return int64(x)
	case int64, uint64:
		return x
	case float64:
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			d.fail(n, p, quotedHint(n), "%s is %s, which JSON cannot hold", subject(p), node.Value)
		case x == math.Trunc(x) && x >= math.MinInt64 && x < math.MaxInt64:
			return int64(x)
		case x == math.Trunc(x) && x > 0 && x < math.MaxUint64:
			return uint64(x)
		}
		return x
	}
	d.fail(n, p, quotedHint(n), "%s is %s, want a number", subject(p), Describe(node))
	return nil
}
