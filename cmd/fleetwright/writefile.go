package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

// writeFile writes a file completely or not at all.
func writeFile(name string, write func(io.Writer) error) error {
	defer bounds.Writing()()
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return err
	}
	err = errors.Join(write(file), file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
