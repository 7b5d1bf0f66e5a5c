package roots

import (
	"slices"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// withoutSuperseded removes old roots of a cluster: those above the folder that a FluxInstance syncs
// from the same address, if nothing applies their file or they are Kustomizations. One cluster has one FluxInstance.
func withoutSuperseded(repo *repository.Repository, all []Root) []Root {
	applied := func(file string) bool {
		use := repo.Use(file)
		return use == repository.Resource || use == repository.Input
	}
	return slices.DeleteFunc(slices.Clone(all), func(old Root) bool {
		address := old.address(repo)
		if address == "" || old.URL != "" && applied(old.File) {
			return false
		}
		return slices.ContainsFunc(all, func(now Root) bool {
			return now.URL != "" && now.Boundary == nil && applied(now.File) && now.Path != old.Path && repository.Within(old.Path, now.Path) &&
				RepositoryAddress(now.URL) == address
		})
	})
}

// address returns the address of a root's source, "" if it is unknown.
func (r Root) address(repo *repository.Repository) string {
	url := r.URL
	for _, o := range repo.Find(fluxapi.SourceGroup, r.Source.Kind, r.Source.Namespace, r.Source.Name) {
		if at, _ := o.Text("spec", "url"); url == "" {
			url = at
		}
	}
	if url == "" {
		return ""
	}
	return RepositoryAddress(url)
}
