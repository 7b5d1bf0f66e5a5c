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
)

// Version is what is known of one version of a kind of Kubernetes, Flux or the
// Flux Operator.
type Version struct {
	// Name of the version, such as v1beta2.
	Name string
	// Served says that the newest release that is known (Flux 2.9, Kubernetes
	// 1.36) serves it; Storage that Flux stores it.
	Served, Storage bool
	// DeprecatedIn and RemovedIn are the releases that deprecated and removed the
	// version ("2.7" of Flux, "1.22" of Kubernetes), "" where they didn't. They
	// may be releases to come. The oldest release of Flux that is known is 2.2:
	// what is deprecated in it was deprecated in it or before.
	DeprecatedIn, RemovedIn string
	// Replacement is the kind to move to; it is empty where there is none, as for
	// the version that is stored.
	Replacement schema.GroupVersionKind
}

// Deprecated says whether a release that is known deprecates or removed the
// version.
func (v Version) Deprecated() bool {
	return !v.Served || v.DeprecatedIn != "" && v.Replacement != schema.GroupVersionKind{}
}

//go:embed versions.json
var versionsText []byte

// histories are the versions that are no longer as they were, by GROUP/KIND.
var histories = sync.OnceValue(func() map[string][]Version {
	var raw map[string][]struct {
		Version                 string
		Served, Storage         bool
		DeprecatedIn, RemovedIn string
		Replacement             struct{ APIVersion, Kind string }
	}
	if err := json.Unmarshal(versionsText, &raw); err != nil {
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

// Versions lists the versions that are known of a kind, the newest first as
// Kubernetes orders them (v2, v1, v1beta2, v1beta1); none of a kind that is not
// one of Kubernetes', Flux's or the Flux Operator's.
func Versions(of schema.GroupKind) []Version { return slices.Clone(versions()[of]) }

// VersionOf is what is known of one version of a kind, and whether anything is.
func VersionOf(gvk schema.GroupVersionKind) (Version, bool) {
	for _, v := range versions()[gvk.GroupKind()] {
		if v.Name == gvk.Version {
			return v, true
		}
	}
	return Version{}, false
}

// versions are those of every kind that is known.
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
		slices.SortFunc(found, func(a, b Version) int {
			return cmp.Or(version.CompareKubeAwareVersionStrings(b.Name, a.Name), cmp.Compare(a.Name, b.Name))
		})
	}
	return all
})
