package main

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/fleetwright/fleetwright/internal/replace"
)

// writeFile writes a file completely or not at all.
func writeFile(name string, write func(io.Writer) error) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	base := filepath.Base(name)
	return replace.Whole(root, "."+base+"-"+rand.Text(), base, 0o644, func(f *os.File) error { return errors.Join(write(f), f.Chmod(0o644)) })
}
