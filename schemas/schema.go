package schemas

import (
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/fleetwright/fleetwright/internal/count/calls"
)

// Schema validates the objects of one group, version and kind. It is safe for
// concurrent use.
type Schema struct {
	// GVK is the kind that the schema is for.
	GVK schema.GroupVersionKind
	// Namespaced reports whether objects of the kind are namespaced.
	Namespaced bool

	structure *structural.Structural
	validator *validate.SchemaValidator
	// quickly accepts most of the objects that the validator would accept.
	quickly *quickNode
	// ownRules are the CEL rules of an embedded schema, compiled for the first object; ruleCount is
	// the number of rules.
	ownRules  func() rules
	ruleCount int
	// calls returns the arguments that the rules pass to functions whose cost CEL does not bound, and the error because
	// of which they are not evaluated. pattern is the size of the largest pattern.
	calls   func() (*calls.Calls, error)
	pattern int
	// meta validates the object's metadata; nil in the schema of metadata itself.
	meta *Schema
	// builtIn is set for a kind that the API server decodes into a Go type.
	builtIn bool
	// embedded is set if the objects contain whole objects.
	embedded bool
	// foreign is set for a schema that is not embedded, and origin is its source. Compiling its rules, and validating an
	// object with it, are units of work.
	foreign bool
	origin  origin
	// partial is set for a kind that may have more fields than are known.
	partial bool
	// kustomize is set for kustomize's files, which no API server reads.
	kustomize bool
	// plain is set for a JSON Schema that is not structural.
	plain *plainSchema
}

// rules are the compiled rules of a schema.
type rules struct {
	validator *cel.Validator
	err       error
}

// plainSchema is a JSON Schema that is not structural.
type plainSchema struct {
	validator *validate.SchemaValidator
	kind      string
	meta      *Schema
	// rules is set if it has CEL rules, which need a structural schema.
	rules bool
}

// origin is the kind and scope of a schema that is not embedded, and the place of its definition.
type origin struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	file       string
	line       int
}
