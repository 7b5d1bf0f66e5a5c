package mask

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// Masked is the placeholder of a secret value.
type Masked string

// ofSecret has the fields of a Secret that contain no secret value.
var ofSecret = map[string]bool{"apiVersion": true, "kind": true, "metadata": true, "type": true, "immutable": true, "sops": true}

// IsOfSecret reports whether a field of a Secret contains no secret value. The value of a field type that is not a scalar
// may be secret.
func IsOfSecret(field string, scalar bool) bool {
	return ofSecret[field] && (field != "type" || scalar)
}

// Value returns a copy of the value of a field with each secret replaced by a [Masked]. A value is secret because of the
// name of its field, of its variable or of the flag before it, as a value of a Secret, or because it contains a secret
// string.
func Value(field string, value any) any {
	switch value := value.(type) {
	case string:
		if strings.HasPrefix(value, "ENC[") || HoldsSecrets(value) || credential.Hide(field, value) {
			return everything(value)
		}
	case int64, float64:
		if credential.HideLine(field, fmt.Sprint(value)) {
			return Masked(Hidden)
		}
	case map[string]any:
		return fields(credential.Several(field), value)
	case []any:
		shown := make([]any, len(value))
		for i, item := range value {
			name := field
			if flag, _ := value[max(i-1, 0)].(string); i > 0 && strings.HasPrefix(flag, "-") && !strings.Contains(flag, "=") {
				name = strings.TrimLeft(flag, "-")
			}
			shown[i] = Value(name, item)
		}
		return shown
	}
	return value
}

// fields masks the values of a map. If several is not "", it is the name of a field that contains several secrets.
func fields(several string, value map[string]any) map[string]any {
	kind, _ := value["kind"].(string)
	version, _ := value["apiVersion"].(string)
	name, _ := value["name"].(string)
	secret := strings.EqualFold(kind, "Secret")
	whole := secret && slices.Contains([]string{"", "v1", "core/v1"}, version)
	shown := make(map[string]any, len(value))
	for key, item := range value {
		text, scalar := item.(string)
		switch {
		case key == "stringData", secret && key == "data", whole && !IsOfSecret(key, scalar), key == "literals" && strings.EqualFold(kind, "SecretGenerator"),
			several != "" && credential.HideLine(key+"-"+several, text):
			shown[key] = everything(item)
		case key == "value" && name != "":
			shown[key] = Value(name, item)
		default:
			shown[key] = Value(key, item)
		}
	}
	return shown
}

// everything masks all strings in a value.
func everything(value any) any {
	switch value := value.(type) {
	case nil:
		return nil
	case map[string]any:
		shown := make(map[string]any, len(value))
		for key, item := range value {
			shown[key] = everything(item)
		}
		return shown
	case []any:
		shown := make([]any, len(value))
		for i, item := range value {
			shown[i] = everything(item)
		}
		return shown
	case string:
		if strings.HasPrefix(value, "ENC[") {
			return Masked("<encrypted>")
		}
	}
	return Masked(Hidden)
}
