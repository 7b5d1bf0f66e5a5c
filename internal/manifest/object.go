package manifest

import (
	"math"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"
	sigsyaml "sigs.k8s.io/yaml"
)

// Object encodes an object with the same bytes as sigs.k8s.io/yaml. That package writes JSON and reads it as YAML
// before it writes YAML, which takes three times as long and matters only for a few strings.
func Object(value map[string]any) ([]byte, error) {
	if !sameInJSON(value) {
		return sigsyaml.Marshal(value)
	}
	return yaml.Marshal(value)
}

// sameInJSON reports whether a value certainly stays the same when it is written as JSON and read as YAML.
func sameInJSON(value any) bool {
	switch value := value.(type) {
	case nil, bool, int64:
		return true
	case float64:
		return math.Trunc(value) != value && !math.IsInf(value, 0) && !math.IsNaN(value)
	case string:
		return utf8.ValidString(value) && !strings.ContainsAny(value, "\u007f\ufeff\ufffe\uffff") && !strings.ContainsRune(value, utf8.RuneError) &&
			strings.IndexFunc(value, func(r rune) bool { return r >= 0x80 && r < 0xa0 }) < 0
	case map[string]any:
		for key, field := range value {
			if !sameInJSON(key) || !sameInJSON(field) {
				return false
			}
		}
		return value != nil
	case []any:
		for _, item := range value {
			if !sameInJSON(item) {
				return false
			}
		}
		return value != nil
	}
	return false
}
