package v1alpha1

import (
	"reflect"
	"slices"
)

// Kinds are the input kinds, in the order in which a specification is usually
// written: an empty object of each, whose Go type is named as the kind. This is
// where a kind is registered; decoding, the schemas and the reference follow it.
func Kinds() []any {
	return []any{&Fleet{}, &Cluster{}, &Addon{}, &Tenant{}, &Encryption{}, &K0rdent{}, &Kommander{}}
}

// IsKind says whether a kind is one of the input kinds.
func IsKind(name string) bool {
	_, ours := KindTypes[name]
	return ours
}

// otherKinds are the kinds of the group that are no part of a specification: the
// functionConfigs, the carrier of a rendered file, and the inventory.
var otherKinds = []string{"RenderFleet", "ValidateFleet", "VerifyBootstrap", "EncryptSecrets", "File", "Inventory"}

// IsOtherKind says whether a kind of the group is no part of a specification: only Fleetwright and
// the tools that call it read it.
func IsOtherKind(kind string) bool { return slices.Contains(otherKinds, kind) }

// KindTypes are the Go types of the input kinds.
var KindTypes = func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, kind := range Kinds() {
		t := reflect.TypeOf(kind).Elem()
		types[t.Name()] = t
	}
	return types
}()
