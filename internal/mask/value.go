package mask

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// Masked stands for a secret value.
type Masked string

// ofSecret are the fields of a Secret that contain none of its values.
var ofSecret = map[string]bool{"apiVersion": true, "kind": true, "metadata": true, "type": true, "immutable": true, "sops": true}

// IsOfSecret reports whether a field of a Secret contains none of its values: a type that is no scalar may be one.
func IsOfSecret(field string, scalar bool) bool {
	return ofSecret[field] && (field != "type" || scalar)
}

// Value returns a copy of a value of a field in which each secret is a [Masked]: by the name of its field, of the variable
// whose value it is or of the flag before it, as a value of a Secret, or as a string that holds one.
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

// fields masks the values of a map, in a field of several secrets if several is set.
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

// everything masks all in a value.
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
