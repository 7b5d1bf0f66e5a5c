package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/gitrepo"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// cloneOf returns a function that reads other branches and tags of the repository in a folder from its clone,
// each once. It opens the clone at the first call.
func cloneOf(dir string) reconcile.Clone {
	open := sync.OnceValue(func() *gitrepo.Clone {
		clone, _ := gitrepo.OpenClone(dir)
		return clone
	})
	read := map[string]*repository.Repository{}
	var mu sync.Mutex
	return func(ctx context.Context, url, ref string) (*repository.Repository, error) {
		clone := open()
		if clone == nil {
			return nil, nil
		}
		mu.Lock()
		defer mu.Unlock()
		if repo, known := read[ref]; known {
			return repo, nil
		}
		files, err := clone.ReadRef(ctx, ref, func(remote string) bool { return roots.RepositoryAddress(remote) == roots.RepositoryAddress(url) })
		if err != nil || files == nil {
			return nil, advised(err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/tags/")
		repo, err := repository.FromReader(files.Sizes(), files.ReadFile, repository.Options{Branch: name})
		if err != nil {
			return nil, advised(err)
		}
		read[ref] = repo
		return repo, nil
	}
}

// advised returns an error with its hint added to its message.
func advised(err error) error {
	if hint := advice.HintOf(err); hint != "" {
		return fmt.Errorf("%w: %s", err, hint)
	}
	return err
}
