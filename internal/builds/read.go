package builds

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// What one build may read; a kustomization that lists the same base again and again reads it
// as often.
const (
	mostReads     = 20_000
	mostReadBytes = 64 << 20
)

var errReadOnly = fmt.Errorf("a validated repository is not written to: %w", os.ErrPermission)

func (f *Files) content(file string) *content {
	loaded, _ := f.read.LoadOrStore(file, &content{})
	c := loaded.(*content)
	c.once.Do(func() { f.load(file, c) })
	return c
}

func (f *Files) load(file string, c *content) {
	if known, ok := f.Repo.File(file); ok && known.Err != nil && known.Err.Reason != repository.NotYAML {
		c.err = Limited(known.Err)
		return
	}
	if c.data, c.err = f.Repo.ReadFile(file); c.err != nil {
		if unread := (*repository.Error)(nil); errors.As(c.err, &unread) && unread.Reason == repository.TooLarge {
			c.err = Limited(c.err)
		}
		return
	}
	if _, checked := f.Repo.File(file); !checked && bytes.IndexByte(c.data, '&') >= 0 && bytes.IndexByte(c.data, '*') >= 0 {
		// kustomize reads files of any name as YAML.
		if err := f.Repo.Check(string(c.data)); err != nil {
			c.err = Limited(err)
		}
	}
	if err := patches.CountSelectors(c.data); err != nil {
		c.err = &LimitError{err}
		return
	}
	if !repository.IsKustomization(file) {
		return
	}
	var k types.Kustomization
	if err := yaml.Unmarshal(c.data, &k); err != nil {
		return // kustomize says why
	}
	for _, text := range inline(&k) {
		if err := f.Repo.Check(text); err != nil {
			c.err = Limited(err)
			return
		}
	}
	dir := path.Dir(file)
	c.gaps = slices.Concat(sanitize(f.Repo, dir, file, &k), omit(f.Repo, dir, file, &k))
	if pruned := f.prune(dir, &k); pruned || len(c.gaps) > 0 {
		c.data, c.err = yaml.Marshal(k)
	}
}

// ReadFile reads a file. It fails when the build has read too much, or its time is over.
func (v *view) ReadFile(name string) ([]byte, error) {
	rel, ok := relative(name)
	if !ok || !v.isFile(rel) {
		v.miss(rel)
		return nil, notExist("open", name)
	}
	c := &content{}
	if rel == v.overlay {
		c.data, c.err = yaml.Marshal(v.own)
	} else {
		c = v.content(rel)
	}
	return c.data, v.note(rel, len(c.data), c)
}

// note counts that a file of so many bytes was read, and says why that was too much or why the
// content can't be read.
func (v *view) note(rel string, size int, c *content) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.seen[rel] {
		v.seen[rel] = true
		v.gaps = append(v.gaps, c.gaps...)
	}
	v.count++
	v.bytes += size
	err := c.err
	switch {
	case v.ctx.Err() != nil:
		err = &LimitError{v.ctx.Err()}
	case v.count > mostReads:
		err = &LimitError{fmt.Errorf("the build reads files more than %d times", mostReads)}
	case v.bytes > mostReadBytes:
		err = &LimitError{fmt.Errorf("the build reads more than %d MB", mostReadBytes>>20)}
	}
	var limit *LimitError
	if errors.As(err, &limit) && v.limit == nil {
		v.limit = limit
		if c.err != nil {
			v.limited = rel
		}
	}
	return err
}

// CleanedAbs splits a path into its folder and its file, "" where it is a folder.
func (v *view) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	switch {
	case v.IsDir(clean):
		return filesys.ConfirmedDir(clean), "", nil
	case v.Exists(clean):
		return filesys.ConfirmedDir(path.Dir(clean)), path.Base(clean), nil
	}
	if rel, ok := relative(name); ok {
		v.miss(rel)
	}
	return "", "", notExist("stat", name)
}

// ReadDir lists a folder.
func (v *view) ReadDir(name string) ([]string, error) {
	rel, ok := relative(name)
	if !ok {
		return nil, notExist("open", name)
	}
	names, ok := v.Repo.ReadDir(rel)
	if !ok {
		return nil, notExist("open", name)
	}
	return names, nil
}

// Walk visits a folder in the order of names.
func (v *view) Walk(name string, visit filepath.WalkFunc) error {
	err := v.walk(path.Clean(name), visit)
	if errors.Is(err, filepath.SkipDir) || errors.Is(err, filepath.SkipAll) {
		return nil
	}
	return err
}

func (v *view) walk(name string, visit filepath.WalkFunc) error {
	dir := v.IsDir(name)
	if !dir && !v.Exists(name) {
		return visit(name, nil, notExist("lstat", name))
	}
	err := visit(name, info{path.Base(name), dir}, nil)
	if !dir || err != nil {
		if dir && errors.Is(err, filepath.SkipDir) {
			return nil
		}
		return err
	}
	names, err := v.ReadDir(name)
	if err != nil {
		return visit(name, info{path.Base(name), dir}, err)
	}
	for _, child := range names {
		if err := v.walk(path.Join(name, child), visit); err != nil {
			if errors.Is(err, filepath.SkipDir) {
				return nil // of a file: the rest of its folder is left out
			}
			return err
		}
	}
	return nil
}

// Glob matches nothing: kustomize uses it for tests only.
func (*view) Glob(string) ([]string, error) { return nil, errReadOnly }

// Open refuses: kustomize reads with ReadFile.
func (*view) Open(string) (filesys.File, error) { return nil, errReadOnly }

// Create refuses.
func (*view) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir refuses.
func (*view) Mkdir(string) error { return errReadOnly }

// MkdirAll refuses.
func (*view) MkdirAll(string) error { return errReadOnly }

// RemoveAll refuses.
func (*view) RemoveAll(string) error { return errReadOnly }

// WriteFile refuses.
func (*view) WriteFile(string, []byte) error { return errReadOnly }
