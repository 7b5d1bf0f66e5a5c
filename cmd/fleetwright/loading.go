package main

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/render"
)

// loadRepository loads the repository in a command's folder.
func loadRepository(dir string) (*repository.Repository, error) {
	return loadNamed(dir, "")
}

// loadNamed loads a repository, with a name for messages.
func loadNamed(dir, name string) (*repository.Repository, error) {
	repo, err := repository.Load(dir, repository.Options{Name: name})
	if err != nil {
		return nil, &render.BadInput{Err: fmt.Errorf("reading the repository: %w", err), Hint: "name the folder that contains the Flux repository"}
	}
	return repo, nil
}

const formatYAML = "yaml"
