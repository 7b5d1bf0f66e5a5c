package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// builtInMark is the field that marks the schemas of built-in kinds, for isBuiltIn.
const builtInMark = "x-built-in"

const (
	refPrefix   = "#/components/schemas/"
	objectMeta  = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	quantity    = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	intOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
)

// openAPI holds the fields of an OpenAPI v3 document that are read.
type openAPI struct {
	Paths      map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]map[string]any `json:"schemas"`
	} `json:"components"`
}

// readOpenAPI returns the schemas of the kinds with object metadata in an OpenAPI v3 document of the API
// server, and that of the metadata itself. enums are the allowed values that the document omits.
func readOpenAPI(data []byte, enums enums) ([]schema, error) {
	var doc openAPI
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	enums.add(doc.Components.Schemas)
	c := converter{schemas: doc.Components.Schemas}
	var found []schema
	for _, name := range slices.Sorted(maps.Keys(c.schemas)) {
		s := c.schemas[name]
		gvk, ok := kindOf(s)
		if name == objectMeta {
			gvk, ok = schema{Group: "meta", Version: "v1", Kind: metadataKind}, true
		} else if !hasObjectMeta(s) {
			continue
		}
		if !ok {
			continue
		}
		converted, err := c.convert(s, []string{name})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if props, ok := converted["properties"].(map[string]any); ok && name != objectMeta {
			delete(props, "status")
			props["metadata"] = map[string]any{"type": "object"}
		}
		converted[builtInMark] = true
		gvk.Schema, gvk.Namespaced = converted, namespaced(doc.Paths, gvk)
		found = append(found, gvk)
	}
	return found, nil
}

// kindOf reads x-kubernetes-group-version-kind. It returns false unless that names exactly one kind.
func kindOf(s map[string]any) (schema, bool) {
	list, _ := s["x-kubernetes-group-version-kind"].([]any)
	if len(list) != 1 {
		return schema{}, false
	}
	m, _ := list[0].(map[string]any)
	text := func(key string) string { v, _ := m[key].(string); return v }
	return schema{Group: text("group"), Version: text("version"), Kind: text("kind")}, true
}

func hasObjectMeta(s map[string]any) bool {
	props, _ := s["properties"].(map[string]any)
	meta, _ := props["metadata"].(map[string]any)
	return refOf(meta) == objectMeta
}

// namespaced reports whether objects of a kind are created at a path with a namespace.
func namespaced(paths map[string]json.RawMessage, s schema) bool {
	want := fmt.Sprintf(`"kind": %q`, s.Kind)
	compact := strings.ReplaceAll(want, `": "`, `":"`)
	for path, operations := range paths {
		if !strings.Contains(path, "/namespaces/{namespace}/") || strings.Contains(path, "{name}") {
			continue
		}
		if text := string(operations); strings.Contains(text, want) || strings.Contains(text, compact) {
			return true
		}
	}
	return false
}

// refOf returns the name of the schema that a schema references, directly or as the only allOf.
func refOf(s map[string]any) string {
	if ref, ok := s["$ref"].(string); ok {
		return strings.TrimPrefix(ref, refPrefix)
	}
	if all, ok := s["allOf"].([]any); ok && len(all) == 1 {
		if only, ok := all[0].(map[string]any); ok {
			return refOf(only)
		}
	}
	return ""
}

// converter converts the API server's OpenAPI schemas to the form of a CRD: it inlines references, and marks
// int-or-string and free-form objects.
type converter struct {
	schemas map[string]map[string]any
}

// preserve returns the schema of a value that may be anything.
func preserve() map[string]any {
	return map[string]any{"x-kubernetes-preserve-unknown-fields": true}
}

// convert converts a schema. stack has the names of the schemas that are being inlined.
func (c *converter) convert(s map[string]any, stack []string) (map[string]any, error) {
	if ref := refOf(s); ref != "" {
		return c.inline(ref, stack)
	}
	if s["format"] == "int-or-string" {
		return map[string]any{"x-kubernetes-int-or-string": true}, nil
	}
	out := map[string]any{}
	for k, v := range s {
		switch k {
		case "type", "format", "required", "enum",
			"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type":
			out[k] = v
		case "properties", "items", "additionalProperties", "description", "default", "x-kubernetes-group-version-kind",
			"x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key", "x-kubernetes-unions":
		default:
			return nil, fmt.Errorf("the keyword %q is not known to this generator", k)
		}
	}
	if err := c.children(s, out, stack); err != nil {
		return nil, err
	}
	keepKeyDefaults(s, out, c.schemas)
	_, props := out["properties"]
	_, additional := out["additionalProperties"]
	if (out["type"] == "object" || out["type"] == nil) && !props && !additional {
		return preserve(), nil
	}
	return out, nil
}

// keepKeyDefaults adds the defaults of the keys of a list's entries. Server-side apply identifies entries by
// these keys: a port without a protocol is a TCP port. The API server sets other defaults in code that is not
// in its OpenAPI document, and none of them is needed for a valid object.
func keepKeyDefaults(s, out map[string]any, schemas map[string]map[string]any) {
	keys, _ := s["x-kubernetes-list-map-keys"].([]any)
	items, _ := s["items"].(map[string]any)
	if ref := refOf(items); ref != "" {
		items = schemas[ref]
	}
	from, _ := items["properties"].(map[string]any)
	converted, _ := out["items"].(map[string]any)
	to, _ := converted["properties"].(map[string]any)
	required, _ := items["required"].([]any)
	for _, key := range keys {
		name, _ := key.(string)
		if slices.Contains(required, key) {
			continue // its default is the Go type's empty text
		}
		original, _ := from[name].(map[string]any)
		target, _ := to[name].(map[string]any)
		if value, ok := original["default"]; ok && target != nil {
			target["default"] = value
		}
	}
}

func (c *converter) inline(ref string, stack []string) (map[string]any, error) {
	switch {
	case ref == quantity:
		// This format is defined by package schemas: the value is parsed as the API server parses it.
		return map[string]any{"format": "quantity", "x-kubernetes-preserve-unknown-fields": true}, nil
	case ref == intOrString:
		return map[string]any{"x-kubernetes-int-or-string": true}, nil
	case slices.Contains(stack, ref):
		// JSONSchemaProps contains itself.
		return preserve(), nil
	}
	target, ok := c.schemas[ref]
	if !ok {
		return nil, fmt.Errorf("the reference %q leads nowhere", ref)
	}
	return c.convert(target, append(slices.Clone(stack), ref))
}

func (c *converter) children(s, out map[string]any, stack []string) error {
	if props, ok := s["properties"].(map[string]any); ok {
		converted := map[string]any{}
		for name, p := range props {
			m, ok := p.(map[string]any)
			if !ok {
				return fmt.Errorf("the property %q is not a schema", name)
			}
			v, err := c.convert(m, stack)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			converted[name] = v
		}
		out["properties"] = converted
	}
	for _, key := range []string{"items", "additionalProperties"} {
		m, ok := s[key].(map[string]any)
		if !ok {
			continue
		}
		v, err := c.convert(m, stack)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		out[key] = v
	}
	return nil
}
