package schemas

import (
	"strings"
	"testing"
)

func TestFromDefinition(t *testing.T) {
	const text = `type: object
properties:
  spec:
    type: object
    required: [size]
    properties: {size: {type: integer, maximum: 3}, any: {x-kubernetes-preserve-unknown-fields: true}}
`
	s, err := FromDefinition(gvk("example.com/v1", "Foo"), true, object(t, text))
	if err != nil || !s.Namespaced || s.GVK.Kind != "Foo" {
		t.Fatalf("%+v, %v", s, err)
	}
	var got []string
	for _, p := range s.Validate(object(t, "metadata: {labels: {a: 1}}\nspec: {size: 4, siez: 1, any: {x: 1}}\n")) {
		got = append(got, string(p.Kind)+": "+p.Message)
	}
	const want = `invalid: metadata.labels.a must be a string, not an integer
unknown field: unknown field "siez" in spec
invalid: spec.size is 4, must be less than or equal to 3`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("the problems are\n%s\nwant\n%s", text, want)
	}
}

// TestDefinitionsThatTheAPIServerRefuses must not judge objects.
func TestDefinitionsThatTheAPIServerRefuses(t *testing.T) {
	for _, text := range []string{
		"{}",
		"type: string",
		"type: [object]",
		"{type: object, properties: {a: {}}}",
		"{type: object, properties: {a: {type: thing}}}",
		"{type: object, properties: {a: {type: string, pattern: '['}}}",
		"{type: object, properties: {a: {$ref: '#'}}}",
		"{type: object, definitions: {a: {type: object}}}",
		"{type: object, properties: {a: {type: array}}}",
		"{type: object, properties: {a: {type: string, anyOf: [{pattern: '['}, {maxLength: 1}]}}}",
		"{type: object, properties: 1}",
	} {
		if s, err := FromDefinition(gvk("example.com/v1", "Foo"), true, object(t, text)); err == nil {
			t.Errorf("%s: compiled to %+v", text, s)
		}
	}
}
