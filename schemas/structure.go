package schemas

import (
	"fmt"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nodeAt returns the schema of the value at a path.
func nodeAt(s *structural.Structural, path []any) *structural.Structural {
	for _, step := range path {
		if s == nil {
			return nil
		}
		switch step := step.(type) {
		case int:
			s = s.Items
		case string:
			if p, ok := s.Properties[step]; ok {
				s = &p
			} else if s.AdditionalProperties != nil {
				s = s.AdditionalProperties.Structural
			} else {
				return nil
			}
		}
	}
	return s
}

// fieldName returns the field of an error, "" for the object itself.
func fieldName(err *field.Error) string {
	if err.Field == "<nil>" {
		return ""
	}
	return err.Field
}

func isJSONType(name string) bool {
	for n := range strings.SplitSeq(name, ",") {
		if !slices.Contains([]string{"string", "integer", "number", "boolean", "object", "array", "int32", "int64", "double"}, n) {
			return false
		}
	}
	return true
}

// typeNames returns types by their names in YAML.
func typeNames(types string) string {
	var names []string
	for t := range strings.SplitSeq(types, ",") {
		names = append(names, typeName(t))
	}
	return strings.Join(names, " or ")
}

func typeName(t string) string {
	switch t {
	case "object":
		return "a map"
	case "array":
		return "a list"
	case "integer", "int32", "int64":
		return "an integer"
	case "number", "double", "float":
		return "a number"
	case "boolean":
		return "true or false"
	case "string":
		return "a string"
	}
	return "a " + t
}

func typeOf(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return fmt.Sprint(v)
	case int64, uint64:
		return "an integer"
	case float64:
		return "a number"
	}
	return "null"
}
