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

// FromDefinition compiles the schema of one version of a
// CustomResourceDefinition: what stands in its openAPIV3Schema, as plain Go
// values. Namespaced says what the definition's scope is. The
// definition may be anybody's: one that the API server would refuse gives an error.
func FromDefinition(gvk schema.GroupVersionKind, namespaced bool, openAPIV3Schema map[string]any) (*Schema, error) {
	return fromOrigin(origin{gvk: gvk, namespaced: namespaced}, openAPIV3Schema)
}

// fromOrigin is FromDefinition of a definition whose place is known.
func fromOrigin(from origin, openAPIV3Schema map[string]any) (*Schema, error) {
	text, err := json.Marshal(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return fromText(from, text)
}

// fromText is fromOrigin of a schema in JSON.
func fromText(from origin, text []byte) (s *Schema, err error) {
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
	// Which of several errors comes first follows the order of a map: none is told.
	s, err = compile(&props, false)
	if limit := (*count.Error)(nil); errors.As(err, &limit) {
		return nil, limit
	}
	if err != nil {
		return nil, errors.New("the schema holds what the API server doesn't support")
	}
	if errs := structural.ValidateStructural(nil, s.structure); len(errs) > 0 {
		return nil, errors.New("the schema is not structural")
	}
	if err := checkValues(s.structure); err != nil {
		return nil, err
	}
	s.GVK, s.Namespaced, s.foreign, s.origin = from.gvk, from.namespaced, true, from
	s.meta, err = metadata()
	return s, err
}

// checkValues refuses what the validator would hold against every value: a type
// that doesn't exist and a pattern that is no regular expression.
func checkValues(s *structural.Structural) error {
	var wrong []string
	pattern := func(v *structural.ValueValidation) {
		if v == nil {
			return
		}
		if _, err := count.Compile(v.Pattern); err != nil {
			wrong = append(wrong, fmt.Sprintf("the pattern %q is no regular expression", v.Pattern))
		}
	}
	visitor := structural.Visitor{
		Structural: func(s *structural.Structural) bool {
			if s.Type != "" && !isJSONType(s.Type) {
				wrong = append(wrong, fmt.Sprintf("%q is no type", s.Type))
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
