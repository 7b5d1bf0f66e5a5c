// Package replace writes files anew, all of them or none.
package replace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Change is what one file shall hold.
type Change struct {
	File string
	// Old is what the file held when it was read: one that holds something else by now is not
	// replaced. Nil is not compared.
	Old []byte
	New []byte
}

// Files replaces files in a folder, as [All] does. The paths are from the folder, with forward
// slashes, and never lead out of it.
func Files(ctx context.Context, dir string, files map[string][]byte) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var drafts drafts
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := drafts.add(ctx, root, name, Change{File: name, New: files[name]}); err != nil {
			return errors.Join(err, drafts.discard())
		}
	}
	return drafts.publish()
}

// All replaces files, each with its mode: a reader sees the old or the new one. No link is
// followed. Where one can't be written, or the context ends before all are, none is replaced.
func All(ctx context.Context, changes []Change) (err error) {
	roots := map[string]*os.Root{}
	defer func() {
		for _, root := range roots {
			err = errors.Join(err, root.Close())
		}
	}()
	var drafts drafts
	for _, c := range changes {
		dir, name := filepath.Split(c.File)
		dir = filepath.Clean(dir)
		root := roots[dir]
		if root == nil {
			opened, err := os.OpenRoot(dir)
			if err != nil {
				return errors.Join(err, drafts.discard())
			}
			root, roots[dir] = opened, opened
		}
		if err := drafts.add(ctx, root, name, c); err != nil {
			return errors.Join(err, drafts.discard())
		}
	}
	return drafts.publish()
}

// drafts are files that stand beside those that they are to replace. While one stands there,
// no other run replaces the same file.
type drafts []draft

type draft struct {
	root               *os.Root
	name, temp, called string
}

// add writes a draft, unless the file isn't what it was when it was read.
func (d *drafts) add(ctx context.Context, root *os.Root, name string, c Change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.write(root, name, c); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	return nil
}

func (d *drafts) write(root *os.Root, name string, c Change) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("is not a regular file")
	}
	temp := path.Join(path.Dir(name), "."+path.Base(name)+".fleetwright")
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("another run is writing it, or was cut off: remove %s", temp)
	}
	if err != nil {
		return err
	}
	*d = append(*d, draft{root, name, temp, c.File})
	_, err = file.Write(c.New)
	if err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Sync(), file.Close()); err != nil {
		return err
	}
	if c.Old == nil {
		return nil
	}
	now, err := root.ReadFile(name)
	if err == nil && !bytes.Equal(now, c.Old) {
		err = errors.New("was changed since it was read: run the command again")
	}
	return err
}

// publish puts all drafts in the place of their files.
func (d *drafts) publish() error {
	for i, one := range *d {
		if err := one.root.Rename(one.temp, one.name); err != nil {
			rest := (*d)[i:]
			err = fmt.Errorf("%s: %w", one.called, err)
			if i > 0 {
				err = fmt.Errorf("%w; %d files before it are replaced", err, i)
			}
			return errors.Join(err, rest.discard())
		}
	}
	return nil
}

// discard removes the drafts.
func (d *drafts) discard() error {
	var failed error
	for _, one := range *d {
		failed = errors.Join(failed, one.root.Remove(one.temp))
	}
	return failed
}
