package builds

import (
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// ValueOf returns an object as kustomize-controller reads it: its JSON, with numbers as int64 and float64.
func ValueOf(r *kyaml.RNode) (map[string]any, error) {
	if isPlain(r.YNode(), false) {
		fields, err := r.Map()
		if err != nil {
			return nil, err
		}
		if value, ok := jsonValue(fields); ok {
			return value.(map[string]any), nil
		}
	}
	return rewritten(r)
}

// rewritten returns the value of an object after it was written as YAML, as kustomize writes it, and
// read again.
func rewritten(r *kyaml.RNode) (map[string]any, error) {
	data, err := r.MarshalJSON()
	if err != nil {
		return nil, err
	}
	text, err := sigsyaml.JSONToYAML(data)
	if err != nil {
		return nil, err
	}
	if data, err = sigsyaml.YAMLToJSON(text); err != nil {
		return nil, err
	}
	var value map[string]any
	return value, json.Unmarshal(data, &value)
}

// isPlain reports whether a node stays the same when it is written as YAML and read again. kustomize
// writes an object as YAML before it converts it to JSON, and yaml/v3 doesn't write all strings as
// it reads them: a folded string gets an empty line before each line that is indented more. If anchors is set, anchors
// and aliases of scalars are allowed: kustomize resolves them when it reads a file.
func isPlain(n *yaml.Node, anchors bool) bool {
	if n.Kind == yaml.AliasNode {
		return anchors && n.Alias.Kind == yaml.ScalarNode
	}
	if n.Anchor != "" && !anchors {
		return false
	}
	if n.Kind == yaml.ScalarNode && !isPlainText(n) {
		return false
	}
	for _, child := range n.Content {
		if !isPlain(child, anchors) {
			return false
		}
	}
	return true
}

// inflated returns a copy of a plain node without anchors.
func inflated(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	c := *n
	c.Anchor, c.Content = "", make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = inflated(child)
	}
	return &c
}

// isPlainText reports whether a scalar certainly survives in its style.
func isPlainText(n *yaml.Node) bool {
	if n.Value == "" && n.Style == 0 || n.Tag != "" && n.ShortTag() == "!!binary" {
		return false // null, or a value that may not be a string
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 && n.Tag != "" && n.ShortTag() != "!!str" {
		return false // a patch gave it the style of a string, and it becomes a string
	}
	return survives(n.Value) && (n.Style&yaml.FoldedStyle == 0 || !strings.Contains(n.Value, "\n"))
}

// survives reports whether a string certainly stays the same when it is written as YAML and read again.
func survives(text string) bool {
	lines := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			lines = true
		case c < ' ' && c != '\t', c == 0x7f, c == 0xc2 || c == 0xe2 || c == 0xef:
			return false // may be a line break or a byte order mark in YAML
		}
	}
	return !lines || !strings.ContainsAny(text[:1], " \t\n#")
}

// mostExact is the limit below which a float64 represents all integers exactly.
const mostExact = 1 << 53

// isExact reports whether a value certainly stays the same when it is written, with its numbers
// as floats, and read again.
func isExact(value any) bool {
	switch value := value.(type) {
	case string:
		return survives(value)
	case int64:
		return -mostExact <= value && value <= mostExact
	case map[string]any:
		for key, field := range value {
			if !survives(key) || !isExact(field) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(value, func(item any) bool { return !isExact(item) })
	}
	return true
}

// mostPlain is the limit below which kustomize, which reads all numbers as floats, writes integers without an exponent.
const mostPlain = 1_000_000

// Survives reports whether a value certainly stays the same when kustomize reads its JSON.
func Survives(value any) bool {
	switch value := value.(type) {
	case int64:
		return -mostPlain < value && value < mostPlain
	case float64:
		return math.Trunc(value) != value
	case map[string]any:
		for key, field := range value {
			if !survives(key) || !Survives(field) {
				return false
			}
		}
		return value != nil
	case []any:
		return !slices.ContainsFunc(value, func(item any) bool { return !Survives(item) })
	}
	return isExact(value)
}

// jsonValue converts a value that yaml/v3 decoded to the types of JSON. It returns false if the conversion may
// need the context of the value.
func jsonValue(value any) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			plain, ok := jsonValue(field)
			if !ok {
				return nil, false
			}
			value[key] = plain
		}
		return value, true
	case []any:
		for i, item := range value {
			plain, ok := jsonValue(item)
			if !ok {
				return nil, false
			}
			value[i] = plain
		}
		return value, true
	case int:
		return int64(value), true
	case float64:
		// kustomize writes a whole float as an integer; JSON has no NaN.
		return value, math.Trunc(value) != value && !math.IsNaN(value)
	case string, bool, int64, nil:
		return value, true
	}
	return nil, false // a large number, or a time
}

// mentionsVariable reports whether a string or field name in a value contains a $.
func mentionsVariable(value any) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, "$")
	case map[string]any:
		for key, item := range value {
			if strings.Contains(key, "$") || mentionsVariable(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, mentionsVariable)
	}
	return false
}
