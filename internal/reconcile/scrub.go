package reconcile

import "github.com/fleetwright/fleetwright/internal/repository"

// scrub leaves out of what is said of a cluster the values that source lines hide: kustomize, Helm and
// parsers quote what they stumble over.
func (c *Cluster) scrub() {
	for _, k := range c.Kustomizations {
		if f := k.Failure; f != nil {
			f.Message = scrubbed(k.Repo, f.File, f.Message)
		}
		for i := range k.Gaps {
			k.Gaps[i].Message = scrub(k.Repo, k.Gaps[i].File, k.Gaps[i].Message)
		}
	}
	for _, r := range c.Releases {
		repo, file := r.Object.Kustomization.Repo, r.Object.File
		if r.Failure != nil {
			r.Failure.Message = scrubbed(repo, file, r.Failure.Message)
		}
		for i := range r.Problems {
			r.Problems[i].Message = scrub(repo, file, r.Problems[i].Message)
		}
		r.Unknown = scrub(repo, file, r.Unknown)
	}
}

// scrub is a message about a file.
func scrub(repo *repository.Repository, file, message string) string {
	if repo == nil || message == "" {
		return message
	}
	return repo.Lines().Scrub(file, message)
}

// scrubbed is a message of a program that read many files.
func scrubbed(repo *repository.Repository, file, message string) string {
	if repo == nil {
		return message
	}
	return repo.Lines().ScrubBuilt(scrub(repo, file, message))
}
