package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	openapi "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// FromJSONSchema compiles a JSON Schema, as in catalogs for validators, that encoding/json has decoded. If it was
// generated from a CustomResourceDefinition, the result is the original schema. For other schemas, values are validated
// with the validator of the API server. It returns an error for a schema that this validator would not check completely.
// A JSON Schema does not contain the kind's scope: Namespaced is true.
func FromJSONSchema(gvk schema.GroupVersionKind, jsonSchema map[string]any) (s *Schema, err error) {
	defer func() {
		if v := recover(); v != nil {
			s, err = nil, fmt.Errorf("it cannot be compiled: %v", v)
		}
	}()
	if !isOf(jsonSchema, gvk) {
		return nil, fmt.Errorf("it is of another kind (x-kubernetes-group-version-kind)")
	}
	r := resolver{root: jsonSchema}
	whole, err := r.resolve(jsonSchema, nil)
	if err != nil {
		return nil, err
	}
	c := structuralizer{closed: r.closed}
	if converted, ok := c.convert(whole, true); ok {
		if s, err := FromDefinition(gvk, true, converted); err == nil {
			return s, nil
		}
	}
	return plainFrom(gvk, whole, r.rules)
}

// isOf reports whether a schema is for a kind. A schema that names no kinds may be for any.
func isOf(m map[string]any, gvk schema.GroupVersionKind) bool {
	list, ok := m["x-kubernetes-group-version-kind"].([]any)
	return !ok || slices.ContainsFunc(list, func(item any) bool {
		k, _ := item.(map[string]any)
		return k["group"] == gvk.Group && k["version"] == gvk.Version && k["kind"] == gvk.Kind
	})
}

// resolver replaces the references in a schema with the schemas that they refer to.
type resolver struct {
	root  map[string]any
	nodes int
	// closed is set if an object allows no other fields, and rules if there are CEL rules.
	closed, rules bool
}

// unjudged are the keywords that the API server's validator ignores.
var unjudged = []string{"if", "then", "else", "contains", "propertyNames", "dependentRequired", "dependentSchemas",
	"prefixItems", "unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"}

func (r *resolver) resolve(m map[string]any, stack []string) (map[string]any, error) {
	if r.nodes++; r.nodes > limits.SchemaParts {
		return nil, count.Errorf("it has more than %d parts", limits.SchemaParts)
	}
	for _, k := range unjudged {
		if _, ok := m[k]; ok {
			return nil, fmt.Errorf("the keyword %q is unknown to the API server's validator", k)
		}
	}
	if ref, ok := m["$ref"].(string); ok {
		return r.follow(ref, stack)
	}
	out := make(map[string]any, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		v := m[k]
		switch k {
		case "$schema", "$id", "id", "$comment", "title", "description", "examples", "example", "externalDocs", "definitions", "$defs", "x-kubernetes-group-version-kind":
			continue
		case "const":
			out["enum"] = []any{v}
			continue
		case "default", "enum", "required":
			out[k] = v
			continue
		case "x-kubernetes-validations":
			out[k], r.rules = v, true
			continue
		}
		resolved, err := r.value(k, v, stack)
		if err != nil {
			return nil, err
		}
		out[k] = resolved
	}
	r.closed = r.closed || out["additionalProperties"] == false
	return out, nil
}

// value resolves the schemas in the value of a keyword.
func (r *resolver) value(k string, v any, stack []string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if k != "properties" && k != "patternProperties" && k != "dependencies" {
			return r.resolve(v, stack)
		}
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			resolved, err := r.value("", v[name], stack)
			if err != nil {
				return nil, err
			}
			out[name] = resolved
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			resolved, err := r.value("", item, stack)
			if err != nil {
				return nil, err
			}
			out[i] = resolved
		}
		return out, nil
	}
	return v, nil
}

// follow resolves a reference into the same schema. A reference in a recursive schema is resolved to a schema that allows
// anything.
func (r *resolver) follow(ref string, stack []string) (map[string]any, error) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil, fmt.Errorf("it refers to another file (%q)", ref)
	}
	if slices.Contains(stack, ref) {
		return map[string]any{"x-kubernetes-preserve-unknown-fields": true}, nil
	}
	var at any = r.root
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if step == "" {
			continue
		}
		m, _ := at.(map[string]any)
		at = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	target, ok := at.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the reference %q leads nowhere", ref)
	}
	return r.resolve(target, append(slices.Clone(stack), ref))
}

// structuralizer converts a JSON Schema back to the structural schema that it was
// generated from.
type structuralizer struct{ closed bool }

// convert returns the structural schema; false if it cannot be converted.
func (c structuralizer) convert(m map[string]any, root bool) (map[string]any, bool) {
	out := maps.Clone(m)
	if _, ok := m["patternProperties"]; ok {
		return nil, false
	}
	if isIntOrString(m) {
		delete(out, "type")
		delete(out, "format")
		delete(out, "oneOf")
		out["x-kubernetes-int-or-string"] = true
		return out, true
	}
	if types, ok := m["type"].([]any); ok {
		if len(types) != 2 || !slices.Contains(types, any("null")) {
			return nil, false
		}
		out["nullable"] = true
		for _, t := range types {
			if t != "null" {
				out["type"] = t
			}
		}
	}
	if !c.children(m, out) {
		return nil, false
	}
	c.openness(out, root)
	for _, k := range []string{"exclusiveMinimum", "exclusiveMaximum"} {
		if _, isNumber := m[k].(float64); isNumber {
			return nil, false // from a later draft of JSON Schema
		}
	}
	return out, true
}

// openness sets whether other fields are allowed, in the form of a structural schema. If the tool that generated the JSON
// Schema closed its objects, it left the root open only because of metadata.
func (c structuralizer) openness(out map[string]any, root bool) {
	additional, hasAdditional := out["additionalProperties"]
	if isBool(additional) {
		delete(out, "additionalProperties")
	}
	_, typed := out["type"]
	open := additional == true || !typed || !hasAdditional && out["type"] == "object"
	if open && (!root || !c.closed) {
		out["x-kubernetes-preserve-unknown-fields"] = true
	}
	if !root {
		return
	}
	// A structural schema does not declare these fields: every object has them.
	out["type"] = "object"
	props, _ := out["properties"].(map[string]any)
	for name, kind := range map[string]string{"apiVersion": "string", "kind": "string", "metadata": "object"} {
		if _, ok := props[name]; ok {
			props[name] = map[string]any{"type": kind}
		}
	}
}

func isBool(v any) bool { _, ok := v.(bool); return ok }

// children converts the schemas inside of a schema.
func (c structuralizer) children(m, out map[string]any) bool {
	if props, ok := m["properties"].(map[string]any); ok {
		converted := make(map[string]any, len(props))
		for name, p := range props {
			inner, ok := p.(map[string]any)
			if !ok {
				return false
			}
			if converted[name], ok = c.convert(inner, false); !ok {
				return false
			}
		}
		out["properties"] = converted
	}
	for _, k := range []string{"items", "additionalProperties"} {
		switch inner := m[k].(type) {
		case nil, bool:
		case map[string]any:
			converted, ok := c.convert(inner, false)
			if !ok {
				return false
			}
			out[k] = converted
		default:
			return false
		}
	}
	return true
}

// isIntOrString reports whether a schema allows an integer or a string, in one of the forms in which catalogs of JSON
// Schemas write Kubernetes' int-or-string.
func isIntOrString(m map[string]any) bool {
	if m["format"] == "int-or-string" || m["x-kubernetes-int-or-string"] == true {
		return true
	}
	one, _ := m["oneOf"].([]any)
	if len(one) != 2 || m["type"] != nil {
		return false
	}
	var types []any
	for _, alternative := range one {
		a, _ := alternative.(map[string]any)
		if len(a) != 1 {
			return false
		}
		types = append(types, a["type"])
	}
	return slices.Contains(types, any("string")) && slices.Contains(types, any("integer"))
}

func plainFrom(gvk schema.GroupVersionKind, whole map[string]any, rules bool) (*Schema, error) {
	total := 0
	if err := checkPatterns(whole, &total); err != nil {
		return nil, err
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	var s spec.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("it is not a schema: %w", err)
	}
	meta, err := metadata()
	if err != nil {
		return nil, err
	}
	return &Schema{GVK: gvk, Namespaced: true, foreign: true, plain: &plainSchema{
		validator: validate.NewSchemaValidator(&s, nil, "", formats()), kind: gvk.Kind, meta: meta, rules: rules,
	}}, nil
}

// checkPatterns returns an error for patterns that Go's regular expressions do not support, and for patterns that are too
// large, alone or together.
func checkPatterns(v any, total *int) error {
	switch v := v.(type) {
	case map[string]any:
		if pattern, ok := v["pattern"].(string); ok {
			if err := checkPattern(pattern, total); err != nil {
				return err
			}
		}
		named, _ := v["patternProperties"].(map[string]any)
		for _, pattern := range slices.Sorted(maps.Keys(named)) {
			if err := checkPattern(pattern, total); err != nil {
				return err
			}
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if err := checkPatterns(v[k], total); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := checkPatterns(item, total); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkPattern(pattern string, total *int) error {
	size, err := count.Instructions(pattern)
	if limit := (*count.Error)(nil); errors.As(err, &limit) {
		return limit
	}
	if err != nil {
		return fmt.Errorf("the pattern %q is unknown to the API server's validator", pattern)
	}
	if *total += size; *total > limits.PatternsTogether {
		return errManyPatterns
	}
	return nil
}

func (p *plainSchema) problems(object map[string]any, opts Options) []Problem {
	clean, _ := withoutNulls(object).(map[string]any)
	delete(clean, "status")
	delete(clean, "sops")
	describe := describer{object: object, literal: opts.Literal}
	var found []Problem
	if p.rules {
		found = append(found, Problem{Kind: Unresolved, Rule: true,
			Message: "the rules of " + p.kind + " are not checked: its JSON Schema is not structural"})
	}
	for _, err := range p.validator.Validate(clean).Errors {
		var failed *openapi.Validation
		if errors.As(err, &failed) && failed.Code() == openapi.UnallowedPropertyCode {
			name, _ := failed.Value.(string)
			found = append(found, p.unknown(append(pathOf(object, failed.Name), name)))
			continue
		}
		found = append(found, describe.problem(err))
	}
	s := &Schema{Namespaced: true, meta: p.meta}
	return append(found, s.ofMetadata(object, clean, opts)...)
}

func (p *plainSchema) unknown(path []any) Problem {
	name, _ := path[len(path)-1].(string)
	in := "in " + Field(path[:len(path)-1])
	if len(path) == 1 {
		in = "at the top of " + p.kind
	}
	return Problem{Kind: UnknownField, Path: path, Message: fmt.Sprintf("unknown field %q %s", name, in)}
}

// withoutNulls returns a copy of a value without map fields that are null, because the API server prunes them.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			if item != nil {
				m[k] = withoutNulls(item)
			}
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = withoutNulls(item)
		}
		return list
	}
	return v
}
