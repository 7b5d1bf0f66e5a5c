// Package replace replaces the content of files, all of them or none, with the journal and under
// the lock of package tree. It also writes single files, completely or not at all, which need no journal.
package replace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/tree"
)

// Change is the new content of one file.
type Change struct {
	File string
	// Old is the content of the file when it was read: if the content has changed since then, the file is not
	// replaced. Nil accepts any content.
	Old []byte
	New []byte
}

// Files replaces files in a folder, as [All] does. The paths are relative to the folder, with forward slashes, and must
// not lead out of it. was is the expected content of each file: if a file has other content, it is not replaced.
func Files(ctx context.Context, dir string, was, files map[string][]byte) error {
	var changes []Change
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%s: is outside of %s", name, dir)
		}
		changes = append(changes, Change{File: filepath.Join(dir, filepath.FromSlash(name)), Old: append([]byte{}, was[name]...), New: files[name]})
	}
	if _, err := Recover(ctx, dir); err != nil {
		return err
	}
	return All(ctx, changes)
}

// All replaces the content of files and keeps their modes: a reader sees the old or the new content. It does not follow
// a link at a file's path. If one file can't be written, or the context ends first, no file is replaced. After a kill,
// [Recover] finishes the write. A file that another program saves at the last moment is not replaced, and the error is
// a *tree.ChangedError with Written. Files below one root, as [Root] finds it, are written together. If there are
// several roots, nothing is written until all files can be.
func All(ctx context.Context, changes []Change) error {
	plans := map[string]*tree.Plan{}
	called := map[string]string{} // the caller's name of each file, by root and path
	for _, c := range changes {
		root, below, err := place(c.File)
		if err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
		step, err := c.step(filepath.Join(root, filepath.FromSlash(below)))
		if err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
		if plans[root] == nil {
			plans[root] = &tree.Plan{}
		}
		step.Path = below
		if called[root+"\x00"+below] == "" { // a file may be in changes twice
			plans[root].Steps = append(plans[root].Steps, step)
		}
		called[root+"\x00"+below] = c.File
	}
	var writes []tree.Write
	for _, root := range slices.Sorted(maps.Keys(plans)) {
		sorting.Func(plans[root].Steps, func(a, b tree.Step) int { return strings.Compare(a.Path, b.Path) })
		writes = append(writes, tree.Write{Dir: root, Plan: plans[root]})
	}
	return waiting(ctx, func() error { return tree.ApplyTogether(ctx, writes) })
}

// step returns the change of an existing file.
func (c Change) step(file string) (tree.Step, error) {
	info, err := os.Lstat(file)
	if err != nil {
		return tree.Step{}, err
	}
	if !info.Mode().IsRegular() {
		return tree.Step{}, errors.New("is not a regular file")
	}
	now, err := read(file)
	if err != nil {
		return tree.Step{}, err
	}
	if c.Old != nil && !bytes.Equal(now, c.Old) {
		return tree.Step{}, errors.New("changed after it was read: run the command again")
	}
	return tree.Step{Action: tree.Update, Old: now, New: append([]byte{}, c.New...)}, nil
}

// mostBytes is the maximum size of a file that is replaced.
const mostBytes = 16 << 20

func read(file string) (data []byte, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(data) > mostBytes {
		err = fmt.Errorf("is larger than %d MiB", mostBytes>>20)
	}
	return append([]byte{}, data...), err
}

// place returns the root of a file, and the file's path relative to it.
func place(file string) (root, below string, err error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return "", "", err
	}
	// The folder may be a link.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", err
	}
	root = rootOf(dir)
	rel, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(file)))
	return root, filepath.ToSlash(rel), err
}

// Root returns the folder that contains the journal for the files of a folder: the root of its Git repository,
// or else the folder of the nearest .sops.yaml, or else the folder itself. The next command finds it from
// any folder below it.
func Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	return rootOf(dir), nil
}

func rootOf(dir string) string {
	for _, mark := range []string{".git", ".sops.yaml"} {
		for at := dir; ; at = filepath.Dir(at) {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return dir
}

// Recovered describes the remains of an interrupted write in a folder.
type Recovered struct {
	Root string
	tree.Recovery
}

// Recover completes or reverts interrupted writes in the roots of folders. Folders that don't
// exist have nothing to recover.
func Recover(ctx context.Context, dirs ...string) ([]Recovered, error) {
	var all []Recovered
	for _, dir := range dirs {
		root, err := Root(dir)
		if err != nil || slices.ContainsFunc(all, func(r Recovered) bool { return r.Root == root }) {
			continue // reading the files of the folder reports the error
		}
		var found tree.Recovery
		if err := waiting(ctx, func() (err error) { found, err = tree.Recover(root); return err }); err != nil {
			return all, fmt.Errorf("finishing an interrupted write in %q: %w", root, err)
		}
		all = append(all, Recovered{root, found})
	}
	return all, nil
}

// All waits for other runs: several may encrypt files of one repository at the same time.
const (
	turns = 500
	turn  = 20 * time.Millisecond
)

func waiting(ctx context.Context, write func() error) error {
	for range turns {
		err := write()
		if !errors.Is(err, tree.ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(turn):
		}
	}
	return write()
}
