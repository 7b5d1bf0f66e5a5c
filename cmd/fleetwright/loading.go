package main

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// loadRepository loads the repository in a command's folder.
func loadRepository(dir string) (*repository.Repository, error) {
	return loadNamed(dir, "")
}

// loadNamed loads a repository, with a name for messages.
func loadNamed(dir, name string) (*repository.Repository, error) {
	repo, err := repository.Load(dir, repository.Options{Name: name})
	if err != nil {
		return nil, advice.Input(fmt.Errorf("reading the repository: %w", err), "name the folder that contains the Flux repository")
	}
	return repo, nil
}

const formatYAML = "yaml"
