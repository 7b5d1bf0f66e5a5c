package templates

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// fromYAML decodes the first document with the same library as helmfile.
func (r *rendering) fromYAML(text string) (v any, err error) {
	return DecodeYAML(text)
}

// ToYAML encodes a value as helmfile does; output over the limit is an error.
func ToYAML(v any) (string, error) {
	out := &boundedWriter{left: limits.TemplateOutput}
	encoder := yaml.NewEncoder(out)
	encoder.SetIndent(2)
	err := encoder.Encode(v)
	if err == nil {
		err = encoder.Close()
	}
	if out.left < 0 {
		err = errTooLarge
	}
	return out.text.String(), err
}

// errNoValue is the error that getOrNil converts to nil.
var errNoValue = errors.New("no value")

// get returns the value at a path with dots: get PATH [DEFAULT] OBJECT.
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
			return nil, fmt.Errorf("%w exist for key %q", errNoValue, key)
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
	return nil, false, &notAMapError{key, obj}
}

// notAMapError is returned for a key of a value that is not a map.
type notAMapError struct {
	key string
	in  any
}

func (e *notAMapError) Error() string {
	return fmt.Sprintf("unexpected type(%v) of value for key %q: it must be either map[string]any or any struct", reflect.TypeOf(e.in), e.key)
}

func (e *notAMapError) Is(err error) bool { return err == errNoValue }

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
		v, has := at[k]
		if !has {
			return nil, fmt.Errorf("failed to set value at path %q: value for key %q does not exist", dotted, k)
		}
		next, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("failed to set value at path %q: value for key %q was not a map", dotted, k)
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
