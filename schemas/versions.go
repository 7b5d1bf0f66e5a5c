package schemas

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Version describes one version of a kind of Kubernetes, Flux or the Flux Operator.
type Version struct {
	// Name of the version, such as v1beta2.
	Name string
	// Served is set if the newest known release (Flux 2.9, Kubernetes
	// 1.36) serves it; Storage is set if Flux stores it.
	Served, Storage bool
	// DeprecatedIn and RemovedIn are the releases that deprecated and removed the version ("2.7" of Flux, "1.22" of
	// Kubernetes), "" if none did. They may be future releases. The oldest known release of Flux is 2.2: a version that
	// is deprecated in it may have been deprecated before.
	DeprecatedIn, RemovedIn string
	// Replacement is the kind to move to; empty if there is none, as for the stored version.
	Replacement schema.GroupVersionKind
}

// Deprecated reports whether a known release deprecated or removed the version.
func (v Version) Deprecated() bool {
	return !v.Served || v.DeprecatedIn != "" && v.Replacement != schema.GroupVersionKind{}
}

// packedVersions is versions.json, which tools/schemas writes together with it.
//
//go:embed versions.json.gz
var packedVersions []byte

// histories returns the versions that were deprecated or removed, by GROUP/KIND.
var histories = sync.OnceValue(func() map[string][]Version {
	var raw map[string][]struct {
		Version                 string
		Served, Storage         bool
		DeprecatedIn, RemovedIn string
		Replacement             struct{ APIVersion, Kind string }
	}
	text, err := unpack(packedVersions)
	if err == nil {
		err = json.Unmarshal(text, &raw)
	}
	if err != nil {
		panic(fmt.Sprintf("schemas: versions.json: %v", err)) // generated, and a test reads it
	}
	all := map[string][]Version{}
	for key, list := range raw {
		for _, v := range list {
			known := Version{Name: v.Version, Served: v.Served, Storage: v.Storage, DeprecatedIn: v.DeprecatedIn, RemovedIn: v.RemovedIn}
			if v.Replacement.Kind != "" {
				known.Replacement = schema.FromAPIVersionAndKind(v.Replacement.APIVersion, v.Replacement.Kind)
			}
			all[key] = append(all[key], known)
		}
	}
	return all
})

// Versions returns the known versions of a kind, the newest first as Kubernetes sorts them (v2, v1,
// v1beta2, v1beta1); none for a kind that does not belong to Kubernetes, Flux or the Flux Operator.
func Versions(of schema.GroupKind) []Version { return slices.Clone(versions()[of]) }

// VersionOf returns a version of a kind, and whether it is known.
func VersionOf(gvk schema.GroupVersionKind) (Version, bool) {
	for _, v := range versions()[gvk.GroupKind()] {
		if v.Name == gvk.Version {
			return v, true
		}
	}
	return Version{}, false
}

// versions returns the versions of every known kind.
var versions = sync.OnceValue(func() map[schema.GroupKind][]Version {
	all := map[schema.GroupKind][]Version{}
	for key, history := range histories() {
		group, kind, _ := strings.Cut(key, "/")
		all[schema.GroupKind{Group: group, Kind: kind}] = slices.Clone(history)
	}
	for _, gvk := range embedded() {
		of := gvk.GroupKind()
		if !slices.ContainsFunc(all[of], func(v Version) bool { return v.Name == gvk.Version }) {
			all[of] = append(all[of], Version{Name: gvk.Version, Served: true})
		}
	}
	for _, found := range all {
		sorting.Func(found, func(a, b Version) int {
			return cmp.Or(version.CompareKubeAwareVersionStrings(b.Name, a.Name), cmp.Compare(a.Name, b.Name))
		})
	}
	return all
})
