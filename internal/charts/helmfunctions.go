package charts

import (
	"bytes"
	"encoding/json"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"sigs.k8s.io/yaml"
)

// helmFunctions are those that Helm adds to sprig's. Errors end up in the result of some,
// and end the template as a panic of others, as they do in Helm.
// Source: helm.sh/helm/v4 pkg/engine/funcs.go.
func helmFunctions() template.FuncMap {
	return template.FuncMap{
		"toToml":        func(v any) string { return toTOML(v, false) },
		"mustToToml":    func(v any) string { return toTOML(v, true) },
		"toYaml":        func(v any) string { return encoded(v, yaml.Marshal, false) },
		"mustToYaml":    func(v any) string { return encoded(v, yaml.Marshal, true) },
		"toYamlPretty":  toYAMLPretty,
		"toJson":        func(v any) string { return encoded(v, json.Marshal, false) },
		"mustToJson":    func(v any) string { return encoded(v, json.Marshal, true) },
		"fromToml":      func(s string) map[string]any { return decodedMap(s, toml.Unmarshal) },
		"fromYaml":      func(s string) map[string]any { return decodedMap(s, unmarshalYAML) },
		"fromYamlArray": func(s string) []any { return decodedList(s, unmarshalYAML) },
		"fromJson":      func(s string) map[string]any { return decodedMap(s, json.Unmarshal) },
		"fromJsonArray": func(s string) []any { return decodedList(s, json.Unmarshal) },
	}
}

func unmarshalYAML(data []byte, into any) error { return yaml.Unmarshal(data, into) }

// encoded is a value as text; what cannot be encoded is an empty text, or a panic.
func encoded(v any, marshal func(any) ([]byte, error), must bool) string {
	data, err := marshal(v)
	if err != nil {
		if must {
			panic(err)
		}
		return ""
	}
	return strings.TrimSuffix(string(data), "\n")
}

func toYAMLPretty(v any) string {
	var data bytes.Buffer
	encoder := goyaml.NewEncoder(&data)
	encoder.SetIndent(2)
	if err := encoder.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(data.String(), "\n")
}

// toTOML tells an error in its result, or as a panic.
func toTOML(v any, must bool) string {
	var data bytes.Buffer
	if err := toml.NewEncoder(&data).Encode(v); err != nil {
		if must {
			panic(err)
		}
		return err.Error()
	}
	return data.String()
}

// decodedMap tells an error under the key Error.
func decodedMap(s string, unmarshal func([]byte, any) error) map[string]any {
	m := map[string]any{}
	if err := unmarshal([]byte(s), &m); err != nil {
		m["Error"] = err.Error()
	}
	return m
}

// decodedList tells an error as the only item.
func decodedList(s string, unmarshal func([]byte, any) error) []any {
	list := []any{}
	if err := unmarshal([]byte(s), &list); err != nil {
		list = []any{err.Error()}
	}
	return list
}
