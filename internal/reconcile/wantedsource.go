package reconcile

import (
	"cmp"
	"fmt"
	"path"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// recordWanted records that the files of a source are used.
func (w *walker) recordWanted(key roots.Source, mapped bool) *WantedSource {
	if known := w.wanted[key]; known != nil {
		return known
	}
	found := w.find(Identity{fluxapi.SourceGroup, key.Kind, key.Namespace, key.Name})
	if found == nil {
		return nil
	}
	one := &WantedSource{Object: found, Mapped: mapped}
	var ask chartref.Source
	var err error
	switch key.Kind {
	case "GitRepository":
		ask, err = chartref.FromGitRepository(found.Value)
	case "OCIRepository":
		ask, err = chartref.FromArtifact(found.Value)
	case "Bucket":
		ask, err = chartref.FromBucket(found.Value)
	default:
		err = fmt.Errorf("a %s is not fetched", key.Kind)
	}
	if one.Ask = &ask; err != nil {
		one.Ask, one.Unfetchable = nil, err.Error()
	}
	w.wanted[key] = one
	w.cluster.Sources = append(w.cluster.Sources, one)
	return one
}

// fromCache returns the files of a fetched source, or why they are not available. It returns neither as long as a source
// that it includes is not found.
func (w *walker) fromCache(key roots.Source) (*builds.Files, *builds.Gap) {
	one := w.recordWanted(key, false)
	hint := fmt.Sprintf("check it out and pass --source %s/%s=DIR", key.Namespace, key.Name)
	why := "is another repository, branch or artifact; run fleetwright fetch, or " + hint
	switch {
	case one == nil || one.Unfetchable != "":
		why = "is another repository, branch or artifact; " + hint
	default:
		var files *builds.Files
		if files, one.uncached = w.locked.source(*one.Ask); files != nil {
			return w.including(key, one, files)
		}
		if one.uncached != "" {
			why = "is not available: " + one.uncached
		}
	}
	return nil, &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("its source %s %s/%s %s", key.Kind, key.Namespace, key.Name, why)}
}

// including adds the files of included GitRepositories to those of a GitRepository, as source-controller does.
func (w *walker) including(key roots.Source, one *WantedSource, own *builds.Files) (*builds.Files, *builds.Gap) {
	includes, _ := one.Object.Field("spec", "include").([]any)
	if len(includes) == 0 || key.Kind != "GitRepository" {
		return own, nil
	}
	if made, ok := w.artifacts[key]; ok {
		return made, nil
	}
	gap := func(why string) *builds.Gap {
		return &builds.Gap{Kind: builds.OtherSource, Message: fmt.Sprintf("its source %s %s/%s includes %s", key.Kind, key.Namespace, key.Name, why)}
	}
	if w.included[key] {
		return nil, gap("itself")
	}
	w.included[key] = true
	defer delete(w.included, key)
	c := copier{content: map[string][]byte{}, real: map[string]string{}, budget: w.own.Budget}
	if err := c.tree(own, ".", ""); err != nil {
		return nil, gap("a file that cannot be copied: " + err.Error())
	}
	for i := range includes {
		text := func(steps ...any) string {
			value, _ := one.Object.Field(append([]any{"spec", "include", i}, steps...)...).(string)
			return value
		}
		other := roots.Source{Kind: key.Kind, Namespace: key.Namespace, Name: text("repository", "name")}
		from, missing := w.resolve(other)
		if from == nil && missing == nil {
			return nil, nil
		}
		if missing != nil {
			return nil, gap(fmt.Sprintf("%s %s/%s: %s", other.Kind, other.Namespace, other.Name, missing.Message))
		}
		to := repository.Clean(cmp.Or(text("toPath"), other.Name))
		if err := c.tree(from, path.Join(from.Base, repository.Clean(text("fromPath"))), to); err != nil {
			return nil, gap(fmt.Sprintf("%s %s/%s: %v", other.Kind, other.Namespace, other.Name, err))
		}
	}
	made, err := c.artifact(one.Ask.Ignore, w.own)
	if err != nil {
		return nil, gap("a file that cannot be read: " + err.Error())
	}
	w.artifacts[key] = made
	return made, nil
}

// artifact returns the copied files without the ignored ones.
func (c *copier) artifact(ignore string, own *builds.Files) (*builds.Files, error) {
	var names []string
	for name := range c.content {
		names = append(names, name)
	}
	out, err := repository.LeftOut(names, func(name string) ([]byte, error) { return c.content[name], nil }, ignore)
	if err != nil {
		return nil, err
	}
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
		for name, data := range c.content {
			if !out[name] && !yield(name, data) {
				return
			}
		}
	}, repository.Options{Artifact: true})
	return &builds.Files{Repo: repo, Base: ".", Real: c.real, Budget: own.Budget, Remotes: own.Remotes}, err
}

func (c *Cluster) sortSources() {
	sorting.Func(c.Sources, func(a, b *WantedSource) int {
		return cmp.Or(cmp.Compare(a.Object.String(), b.Object.String()), cmp.Compare(a.Object.File, b.Object.File))
	})
}
