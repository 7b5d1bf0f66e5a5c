package bootstrap

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// place is a line of a file; the line is 0 where it isn't known.
type place struct {
	file string
	line int
}

// value is a Helm value that knows where it was written.
type value struct {
	place
	// One of the three: a map, a list, or a scalar (nil, bool, string, int64,
	// uint64, float64).
	fields map[string]*value
	items  []*value
	scalar any
	// isMap and isList say which, since an empty map is a value too.
	isMap, isList bool
	// substituted says that Flux computes the scalar from a text with
	// variables; spelled is the result's text, and unknown says why it cannot
	// be computed here, scalar being the text as written.
	substituted bool
	spelled     string
	unknown     *mark
	// patched says that a kustomize patch sets it; referred that it comes from
	// valuesFrom, and secret that it is out of a Secret.
	patched, referred, secret bool
}

// reading says by which rules the scalars of a text are read.
type reading int

const (
	// asKustomize: YAML as kustomize and Flux read an object, yes and on being
	// strings.
	asKustomize reading = iota
	// asHelm: a values file as Helm reads it, by YAML 1.1, yes and on being
	// booleans.
	asHelm
	// asHelmfile: a literal in a helmfile, which helmfile decodes and writes
	// again: a date becomes a time.
	asHelmfile
)

// valueOf makes a value of a node. The node's aliases must be bounded, as the
// repository's loader and parseText see to.
func valueOf(file string, n *yaml.Node, how reading) (*value, error) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	v := &value{place: place{file, n.Line}}
	switch n.Kind {
	case yaml.MappingNode:
		v.isMap, v.fields = true, map[string]*value{}
		return v, mapFields(v, file, n, how)
	case yaml.SequenceNode:
		v.isList = true
		for _, item := range n.Content {
			each, err := valueOf(file, item, how)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, each)
		}
		return v, nil
	}
	var err error
	v.scalar, err = scalarOf(file, n, how)
	return v, err
}

func mapFields(v *value, file string, n *yaml.Node, how reading) error {
	var sources []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, child := n.Content[i], n.Content[i+1]
		for key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			return fmt.Errorf("%s:%d: a key must be a scalar, not a list or a map", file, key.Line)
		case key.Tag == "!!merge":
			sources = append(sources, child)
			continue
		}
		name := keyOf(key, how)
		if before, twice := v.fields[name]; twice {
			return fmt.Errorf("%s:%d: key %q is given twice, first on line %d", file, key.Line, name, before.line)
		}
		each, err := valueOf(file, child, how)
		if err != nil {
			return err
		}
		if each.isMap || each.isList {
			each.line = key.Line
		}
		v.fields[name] = each
	}
	for _, source := range sources {
		if err := mergeFields(v, file, source, how); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is a key as Helm reads it: by YAML 1.1, on and y are booleans there too.
func keyOf(key *yaml.Node, how reading) string {
	if how == asHelm && key.Style == 0 && key.ShortTag() == "!!str" {
		if b, is := yaml11Bool(key.Value); is {
			return strconv.FormatBool(b)
		}
	}
	return key.Value
}

// mergeFields adds what a merge key (<<) brings in: a map, or a list of maps of
// which the first wins.
func mergeFields(v *value, file string, source *yaml.Node, how reading) error {
	for source.Kind == yaml.AliasNode {
		source = source.Alias
	}
	maps := []*yaml.Node{source}
	if source.Kind == yaml.SequenceNode {
		maps = source.Content
	}
	for _, m := range maps {
		from, err := valueOf(file, m, how)
		if err != nil {
			return err
		}
		if !from.isMap {
			return fmt.Errorf("%s:%d: what is merged by << must be a map", file, source.Line)
		}
		for _, key := range from.keys() {
			if _, own := v.fields[key]; !own {
				v.fields[key] = from.fields[key]
			}
		}
	}
	return nil
}

func scalarOf(file string, n *yaml.Node, how reading) (any, error) {
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		switch {
		case how == asHelm && n.Tag != "!!binary":
			if b, is := yaml11Bool(n.Value); is && n.ShortTag() == "!!str" {
				return b, nil
			}
		case how == asHelmfile && n.ShortTag() == "!!timestamp":
			var t time.Time
			if err := n.Decode(&t); err == nil {
				return t.Format(time.RFC3339Nano), nil
			}
		}
	}
	return repository.Value(file, n)
}

// yaml11Bool are the booleans that sigs.k8s.io/yaml reads beside true and false.
func yaml11Bool(s string) (value, is bool) {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// emptyMap is a value without fields.
func emptyMap(at place) *value { return &value{place: at, isMap: true, fields: map[string]*value{}} }

// merged lays over upon base as Helm merges values files: maps merge, anything
// else replaces. Neither is changed.
func merged(base, over *value) *value {
	if base == nil || !base.isMap || !over.isMap {
		return over
	}
	out := &value{place: over.place, isMap: true, fields: maps.Clone(base.fields)}
	for key, v := range over.fields {
		if before, both := out.fields[key]; both {
			v = merged(before, v)
		}
		out.fields[key] = v
	}
	return out
}

// plain converts to Go values.
func (v *value) plain() any {
	switch {
	case v == nil:
		return nil
	case v.isMap:
		m := make(map[string]any, len(v.fields))
		for k, f := range v.fields {
			m[k] = f.plain()
		}
		return m
	case v.isList:
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = item.plain()
		}
		return list
	}
	return v.scalar
}

// keys of a map, sorted.
func (v *value) keys() []string { return slices.Sorted(maps.Keys(v.fields)) }

// at follows field names.
func (v *value) at(path ...string) *value {
	for _, key := range path {
		if v == nil {
			return nil
		}
		v = v.fields[key]
	}
	return v
}

// item is one of a list's, nil where it has none.
func (v *value) item(i int) *value {
	if v == nil || i >= len(v.items) {
		return nil
	}
	return v.items[i]
}

// walk calls f for each scalar, with its path as "a.b[0]".
func (v *value) walk(path string, f func(path string, v *value)) {
	switch {
	case v.isMap:
		for _, k := range v.keys() {
			v.fields[k].walk(joinPath(path, k), f)
		}
	case v.isList:
		for i, item := range v.items {
			item.walk(path+"["+strconv.Itoa(i)+"]", f)
		}
	default:
		f(path, v)
	}
}

// mapScalars returns a copy whose scalars f made.
func (v *value) mapScalars(f func(*value) *value) *value {
	switch {
	case v.isMap:
		out := &value{place: v.place, isMap: true, fields: make(map[string]*value, len(v.fields))}
		for k, field := range v.fields {
			out.fields[k] = field.mapScalars(f)
		}
		return out
	case v.isList:
		out := &value{place: v.place, isList: true}
		for _, item := range v.items {
			out.items = append(out.items, item.mapScalars(f))
		}
		return out
	}
	return f(v)
}

// joinPath adds a key to a field path; a key with a dot is quoted.
func joinPath(path, key string) string {
	if key == "" || strings.ContainsAny(key, ".[]\" ") {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// sameScalar compares as Helm sees the values: all numbers are one type, 1 and
// 1.0 the same; the string "1" is another value than the number 1.
func sameScalar(a, b any) bool {
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	if _, ok := number(b); ok {
		return false
	}
	return a == b
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// plainScalar reads a text as the unquoted scalar that it is in YAML.
func plainScalar(s string) any {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(s), &n); err != nil || len(n.Content) != 1 || n.Content[0].Kind != yaml.ScalarNode {
		return s
	}
	v, err := repository.Value("", n.Content[0])
	if err != nil {
		return s
	}
	return v
}
