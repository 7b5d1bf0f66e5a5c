package schemas

import (
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/strfmt"

	"github.com/fleetwright/fleetwright/internal/count"
)

// quantityFormat is the format that tools/schemas sets for fields of type
// resource.Quantity.
const quantityFormat = "quantity"

// quantity is the Go type of the format; only its validator is used.
type quantity string

func (q quantity) String() string                   { return string(q) }
func (q quantity) MarshalText() ([]byte, error)     { return []byte(q), nil }
func (q *quantity) UnmarshalText(text []byte) error { *q = quantity(text); return nil }
func isQuantity(text string) bool                   { _, err := count.Quantity(text); return err == nil }

// isBytes reports whether a string is base64 as the API server decodes it in built-in kinds: encoding/json ignores line
// breaks, which kustomize writes into the Secrets that it generates. An empty string is valid, although strfmt refuses
// it.
func isBytes(text string) bool {
	text = strings.NewReplacer("\r", "", "\n", "").Replace(text)
	return text == "" || strfmt.Default.Validates("byte", text)
}

// formats are the formats of the API server, and quantities.
var formats = sync.OnceValue(func() strfmt.Registry {
	registry := strfmt.NewFormats()
	var q quantity
	registry.Add(quantityFormat, &q, isQuantity)
	var b strfmt.Base64
	registry.Add("byte", &b, isBytes)
	return registry
})
