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

// ValueOf is what kustomize-controller reads of an object: its JSON, of which the numbers are
// int64 and float64.
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

// rewritten is the value of an object that was written as YAML, as kustomize does it, and
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

// isPlain says whether a node's text gives the same node when it is read again. kustomize
// writes an object as YAML before it makes JSON of it, and yaml/v3 doesn't write all texts as
// it reads them: a folded one gets an empty line before each line that is indented more. Anchors
// says that names for nodes are fine, and such names for texts and the like, which kustomize replaces
// when it reads a file.
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

// inflated is a copy of a plain node without anchors.
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

// isPlainText says whether a text is sure to survive in its style.
func isPlainText(n *yaml.Node) bool {
	if n.Value == "" && n.Style == 0 || n.Tag != "" && n.ShortTag() == "!!binary" {
		return false // null, or what may be no text
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 && n.Tag != "" && n.ShortTag() != "!!str" {
		return false // a patch gave it the style of a text, and it becomes one
	}
	return survives(n.Value) && (n.Style&yaml.FoldedStyle == 0 || !strings.Contains(n.Value, "\n"))
}

// survives says whether a text is sure to be the same when it is written and read again.
func survives(text string) bool {
	lines := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\n':
			lines = true
		case c < ' ' && c != '\t', c == 0x7f, c == 0xc2 || c == 0xe2 || c == 0xef:
			return false // may be a line break or a mark that YAML takes for one
		}
	}
	return !lines || !strings.ContainsAny(text[:1], " \t\n#")
}

// mostExact is up to where a float64 holds all integers.
const mostExact = 1 << 53

// isExact says whether all of a value is sure to be the same when it is written, its numbers
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

// mostPlain is up to where kustomize, which reads all numbers as floats, writes integers as such.
const mostPlain = 1_000_000

// Survives says whether a value is sure to be the same when kustomize has read its JSON.
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

// jsonValue turns what yaml/v3 decodes into what JSON has. It says false where that may need
// more than a look at one value.
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
		// A float that is whole is written as an integer; JSON has no NaN.
		return value, math.Trunc(value) != value && !math.IsNaN(value)
	case string, bool, int64, nil:
		return value, true
	}
	return nil, false // a large number, or a time
}

// mentionsVariable says whether any text or field name in a value has a $.
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
