// Package secret determines the files of declared Secrets. Users write and encrypt their content:
// this package does not read it.
package secret

import (
	"cmp"
	"slices"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/layout"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Placed is the file of a declared Secret.
type Placed struct {
	Secret *v1alpha1.DeclaredSecret
	// File of the Secret, from the platform repository's root.
	File string
	// Retired is set if the Secret's tenant is Removed, so that no cluster applies the file any more.
	Retired bool
	// Clusters that apply it.
	Clusters []*v1alpha1.Cluster
	// Places of the file on each of the clusters.
	Places []layout.SecretPlace
}

// Places returns the files of all declared Secrets, sorted by path. A Secret without clusters has no file.
func Places(spec *v1alpha1.Spec, lay layout.Layout) []Placed {
	var out []Placed
	at := map[string]int{}
	for _, d := range spec.Secrets() {
		t := spec.Tenant(d.Tenant)
		retired := t != nil && t.Spec.State == v1alpha1.StateRemoved
		for _, c := range spec.SecretClusters(d) {
			d := spec.SecretOn(c, d)
			place := lay.Secret(c, d)
			i, known := at[place.File]
			if !known {
				i = len(out)
				at[place.File] = i
				out = append(out, Placed{Secret: d, File: place.File, Retired: retired})
			}
			out[i].Clusters = append(out[i].Clusters, c)
			out[i].Places = append(out[i].Places, place)
		}
	}
	sorting.Func(out, func(a, b Placed) int { return cmp.Compare(a.File, b.File) })
	return out
}

// On returns the place of the file on a cluster. It returns false if the cluster doesn't
// apply the file, or if it is in the folder of a tenant or of a platform product.
func (p Placed) On(c *v1alpha1.Cluster) (layout.SecretPlace, bool) {
	i := slices.Index(p.Clusters, c)
	if i < 0 || p.Secret.Scope == v1alpha1.ScopeTenant || p.Secret.Product != "" {
		return layout.SecretPlace{}, false
	}
	return p.Places[i], true
}

// Of returns the files that a step of a platform product lists, except for files with a place of their own, which are
// listed there.
func Of(placed []Placed, product, step string) []string {
	var files []string
	for _, p := range placed {
		if p.Secret.Product == product && p.Secret.Step == step && p.Secret.File == "" {
			files = append(files, p.File)
		}
	}
	return files
}
