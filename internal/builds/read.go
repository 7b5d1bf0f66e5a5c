package builds

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/internal/repository"
)

var errReadOnly = fmt.Errorf("a validated repository is not written to: %w", os.ErrPermission)

// content returns the content of a file. For fetched files, it reports gaps and remotes at the paths at which builds see
// the files.
func (f *Files) content(file string) *content {
	if other, at := f.at(file); other != f {
		own := other.content(at)
		c := &content{data: own.data, err: own.err, vars: own.vars, gaps: slices.Clone(own.gaps), remotes: slices.Clone(own.remotes)}
		prefix := strings.TrimSuffix(file, at)
		if refused := (*fileError)(nil); errors.As(own.err, &refused) {
			c.err = &fileError{file: prefix + refused.file, err: refused.err}
		}
		for i := range c.gaps {
			c.gaps[i].File = prefix + c.gaps[i].File
		}
		for i := range c.remotes {
			c.remotes[i].File = prefix + c.remotes[i].File
		}
		return c
	}
	loaded, _ := f.read.LoadOrStore(file, &content{})
	c := loaded.(*content)
	c.once.Do(func() { f.load(file, c) })
	return c
}

func (f *Files) load(file string, c *content) {
	known, isKnown := f.Repo.File(file)
	if isKnown && known.Err != nil && known.Err.Reason != repository.NotYAML {
		c.err = Limited(known.Err)
		return
	}
	if isKnown && known.Err != nil && known.Err.Endless {
		c.data = []byte("a: b: c\n") // no YAML: kustomize refuses it, too, and does not follow the alias
		return
	}
	if c.data, c.err = f.Repo.ReadFile(file); c.err != nil {
		if unread := (*repository.Error)(nil); errors.As(c.err, &unread) && (unread.Reason == repository.TooLarge || unread.Reason == repository.Unreadable) {
			c.err = Limited(c.err)
		}
		return
	}
	if !isKnown && bytes.IndexByte(c.data, '&') >= 0 && bytes.IndexByte(c.data, '*') >= 0 {
		// kustomize reads files of any name as YAML.
		if err := f.Repo.Check(string(c.data)); err != nil {
			c.err = Limited(err)
		}
	}
	if err := patches.CountSelectors(c.data); err != nil {
		c.err = &LimitError{Err: err}
		return
	}
	if !repository.IsKustomization(file) {
		return
	}
	var k types.Kustomization
	if err := yaml.Unmarshal(c.data, &k); err != nil {
		return // kustomize reports the error
	}
	for _, text := range inline(&k) {
		if err := f.Repo.Check(text); err != nil {
			c.err = Limited(err)
			return
		}
	}
	for _, name := range k.Vars { //nolint:staticcheck // older repositories use it
		c.vars = append(c.vars, name.Name)
	}
	if n := doublings(&k); n > limits.Doublings {
		c.err = &LimitError{Err: fmt.Errorf("%d replacements insert a field into itself", n)}
		return
	}
	dir := path.Dir(file)
	if f.Contained {
		if c.err = contained(dir, file, &k); c.err != nil {
			return
		}
	}
	c.gaps, c.remotes = f.sanitize(dir, file, &k)
	c.gaps = append(c.gaps, omit(f.Repo, dir, file, &k)...)
	if f.recovers {
		c.missing = leaveOut(&view{Files: f}, dir, file, &k)
	}
	if len(c.gaps)+len(c.missing) > 0 {
		notEmpty(&k)
	}
	if len(c.gaps)+len(c.remotes)+len(c.missing) > 0 {
		c.data, c.err = yaml.Marshal(k)
	}
}

// doublings returns how often the replacements of a kustomization insert a field into itself, which doubles its text.
func doublings(k *types.Kustomization) (n int) {
	for _, r := range k.Replacements {
		for _, t := range r.Targets {
			if r.Source == nil || t == nil || t.Select == nil || t.Options == nil || t.Options.Delimiter == "" {
				continue
			}
			same := (t.Select.Kind == "" || t.Select.Kind == r.Source.Kind) && (t.Select.Name == "" || t.Select.Name == r.Source.Name)
			if same && slices.Contains(t.FieldPaths, r.Source.FieldPath) {
				n++
			}
		}
	}
	return n
}

// contained returns an error if an entry of a kustomization is a path outside of the repository.
func contained(dir, file string, k *types.Kustomization) error {
	for _, ref := range slices.Concat(k.Resources, k.Components, k.Bases) { //nolint:staticcheck // older repositories use it
		if _, inside := repository.Join(dir, ref); !inside && !chartref.IsRemote(ref) {
			return &fileError{file: file, err: fmt.Errorf("%q is outside the repository", firstLine(ref))}
		}
	}
	return nil
}

// ReadFile reads a file. It returns an error if the build has read too much or its time is over.
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
		if v.out.touches(rel) && c.err == nil {
			c = &content{data: v.out.apply(rel, c.data), vars: c.vars, gaps: c.gaps, remotes: c.remotes, missing: c.missing}
		}
	}
	return c.data, v.note(rel, len(c.data), c)
}

// note counts a file that was read, with its size in bytes. It returns an error if the build has read too much or if the
// content can't be read.
func (v *view) note(rel string, size int, c *content) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.seen[rel] {
		v.seen[rel] = true
		v.gaps = append(v.gaps, c.gaps...)
		v.remotes = append(v.remotes, c.remotes...)
		v.missing = append(v.missing, c.missing...)
	}
	v.count++
	v.bytes += size
	if repository.IsKustomization(rel) {
		v.kustomizations++
	}
	err := c.err
	switch {
	case v.ctx.Err() != nil:
		err = &LimitError{Err: v.ctx.Err()}
	case v.count > limits.Reads:
		err = &LimitError{Err: fmt.Errorf("the build reads files more than %d times", limits.Reads)}
	case v.kustomizations > limits.BuiltFolders:
		err = &LimitError{Err: fmt.Errorf("the build reads kustomizations more than %d times", limits.BuiltFolders)}
	case v.bytes > limits.TotalBytes:
		err = &LimitError{Err: fmt.Errorf("the build reads more than %d MB", limits.TotalBytes>>20)}
	case v.vars.add(c.vars, c.data) > limits.Inserted:
		err = &LimitError{Err: fmt.Errorf("its vars may insert texts of more than %d MB", limits.Inserted>>20)}
	}
	if refused := (*fileError)(nil); errors.As(err, &refused) && v.refused == nil {
		v.refused = refused
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

// CleanedAbs splits a path into its folder and its file; the file is "" if the path is a folder.
func (v *view) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	clean := path.Clean(filepath.ToSlash(name))
	if rel, ok := relative(clean); ok {
		clean = absolute(canonical(rel))
	}
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
	names, ok := v.names(rel)
	if !ok {
		return nil, notExist("open", name)
	}
	return names, nil
}

// Walk visits the files of a folder in the order of their names.
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
				return nil // SkipDir for a file: the rest of its folder is skipped
			}
			return err
		}
	}
	return nil
}

// Glob returns an error: kustomize uses it for tests only.
func (*view) Glob(string) ([]string, error) { return nil, errReadOnly }

// Open returns an error: kustomize uses ReadFile.
func (*view) Open(string) (filesys.File, error) { return nil, errReadOnly }

// Create returns an error: the file system is read-only.
func (*view) Create(string) (filesys.File, error) { return nil, errReadOnly }

// Mkdir returns an error: the file system is read-only.
func (*view) Mkdir(string) error { return errReadOnly }

// MkdirAll returns an error: the file system is read-only.
func (*view) MkdirAll(string) error { return errReadOnly }

// RemoveAll returns an error: the file system is read-only.
func (*view) RemoveAll(string) error { return errReadOnly }

// WriteFile returns an error: the file system is read-only.
func (*view) WriteFile(string, []byte) error { return errReadOnly }
