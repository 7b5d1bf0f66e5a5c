package templates

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// DecodeYAML decodes the first document of a string into maps with string keys, lists and scalars.
func DecodeYAML(text string) (v any, err error) {
	// The parser has panicked on hostile input before.
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, errors.New("the YAML parser failed")
		}
	}()
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	return stringKeys(v, 0)
}

// DecodeMap decodes the first document into a map, whose own keys may have any type.
func DecodeMap(text string) (map[string]any, error) {
	return intoMap(func(m *map[string]any) error { return yaml.Unmarshal([]byte(text), m) })
}

// DecodeNode decodes a map as DecodeMap does.
func DecodeNode(n *yaml.Node) (map[string]any, error) {
	return intoMap(func(m *map[string]any) error { return n.Decode(m) })
}

func intoMap(decode func(*map[string]any) error) (m map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, errors.New("the YAML parser failed")
		}
	}()
	m = map[string]any{}
	if err := decode(&m); err != nil {
		return nil, err
	}
	v, err := stringKeys(m, 0)
	m, _ = v.(map[string]any)
	return m, err
}

// stringKeys converts maps with keys of any type to maps with string keys.
func stringKeys(v any, depth int) (any, error) {
	if depth > limits.Nesting {
		return nil, errTooDeep
	}
	var err error
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			if v[k], err = stringKeys(item, depth+1); err != nil {
				return nil, err
			}
		}
	case map[any]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			name := fmt.Sprint(k)
			if out[name], err = stringKeys(item, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case []any:
		for i, item := range v {
			if v[i], err = stringKeys(item, depth+1); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
