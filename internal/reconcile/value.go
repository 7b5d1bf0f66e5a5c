package reconcile

import (
	"math"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// valueOf is what kustomize-controller reads of an object: its JSON, of which the numbers are
// int64 and float64.
func valueOf(r *kyaml.RNode) (map[string]any, error) {
	if isPlain(r.YNode()) {
		fields, err := r.Map()
		if err != nil {
			return nil, err
		}
		if value, ok := jsonValue(fields); ok {
			return value.(map[string]any), nil
		}
	}
	text, err := r.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var value map[string]any
	return value, json.Unmarshal(text, &value)
}

// isPlain says whether a node's text gives the same node when it is read again. kustomize
// writes an object as YAML before it makes JSON of it, and yaml/v3 doesn't write all texts as
// it reads them: a folded one gets an empty line before each line that is indented more.
func isPlain(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return false
	}
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "\n") && (n.Style&yaml.FoldedStyle != 0 || !isPlainText(n.Value)) {
		return false
	}
	for _, child := range n.Content {
		if !isPlain(child) {
			return false
		}
	}
	return true
}

// isPlainText says whether a text of several lines is sure to survive as a literal block.
func isPlainText(text string) bool {
	return !strings.ContainsAny(text[:1], " \t\n#") && !strings.ContainsAny(text, "\r\u0085\u2028\u2029\uFEFF")
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
		// A float that is whole is written as an integer.
		if math.Trunc(value) == value {
			return nil, false
		}
		return value, true
	case string, bool, int64, nil:
		return value, true
	case time.Time, uint64:
		return nil, false
	}
	return nil, false
}
