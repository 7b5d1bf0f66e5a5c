package sops

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// clearKey is a key of a Secret whose value is in plaintext.
type clearKey struct {
	name         string
	line, column int
	grade        credential.Grade
}

// clear are the keys of a Secret whose values are in plaintext, without those that everybody may know.
// What a Secret holds where the API server expects none, such as beside its data, is in Git, too.
func clear(n *yaml.Node) []clearKey {
	keys := append(clearValues("data", repository.Lookup(n, "data")), clearValues("stringData", repository.Lookup(n, "stringData"))...)
	if !isWhole(n) {
		return keys
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch field, value := n.Content[i].Value, n.Content[i+1]; {
		case field == "data" || field == "stringData" || repository.IsOfSecret(field, value):
		case field == "type": // a list or a map
			keys = append(keys, clearValue("value of type", n.Content[i], value, false, 0)...)
		default:
			keys = append(keys, clearValue(field, n.Content[i], value, false, 0)...)
		}
	}
	return keys
}

// isWhole says whether a mapping is a whole Secret, and not a reference to one.
func isWhole(n *yaml.Node) bool {
	metadata := repository.Lookup(n, "metadata")
	return repository.IsSecret(n) && repository.Lookup(n, "apiVersion") != nil && metadata != nil && metadata.Kind == yaml.MappingNode
}

// clearValues are the keys of the values under a field of a Secret.
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

// clearValue is the key of a value, those of the values in it where it is a map or a list, which no
// Secret has.
func clearValue(key string, at, value *yaml.Node, encoded bool, depth int) []clearKey {
	if value.Kind == yaml.AliasNode && value.Alias != nil {
		value = value.Alias
	}
	var keys []clearKey
	switch {
	case depth > mostScanned:
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

// written is a scalar as a person meant it: a password that begins with "!" or "&" and has no quotes is
// a tag or an anchor to YAML, without a value.
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

// refers says whether a value of a Secret stands for another: then what is secret in it is elsewhere,
// and what is not may stand beside.
func refers(o *repository.Object) bool {
	for key := range valuesOf(o) {
		if credential.IsReference(key.value) && !credential.IsFiller(key.name, key.value) {
			return true
		}
	}
	return false
}

// fillersOf are the keys of a Secret whose values a person is to replace, where nothing did.
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

// valuesOf are the values of a Secret, decoded.
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

// likelyOf are the keys whose values are likely credentials.
func likelyOf(keys []clearKey) []clearKey {
	return slices.DeleteFunc(slices.Clone(keys), func(k clearKey) bool { return k.grade != credential.Likely })
}

// listed names the first keys.
func listed(keys []clearKey) string {
	switch len(keys) {
	case 1:
		return fmt.Sprintf("%q", keys[0].name)
	case 2:
		return fmt.Sprintf("%q and %q", keys[0].name, keys[1].name)
	}
	return fmt.Sprintf("%q and %d other values", keys[0].name, len(keys)-1)
}

// leastUnnamed is how long a random value is to be that has no name.
const leastUnnamed = 16

// isUnnamed says whether a value without a name looks like a secret.
func isUnnamed(value string) bool {
	return len(value) >= leastUnnamed && credential.IsRandom(value) && !credential.IsEvident(value) && !credential.IsPlaceholder(value)
}
