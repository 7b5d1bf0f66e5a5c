package bootstrap

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fromYAML decodes the first document, as helmfile does, with the library that
// helmfile uses.
func (r *rendering) fromYAML(text string) (v any, err error) {
	return decodeYAML(text)
}

func decodeYAML(text string) (v any, err error) {
	// The parser has panicked on hostile input before.
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, errors.New("the YAML parser gave up")
		}
	}()
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	return stringKeys(v, 0)
}

// stringKeys turns maps with other keys into maps with string keys.
func stringKeys(v any, depth int) (any, error) {
	if depth > maxValueDepth {
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
			if out[fmt.Sprint(k)], err = stringKeys(item, depth+1); err != nil {
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

func toYAML(v any) (string, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(v); err != nil {
		return "", err
	}
	return out.String(), encoder.Close()
}

// errNoValue is what getOrNil turns into nil.
var errNoValue = errors.New("no value")

// get follows a dotted path: get PATH [DEFAULT] OBJECT.
func get(dotted string, args ...any) (any, error) {
	var obj, fallback any
	switch len(args) {
	case 1:
		obj = args[0]
	case 2:
		fallback, obj = args[0], args[1]
	default:
		return nil, fmt.Errorf("get takes a path, perhaps a default, and an object, not %d arguments", len(args)+1)
	}
	if dotted == "" {
		return obj, nil
	}
	for key := range strings.SplitSeq(dotted, ".") {
		next, found, err := step(obj, key)
		switch {
		case err != nil:
			return nil, err
		case !found && len(args) == 2:
			return fallback, nil
		case !found:
			return nil, fmt.Errorf("%w for the key %q of %q", errNoValue, key, dotted)
		}
		obj = next
	}
	return obj, nil
}

func step(obj any, key string) (any, bool, error) {
	switch m := obj.(type) {
	case map[string]any:
		v, ok := m[key]
		return v, ok, nil
	case *map[string]any:
		v, ok := (*m)[key]
		return v, ok, nil
	case map[string]string:
		v, ok := m[key]
		return v, ok, nil
	case map[any]any:
		v, ok := m[key]
		return v, ok, nil
	}
	return nil, false, fmt.Errorf("%w for the key %q: it is looked up in a %T", errNoValue, key, obj)
}

func getOrNil(dotted string, obj any) (any, error) {
	v, err := get(dotted, obj)
	if errors.Is(err, errNoValue) {
		return nil, nil
	}
	return v, err
}

func setValueAtPath(dotted string, value any, values map[string]any) (map[string]any, error) {
	keys := strings.Split(dotted, ".")
	at := values
	for _, k := range keys[:len(keys)-1] {
		next, ok := at[k].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("setValueAtPath %q: %q is no map", dotted, k)
		}
		at = next
	}
	at[keys[len(keys)-1]] = value
	return values, nil
}

func required(message string, value any) (any, error) {
	if value == nil || value == "" {
		return nil, errors.New(message)
	}
	return value, nil
}
