package v1alpha1

import (
	"maps"
	"reflect"
	"slices"
)

// Kinds returns an empty object of each input kind, in the order in which a specification is usually written.
// The Go type has the name of the kind. A new kind is registered here; decoding, schemas and the reference
// follow.
func Kinds() []any {
	return []any{&Fleet{}, &Cluster{}, &Addon{}, &Tenant{}, &Encryption{}, &K0rdent{}, &Kommander{}}
}

// IsKind reports whether a kind is one of the input kinds.
func IsKind(name string) bool {
	_, ours := KindTypes[name]
	return ours
}

// otherKinds are the kinds of the API group that do not belong to a specification: the functionConfigs, the
// object that carries a rendered file, the inventory, and the boundary of a tenant.
var otherKinds = []string{"RenderFleet", "ValidateFleet", "VerifyBootstrap", "EncryptSecrets", "File", "Inventory", TenantBoundaryKind}

// KindNames returns the names of all kinds of the API group, sorted.
func KindNames() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.Clone(otherKinds), maps.Keys(KindTypes))))
}

// IsOtherKind reports whether a kind of the API group does not belong to a specification: only Fleetwright and
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
