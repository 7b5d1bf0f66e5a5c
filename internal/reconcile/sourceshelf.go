package reconcile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/artifact"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/lock"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// SourceShelf loads the files of sources by the digest of their archives, each once. It is safe for concurrent use.
type SourceShelf struct {
	read func(digest string) ([]byte, error)

	mu   sync.Mutex
	kept map[lock.Source]*shelvedSource
}

type shelvedSource struct {
	once sync.Once
	repo *repository.Repository
	err  error
}

// NewSourceShelf returns a shelf that reads archives with a function.
func NewSourceShelf(read func(digest string) ([]byte, error)) *SourceShelf {
	return &SourceShelf{read: read, kept: map[lock.Source]*shelvedSource{}}
}

// load returns the files of a fetched source. The error is fs.ErrNotExist if the archive does not exist.
func (s *SourceShelf) load(entry lock.Source) (*repository.Repository, error) {
	s.mu.Lock()
	one := s.kept[entry]
	if one == nil {
		one = &shelvedSource{}
		s.kept[entry] = one
	}
	s.mu.Unlock()
	one.once.Do(func() {
		data, err := s.read(entry.SHA256)
		if err != nil {
			one.err = err
			return
		}
		name := entryName(entry)
		if entry.Kind == chartref.File {
			name = path.Dir(name)
		}
		one.repo, one.err = bounds.Do(bounds.Unit{Kind: "loading", Name: "the source " + name}, func() (*repository.Repository, error) {
			files, err := artifact.Unpack(data)
			if err != nil {
				return nil, err
			}
			return repository.FromFiles(maps.All(files), repository.Options{Name: name, Artifact: true})
		})
	})
	return one.repo, one.err
}

// entryName returns the name of a source for messages: github.com/org/app@main.
func entryName(entry lock.Source) string {
	revision, _, found := strings.Cut(entry.Revision, "@")
	if commit, ok := strings.CutPrefix(revision, "sha1:"); ok && !found {
		revision = commit[:min(len(commit), 12)]
	}
	if digest, ok := strings.CutPrefix(revision, "sha256:"); ok && entry.Kind == chartref.Bucket {
		revision = digest[:min(len(digest), 12)]
	}
	if revision == "" {
		return entry.Short()
	}
	return entry.Short() + "@" + revision
}

// fetchedSources are the fetched sources of one reconciliation.
type fetchedSources struct {
	shelf  *SourceShelf
	budget *builds.Budget
	// remotes finds the fetched files for remote entries of kustomization files.
	remotes *builds.Remotes

	mu    sync.Mutex
	files map[lock.Source]*builds.Files
}

func newFetchedSources(shelf *SourceShelf, budget *builds.Budget) *fetchedSources {
	return &fetchedSources{shelf: shelf, budget: budget, remotes: &builds.Remotes{}, files: map[lock.Source]*builds.Files{}}
}

// source returns the files that the lock names for a source, or why they are not available: "" if the lock names none.
func (l locked) source(ask chartref.Source) (files *builds.Files, why string) {
	if l.lock == nil || l.sources.shelf == nil {
		if l.err != nil {
			why = l.err.Error()
		}
		return nil, why
	}
	entry, found := l.lock.FindSource(ask)
	if !found {
		return nil, ""
	}
	repo, err := l.sources.shelf.load(entry)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Sprintf("%s is locked, but not in the cache; run fleetwright fetch", entryName(entry))
	case err != nil:
		return nil, fmt.Sprintf("%s cannot be read: %v", entryName(entry), err)
	}
	l.sources.mu.Lock()
	defer l.sources.mu.Unlock()
	files = l.sources.files[entry]
	if files == nil {
		l.sources.budget.Include(repo)
		files = &builds.Files{Repo: repo, Base: ".", Budget: l.sources.budget, Remotes: l.sources.remotes, Contained: true}
		l.sources.files[entry] = files
	}
	return files, ""
}

// repositories returns the repositories of the used sources, sorted by name.
func (f *fetchedSources) repositories() []*repository.Repository {
	var all []*repository.Repository
	for _, files := range f.files {
		all = append(all, files.Repo)
	}
	sorting.Func(all, func(a, b *repository.Repository) int { return cmp.Compare(a.Named("."), b.Named(".")) })
	return all
}
