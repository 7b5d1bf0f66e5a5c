package main

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/render"
)

// loadRepository loads the folder of a command.
func loadRepository(dir string) (*repository.Repository, error) {
	return loadNamed(dir, "")
}

// loadNamed loads a repository that messages name.
func loadNamed(dir, name string) (*repository.Repository, error) {
	repo, err := repository.Load(dir, repository.Options{Name: name})
	if err != nil {
		return nil, &render.BadInput{Err: fmt.Errorf("reading the repository: %w", err), Hint: "name the folder with the Flux repository"}
	}
	return repo, nil
}

const formatYAML = "yaml"
