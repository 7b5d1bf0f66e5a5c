package schemas

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/count"
)

// FromDefinition compiles the schema of one version of a CustomResourceDefinition. openAPIV3Schema is the field's value
// as plain Go values, and namespaced the definition's scope. The definition may be untrusted: FromDefinition returns an
// error if the API server would refuse the definition.
func FromDefinition(gvk schema.GroupVersionKind, namespaced bool, openAPIV3Schema map[string]any) (*Schema, error) {
	return compileValues(origin{gvk: gvk, namespaced: namespaced}, openAPIV3Schema)
}

// compileValues is FromDefinition for a definition with its origin.
func compileValues(from origin, openAPIV3Schema map[string]any) (*Schema, error) {
	text, err := json.Marshal(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return compileJSON(from, text)
}

// compileJSON compiles a schema in JSON.
func compileJSON(from origin, text []byte) (s *Schema, err error) {
	defer func() {
		if v := recover(); v != nil {
			s, err = nil, fmt.Errorf("the schema cannot be compiled: %v", v)
		}
	}()
	var props apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(text, &props); err != nil {
		return nil, err
	}
	if props.Type != "object" {
		return nil, errors.New("the schema's type is not object")
	}
	// The compiler reports several errors in random order: report none of them.
	s, err = compile(&props, false)
	if limit := (*count.Error)(nil); errors.As(err, &limit) {
		return nil, limit
	}
	if err != nil {
		return nil, errors.New("the schema contains a part that the API server does not support")
	}
	if errs := structural.ValidateStructural(nil, s.structure); len(errs) > 0 {
		reasons := make([]string, len(errs))
		for i, e := range errs {
			reasons[i] = e.Field + ": " + e.Detail
		}
		return nil, errors.New("the schema is not structural: " + slices.Min(reasons)) // they come in random order
	}
	if err := checkValues(s.structure); err != nil {
		return nil, err
	}
	s.GVK, s.Namespaced, s.foreign, s.origin = from.gvk, from.namespaced, true, from
	s.meta, err = metadata()
	return s, err
}

// checkValues returns an error for parts of a schema that no value can match: a type that does not exist, or an invalid
// pattern.
func checkValues(s *structural.Structural) error {
	var wrong []string
	pattern := func(v *structural.ValueValidation) {
		if v == nil {
			return
		}
		if _, err := count.Compile(v.Pattern); err != nil {
			wrong = append(wrong, fmt.Sprintf("the pattern %q is not a valid regular expression", v.Pattern))
		}
	}
	visitor := structural.Visitor{
		Structural: func(s *structural.Structural) bool {
			if s.Type != "" && !isJSONType(s.Type) {
				wrong = append(wrong, fmt.Sprintf("%q is not a type", s.Type))
			}
			pattern(s.ValueValidation)
			return false
		},
		NestedValueValidation: func(v *structural.NestedValueValidation) bool {
			pattern(&v.ValueValidation)
			return false
		},
	}
	visitor.Visit(s)
	if len(wrong) > 0 {
		return errors.New(slices.Min(wrong))
	}
	return nil
}
