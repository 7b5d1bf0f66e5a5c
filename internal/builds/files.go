package builds

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	fluxkustomize "github.com/fluxcd/pkg/apis/kustomize"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// mount is where kustomize sees a repository: paths that lead out of it end beside it, where
// there is nothing.
const mount = "/repository"

// What one build may read; a kustomization that lists the same base again and again reads it
// as often.
const (
	mostReads     = 20_000
	mostReadBytes = 64 << 20
)

// Files are those of a source, as kustomize sees them. They are read once and shared by all
// builds.
type Files struct {
	Repo *repository.Repository
	// Base is the folder that the source holds, "." for all of the repository.
	Base string
	// Wanted says of a file or folder whether what it holds is asked for; nil asks for all.
	Wanted func(at string) bool
	// Real are the paths in the validated repository of files that were copied from there.
	Real map[string]string
	// Budget is that of all builds.
	Budget *Budget

	read sync.Map // path → *content
	// lists of manifests in folders: path → *manifests; builds that were made: buildKey → *shared.
	lists  sync.Map
	builds sync.Map
	// what lists hold: files by plainKey → *plainFile, and kustomizations by path → *types.Kustomization.
	plain    sync.Map
	listings sync.Map
	// all are the files with nothing taken out, made when they are first needed.
	unpruned sync.Once
	all      *Files
}

// Origin is the path to name a file by in messages: that of the one that it was copied from.
func (f *Files) Origin(file string) string { return f.Repo.Named(cmp.Or(f.Real[file], file)) }

// Naming is Origin without the content of the files.
func (f *Files) Naming() func(file string) string {
	names := &Files{Repo: f.Repo, Real: f.Real}
	return names.Origin
}

// inside says whether a path is within what the source holds.
func (f *Files) inside(rel string) bool { return rel == f.Base || repository.Within(f.Base, rel) }

// content is a file as it is given to kustomize.
type content struct {
	once sync.Once
	data []byte
	err  error
	gaps []Gap
}

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

// LimitError is a limit of Fleetwright's, not of Flux's.
type LimitError struct{ Err error }

func (e *LimitError) Error() string { return e.Err.Error() }

// Limited makes a limit of what the repository says of a file or text; a gap tells the place.
func Limited(err error) error {
	if known := (*repository.Error)(nil); errors.As(err, &known) {
		err = errors.New(known.Message)
	}
	return &LimitError{err}
}

// view is what one build sees: the files, with a kustomization of its own.
type view struct {
	*Files
	ctx context.Context
	// overlay is the path of the kustomization that Flux writes, and own what it writes.
	overlay string
	own     *types.Kustomization
	// manifest is what the kustomization is generated of, nil where there is one.
	manifest *manifests
	// patches are those that the Flux Kustomization adds.
	patches []fluxkustomize.Patch

	mu    sync.Mutex
	seen  map[string]bool
	count int
	bytes int
	gaps  []Gap
	// missed says that something was looked for that isn't there.
	missed bool
	// limit is what the build goes beyond, and limited the file where it does, "" for the
	// build as a whole.
	limit   error
	limited string
}

// relative turns a path of kustomize's into one of the repository.
func relative(name string) (string, bool) {
	name = path.Clean(filepath.ToSlash(name))
	if name == mount {
		return ".", true
	}
	return strings.CutPrefix(name, mount+"/")
}

// absolute is the reverse of relative.
func absolute(name string) string { return path.Join(mount, name) }

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

// filesRead are the paths of the files that were read, sorted.
func (v *view) filesRead() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	read := make([]string, 0, len(v.seen))
	for file := range v.seen {
		read = append(read, file)
	}
	slices.Sort(read)
	return read
}

func (v *view) isFile(rel string) bool {
	return rel == v.overlay || v.inside(rel) && v.Repo.Visible(rel)
}

// IsDir says whether there is a folder at a path.
func (v *view) IsDir(name string) bool {
	rel, ok := relative(name)
	if !ok || !v.inside(rel) {
		return false
	}
	_, ok = v.Repo.ReadDir(rel)
	return ok
}

// Exists says whether there is a file or folder at a path.
func (v *view) Exists(name string) bool {
	rel, ok := relative(name)
	return ok && (v.isFile(rel) || v.IsDir(name))
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

var errReadOnly = fmt.Errorf("a validated repository is not written to: %w", os.ErrPermission)

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
