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
	// Namespaced says whether objects of the kind stand in a namespace.
	Namespaced bool

	structure *structural.Structural
	validator *validate.SchemaValidator
	// quickly accepts most of the objects that the validator would accept.
	quickly *quickNode
	// rules in CEL, compiled when the first object comes, and their number.
	rules     func() rules
	ruleCount int
	// calls are what the rules pass to functions that no cost bounds, and the error why they are not
	// evaluated; pattern is the size of the largest pattern.
	calls   func() (*calls.Calls, error)
	pattern int
	// meta validates the object's metadata; nil in the schema of metadata.
	meta *Schema
	// builtIn is a kind that the API server decodes into a Go type.
	builtIn bool
	// embedded says that whole objects stand in the objects.
	embedded bool
	// foreign is a schema that isn't one of ours, and origin where it is from: to compile its
	// rules, and to judge an object by it, is a unit of work.
	foreign bool
	origin  origin
	// partial is a kind that may have more fields than are known.
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
	// rules says that it has rules in CEL, which need a structural schema.
	rules bool
}

// origin is what a schema that is none of ours is made for, and the place of its definition.
type origin struct {
	gvk        schema.GroupVersionKind
	namespaced bool
	file       string
	line       int
}
