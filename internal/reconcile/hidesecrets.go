package reconcile

import (
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// Know makes known to a repository's lines what Secrets hold and variables carry.
func (f *Fleet) Know(lines *repository.Lines) {
	for _, c := range f.Clusters {
		lines.Know(c.secrets)
	}
}

// Hiding leaves out of texts what Secrets hold and variables carry into any field.
func (f *Fleet) Hiding() func(text string) string {
	f.Know(f.repo.Lines())
	return f.repo.Lines().Without
}

// know gathers the values that fields may have from Secrets, and from variables that are named as secrets
// are.
func (c *Cluster) know() {
	for _, k := range c.Kustomizations {
		for _, name := range slices.Sorted(maps.Keys(k.Variables)) {
			if v := k.Variables[name]; v.Known {
				c.secrets = append(c.secrets, v.leading()...)
			}
		}
		c.secrets = append(c.secrets, k.carried...)
		for _, o := range k.Objects {
			if o.Group != "" || o.Kind != "Secret" {
				continue
			}
			for name, e := range o.entries() {
				if e.known && credential.Judge(name, e.text) == credential.Likely && credential.IsDrawn(e.text) {
					c.secrets = append(c.secrets, e.text)
				}
			}
		}
	}
	slices.Sort(c.secrets)
	c.secrets = slices.Compact(c.secrets)
	for _, k := range c.Kustomizations {
		if k.Repo != nil {
			k.Repo.Lines().Know(c.secrets)
		}
	}
}

// scrub leaves out of what is said of a cluster the values that source lines hide: kustomize, Helm and
// parsers quote what they stumble over.
func (c *Cluster) scrub() {
	c.know()
	for _, k := range c.Kustomizations {
		if f := k.Failure; f != nil {
			f.Message = scrubbed(k.Repo, f.File, f.Message)
		}
		for i := range k.More {
			k.More[i].Message = scrubbed(k.Repo, k.More[i].File, k.More[i].Message)
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
