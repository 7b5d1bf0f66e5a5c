package sops

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// clearKey is a key of a Secret with a plaintext value.
type clearKey struct {
	name         string
	line, column int
	grade        credential.Grade
}

// plaintextKeys returns the keys of a Secret with plaintext values, except public ones. It includes values in fields that
// a Secret must not have, because these are in Git, too.
func plaintextKeys(n *yaml.Node) []clearKey {
	keys := append(clearValues("data", repository.Lookup(n, "data")), clearValues("stringData", repository.Lookup(n, "stringData"))...)
	if !isWhole(n) {
		return keys
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch field, value := n.Content[i].Value, n.Content[i+1]; {
		case field == "data" || field == "stringData" || repository.IsOfSecret(field, value):
		case field == "type": // the type is a list or a map
			keys = append(keys, clearValue("value of type", n.Content[i], value, false, 0)...)
		default:
			keys = append(keys, clearValue(field, n.Content[i], value, false, 0)...)
		}
	}
	return keys
}

// isWhole reports whether a mapping is a complete Secret, and not a reference to one.
func isWhole(n *yaml.Node) bool {
	metadata := repository.Lookup(n, "metadata")
	return repository.IsSecret(n) && repository.Lookup(n, "apiVersion") != nil && metadata != nil && metadata.Kind == yaml.MappingNode
}

// clearValues returns the keys with plaintext values in a field of a Secret.
func clearValues(field string, n *yaml.Node) []clearKey {
	switch {
	case n == nil:
		return nil
	case n.Kind != yaml.MappingNode:
		return clearValue(field, n, n, field == "data", 0)
	}
	var keys []clearKey
	for i := 0; i+1 < len(n.Content); i += 2 {
		keys = append(keys, clearValue(n.Content[i].Value, n.Content[i], n.Content[i+1], field == "data", 0)...)
	}
	return keys
}

// clearValue returns the key of a value, if the value is in plaintext. For a map or a list, which are invalid there, it
// returns the keys of the values in it.
func clearValue(key string, at, value *yaml.Node, encoded bool, depth int) []clearKey {
	if value.Kind == yaml.AliasNode && value.Alias != nil {
		value = value.Alias
	}
	var keys []clearKey
	switch {
	case depth > limits.Nesting:
	case value.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(value.Content); i += 2 {
			keys = append(keys, clearValue(value.Content[i].Value, value.Content[i], value.Content[i+1], encoded, depth+1)...)
		}
	case value.Kind == yaml.SequenceNode:
		for _, item := range value.Content {
			keys = append(keys, clearValue(key, item, item, encoded, depth+1)...)
		}
	case value.Kind == yaml.ScalarNode:
		text := written(value)
		if encoded {
			text = secrets.Decoded(text)
		}
		if grade := credential.Judge(key, text); grade != credential.Public && !secrets.IsEncryptedFile(key, text) {
			keys = append(keys, clearKey{key, at.Line, at.Column, grade})
		}
	}
	return keys
}

// written returns the string that the author of a scalar intended. YAML reads an unquoted password that begins with "!"
// or "&" as a tag or an anchor without a value.
func written(n *yaml.Node) string {
	switch {
	case strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") && n.Value == "":
		return n.Tag
	case n.Value == "" && n.Anchor != "":
		return "&" + n.Anchor
	case n.Tag == "!!null":
		return ""
	}
	return n.Value
}

// refers reports whether a value of a Secret is a reference, such as a variable. In that case the secret part is
// elsewhere, and the other values may be public.
func refers(o *repository.Object) bool {
	for key := range valuesOf(o) {
		if credential.IsReference(key.value) && !credential.IsFiller(key.name, key.value) {
			return true
		}
	}
	return false
}

// fillersOf returns the keys of a Secret that still have placeholders which a user has to replace.
func fillersOf(o *repository.Object) []clearKey {
	var keys []clearKey
	for key := range valuesOf(o) {
		if credential.IsFiller(key.name, key.value) {
			keys = append(keys, key.clearKey)
		}
	}
	return keys
}

// heldValue is a value of a Secret with its key.
type heldValue struct {
	clearKey
	value string
}

// valuesOf returns the decoded values of a Secret.
func valuesOf(o *repository.Object) iter.Seq[heldValue] {
	return func(yield func(heldValue) bool) {
		for _, field := range []string{"data", "stringData"} {
			n := o.Lookup(field)
			for i := 1; n != nil && n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
				key, value := n.Content[i-1], n.Content[i].Value
				if field == "data" && !credential.IsReference(value) {
					value = secrets.Decoded(value)
				}
				if !yield(heldValue{clearKey{name: key.Value, line: key.Line, column: key.Column}, value}) {
					return
				}
			}
		}
	}
}

// likelyOf returns the keys whose values are likely credentials.
func likelyOf(keys []clearKey) []clearKey {
	return slices.DeleteFunc(slices.Clone(keys), func(k clearKey) bool { return k.grade != credential.Likely })
}

// listed returns the first key or two, and the number of the others.
func listed(keys []clearKey) string {
	switch len(keys) {
	case 1:
		return fmt.Sprintf("%q", keys[0].name)
	case 2:
		return fmt.Sprintf("%q and %q", keys[0].name, keys[1].name)
	}
	return fmt.Sprintf("%q and %d other values", keys[0].name, len(keys)-1)
}

// leastUnnamed is the minimum length of a random value without a name that counts as a secret.
const leastUnnamed = 16

// isUnnamed reports whether a value without a name looks like a secret.
func isUnnamed(value string) bool {
	return len(value) >= leastUnnamed && credential.IsRandom(value) && !credential.IsEvident(value) && !credential.IsPlaceholder(value)
}
