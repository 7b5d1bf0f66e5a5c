package schemas

import (
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// quantityFormat is the format that tools/schemas gives to the fields of type
// resource.Quantity.
const quantityFormat = "quantity"

// quantity is the type behind the format; only its validator is used.
type quantity string

func (q quantity) String() string                   { return string(q) }
func (q quantity) MarshalText() ([]byte, error)     { return []byte(q), nil }
func (q *quantity) UnmarshalText(text []byte) error { *q = quantity(text); return nil }
func isQuantity(text string) bool                   { _, err := resource.ParseQuantity(text); return err == nil }

// formats are those of the API server, and quantities.
var formats = sync.OnceValue(func() strfmt.Registry {
	registry := strfmt.NewFormats()
	var q quantity
	registry.Add(quantityFormat, &q, isQuantity)
	return registry
})
