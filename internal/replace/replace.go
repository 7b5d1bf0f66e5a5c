// Package replace writes files anew, wherever they are: all of them or none, by the
// journal and under the lock of package tree.
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

	"github.com/fleetwright/fleetwright/internal/tree"
)

// Change is what one file shall hold.
type Change struct {
	File string
	// Old is what the file held when it was read: one that holds something else by now is not
	// replaced. Nil takes the file as it is.
	Old []byte
	New []byte
}

// Files replaces files in a folder, as [All] does. The paths are from the folder, with forward
// slashes, and never lead out of it. Each file must still hold what was read of it.
func Files(ctx context.Context, dir string, was, files map[string][]byte) error {
	var changes []Change
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%s: leads out of %s", name, dir)
		}
		changes = append(changes, Change{File: filepath.Join(dir, filepath.FromSlash(name)), Old: append([]byte{}, was[name]...), New: files[name]})
	}
	if _, err := Recover(ctx, dir); err != nil {
		return err
	}
	return All(ctx, changes)
}

// All replaces files, each with its mode: a reader sees the old or the new one. A link in a file's
// place is not followed. Where one can't be written, or the context ends before all can be, none
// is. After a kill, [Recover] finishes what was begun. A file that somebody saves in the last
// moment stays as it was saved, and the error is a *tree.ChangedError with Written.
//
// Files of one root, as [Root] finds it, are one write. Those of several are written when it is
// sure that all can be.
func All(ctx context.Context, changes []Change) error {
	plans := map[string]*tree.Plan{}
	called := map[string]string{} // by root and path
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
		if called[root+"\x00"+below] == "" { // a file may be named twice
			plans[root].Steps = append(plans[root].Steps, step)
		}
		called[root+"\x00"+below] = c.File
	}
	var writes []tree.Write
	for _, root := range slices.Sorted(maps.Keys(plans)) {
		slices.SortFunc(plans[root].Steps, func(a, b tree.Step) int { return strings.Compare(a.Path, b.Path) })
		writes = append(writes, tree.Write{Dir: root, Plan: plans[root]})
	}
	return waiting(ctx, func() error { return tree.ApplyTogether(ctx, writes) })
}

// step is the change of a file that exists.
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
		return tree.Step{}, errors.New("was changed since it was read: run the command again")
	}
	return tree.Step{Action: tree.Update, Old: now, New: append([]byte{}, c.New...)}, nil
}

// mostBytes is more than any file that is replaced.
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

// place finds the root of a file, and the way from there to it.
func place(file string) (root, below string, err error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return "", "", err
	}
	// A folder may be named by a link to it.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", err
	}
	root = rootOf(dir)
	rel, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(file)))
	return root, filepath.ToSlash(rel), err
}

// Root is the folder whose journal the files in a folder are written by: that of the Git repository
// around it, or else of the nearest .sops.yaml, or else itself. The next command finds it from
// wherever in it it is started.
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

// Recovered is what a write that was cut off left in a folder.
type Recovered struct {
	Root string
	tree.Recovery
}

// Recover finishes what was cut off in the roots of folders, or takes it back. Folders that don't
// exist have nothing to recover.
func Recover(ctx context.Context, dirs ...string) ([]Recovered, error) {
	var all []Recovered
	for _, dir := range dirs {
		root, err := Root(dir)
		if err != nil || slices.ContainsFunc(all, func(r Recovered) bool { return r.Root == root }) {
			continue // who reads files of the folder says what is wrong with it
		}
		var found tree.Recovery
		if err := waiting(ctx, func() (err error) { found, err = tree.Recover(root); return err }); err != nil {
			return all, fmt.Errorf("finishing an interrupted write in %q: %w", root, err)
		}
		all = append(all, Recovered{root, found})
	}
	return all, nil
}

// Another run is waited for: several may encrypt files of one repository at once.
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
