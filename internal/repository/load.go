package repository

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/fluxcd/pkg/sourceignore"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
)

// Options of a load.
type Options struct {
	// Name is what messages put before the paths of the files: a relative folder, or "" for
	// the repository that they are about.
	Name string
	// Limits of what loading may cost; the zero value is the defaults.
	Limits Limits
}

// Load reads the folder at root. Files that cannot be read, are no YAML or go
// beyond a limit are recorded in File.Err. It fails when the folder itself
// cannot be read or holds more files than the limit.
func Load(root string, opts Options) (*Repository, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%q is not a folder", root)
	}
	limits := opts.Limits.withDefaults()
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	found, odd, err := walk(dir, limits)
	bounds.GrowRun(len(found) * entryBytes)
	if err != nil {
		return nil, err
	}
	if err := boundParsed(found, limits); err != nil {
		return nil, fmt.Errorf("%s: %w", dir.Name(), err)
	}
	r := load(found, folder{root}, folderAt{dir}, limits)
	r.name, r.odd = opts.Name, odd
	return r, nil
}

// FromFiles loads files that are in memory: path (relative, with forward
// slashes) and content. The content is kept and must not be changed.
func FromFiles(files iter.Seq2[string, []byte], opts Options) (*Repository, error) {
	m := memory{}
	sizes := func(yield func(string, int64) bool) {
		for p, data := range files {
			if _, twice := m[p]; !twice {
				m[p] = data
			}
			if !yield(p, int64(len(data))) {
				return
			}
		}
	}
	return from(sizes, m, opts)
}

// FromReader loads files that are elsewhere: path (relative, with forward slashes) and size. Read
// reads one of them, at any time, also from several goroutines, and none above the limits. It fails when
// a file that may hold documents cannot be read, but for those that exceed a bound.
func FromReader(sizes iter.Seq2[string, int64], read func(path string) ([]byte, error), opts Options) (*Repository, error) {
	r := reader{sizes: maps.Collect(sizes), one: read, failed: &failure{}}
	repo, err := from(sizes, r, opts)
	r.failed.mu.Lock()
	defer r.failed.mu.Unlock()
	if err = errors.Join(err, r.failed.err); err != nil {
		return nil, err
	}
	return repo, nil
}

// from loads files of a source that is no folder.
func from(sizes iter.Seq2[string, int64], src source, opts Options) (*Repository, error) {
	limits := opts.Limits.withDefaults()
	seen := map[string]bool{}
	var found []entry
	for p, size := range sizes {
		if !fs.ValidPath(p) || p == "." || strings.Contains(p, `\`) {
			return nil, fmt.Errorf("%q is not a path inside of a repository: it must be relative, without \"..\"", p)
		}
		if seen[p] {
			return nil, fmt.Errorf("%q is given twice", p)
		}
		seen[p] = true
		found = append(found, entry{path: p, size: size})
	}
	slices.SortFunc(found, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	if len(found) > limits.Files {
		return nil, fmt.Errorf("more than %d files", limits.Files)
	}
	if err := boundParsed(found, limits); err != nil {
		return nil, err
	}
	r := load(found, src, src, limits)
	r.name = opts.Name
	return r, nil
}

// walk lists the regular files of a folder, sorted, and what is neither file nor folder. It doesn't
// follow symlinks, since source-controller leaves them out of an artifact.
func walk(dir *os.Root, limits Limits) (found []entry, odd map[string]bool, err error) {
	odd = map[string]bool{}
	seen := 0
	err = fs.WalkDir(dir.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if seen++; seen > limits.Files {
			return fmt.Errorf("%s: more than %d files and folders", dir.Name(), limits.Files)
		}
		switch {
		case err != nil && p == ".":
			return err
		case err != nil:
			found = append(found, entry{path: p, err: err})
			return nil //nolint:nilerr // told in File.Err; the rest is loaded
		case d.Name() == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && strings.Count(p, "/") >= limits.Depth:
			// Each file in it costs as many steps as it is deep.
			found = append(found, entry{path: p, err: &Error{Reason: TooDeep, Message: fmt.Sprintf("is not read: folders nest deeper than %d", limits.Depth)}})
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			odd[p] = true
			return nil
		}
		info, err := d.Info()
		if err != nil {
			found = append(found, entry{path: p, err: err})
			return nil //nolint:nilerr // told in File.Err; the rest is loaded
		}
		found = append(found, entry{path: p, size: info.Size()})
		return nil
	})
	return found, odd, err
}

// load parses the documents among the files found. Keep is what ReadFile will
// read from, src what the load reads from.
func load(found []entry, keep, src source, limits Limits) *Repository {
	r := &Repository{src: keep, limits: limits, paths: make(map[string]int64, len(found)), charts: map[string]bool{}, hidden: map[string]bool{}}
	r.untracked = sync.OnceValue(r.findUntracked)
	ignores, large := map[string][]byte{}, []string{}
	for _, e := range found {
		if e.err != nil {
			continue
		}
		r.paths[e.path] = e.size
		switch path.Base(e.path) {
		case sourceignore.IgnoreFile:
			data, err := src.read(e.path, mostIgnoreBytes)
			if err == nil {
				ignores[path.Dir(e.path)] = data
			} else if e.size > mostIgnoreBytes {
				large = append(large, path.Dir(e.path))
			}
		case "Chart.yaml":
			r.charts[path.Dir(e.path)] = true
		}
	}
	ignore := newIgnore()
	for _, dir := range large {
		ignore.exceed(dir, "is larger than "+megabytes(mostIgnoreBytes))
	}
	for _, dir := range slices.Sorted(maps.Keys(ignores)) {
		ignore.add(dir, ignores[dir])
	}
	for _, e := range found {
		if e.err == nil && ignore.matches(e.path) {
			r.hidden[e.path] = true
		}
	}
	r.bare = ignore.bare(r.hidden)
	jobs := documents(found, limits)
	limits.TotalNodes = limits.totalNodes(found)
	budget := nodeBudget{left: limits.TotalNodes}
	bounds.Parallel(context.Background(), len(jobs), func(i int) { jobs[i].load(src, limits, &budget) })
	boundTotal(jobs, limits)
	for _, j := range jobs {
		if j.skip {
			continue
		}
		j.file.Excluded = r.hidden[j.file.Path] || ignore.matches(j.file.Path)
		r.files = append(r.files, j.file)
	}
	r.beyond = ignore.exceeded()
	r.index()
	return r
}

// boundParsed refuses more files that may hold documents than are parsed.
func boundParsed(found []entry, limits Limits) error {
	parsed := 0
	for _, e := range found {
		if e.err == nil && holdsDocuments(e.path) {
			parsed++
		}
	}
	if parsed > limits.Parsed {
		return fmt.Errorf("%d YAML and JSON files; up to %d are read: run the command on a part of the repository, such as the folder of a cluster", parsed, limits.Parsed)
	}
	return nil
}

// job is a file to parse.
type job struct {
	file *File
	skip bool
}

// documents picks the files that hold documents and refuses those beyond the
// limits by their size alone.
func documents(found []entry, limits Limits) []*job {
	var jobs []*job
	total := int64(0)
	for _, e := range found {
		// A folder that cannot be read may hold documents.
		if e.err == nil && !holdsDocuments(e.path) {
			continue
		}
		f := &File{Path: e.path, Size: e.size}
		switch limit := (*Error)(nil); {
		case errors.As(e.err, &limit):
			f.Err = &Error{Reason: limit.Reason, Path: e.path, Message: limit.Message}
		case e.err != nil:
			f.Err = &Error{Reason: Unreadable, Path: e.path, Message: "cannot be read: " + cause(e.err)}
		case e.size > limits.FileBytes:
			f.Err = &Error{Reason: TooLarge, Path: e.path,
				Message: fmt.Sprintf("is %s; files up to %s are read", megabytes(e.size), megabytes(limits.FileBytes))}
		case total+e.size > limits.TotalBytes:
			f.Err = &Error{Reason: TooLarge, Path: e.path,
				Message: fmt.Sprintf("is not read: the YAML files before it come to %s, the limit", megabytes(limits.TotalBytes))}
		default:
			total += e.size
		}
		jobs = append(jobs, &job{file: f})
	}
	return jobs
}

// cause is an error without the path, which is the root's on this machine.
func cause(err error) string {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

func (j *job) load(src source, limits Limits, budget *nodeBudget) {
	f := j.file
	isJSON := path.Ext(f.Path) == ".json"
	if f.Err != nil {
		j.skip = isJSON
		return
	}
	data, err := src.read(f.Path, limits.FileBytes)
	if limit := (*Error)(nil); errors.As(err, &limit) && (limit.Reason.IsLimit() || limit.Reason == Exceeded) {
		f.Err = limit
		return
	}
	if err != nil {
		f.Err = &Error{Reason: Unreadable, Path: f.Path, Message: "cannot be read: " + cause(err)}
		return
	}
	if isJSON && (!bytes.Contains(data, []byte(`"apiVersion"`)) || !bytes.Contains(data, []byte(`"kind"`))) {
		j.skip = true
		return
	}
	f.Marked = bytes.Contains(data, []byte(finding.CommentMarker))
	estimate := nodeEstimate(data)
	if estimate > limits.FileNodes || !budget.take(estimate) {
		f.Err = &Error{Reason: TooLarge, Path: f.Path,
			Message: fmt.Sprintf("holds up to %d values; files up to %d, and %d in all files, are read",
				estimate, limits.FileNodes, limits.TotalNodes)}
		return
	}
	bounds.Grow(len(data))
	if err := bounds.Do(bounds.Unit{Kind: "file", File: f.Path}, func() error { parse(f, data, limits); return nil }); err != nil {
		f.Documents, f.Err = nil, &Error{Reason: Exceeded, Path: f.Path, Message: err.Error()}
		return
	}
	parsed := int64(0)
	for _, d := range f.Documents {
		parsed += countNodes(d.node)
	}
	budget.put(estimate - parsed)
	f.fold(data, parsed, limits)
}

// boundTotal refuses the files that come to more than the limits with those before
// them.
func boundTotal(jobs []*job, limits Limits) {
	var total expanded
	for _, j := range jobs {
		f := j.file
		if f.added == (expanded{}) {
			continue
		}
		total.add(f.added)
		if err := total.exceeds(limits); err != nil {
			err.Path, err.Line, err.Column = f.Path, 1, 1
			f.Documents, f.Err = nil, err
		}
	}
}

// countNodes counts a node and those below it, aliases not followed.
func countNodes(n *yaml.Node) int64 {
	count := int64(1)
	for _, child := range n.Content {
		count += countNodes(child)
	}
	return count
}

// nodeBudget is what is left of Limits.TotalNodes. Files are loaded side by
// side, so that which of them exceeds it may differ between runs; a repository
// that large is refused file by file, not silently.
type nodeBudget struct {
	mu   sync.Mutex
	left int64
}

// put gives back what was taken and not needed.
func (b *nodeBudget) put(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}

func (b *nodeBudget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

// memory holds files by path.
type memory map[string][]byte

func (m memory) read(p string, limit int64) ([]byte, error) {
	data, ok := m[p]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(p, int64(len(data)), limit)
	}
	return data, nil
}

// reader reads files by a function.
type reader struct {
	sizes  map[string]int64
	one    func(path string) ([]byte, error)
	failed *failure
}

// failure is the first error that is no limit.
type failure struct {
	mu  sync.Mutex
	err error
}

func (r reader) read(p string, limit int64) ([]byte, error) {
	size, ok := r.sizes[p]
	if !ok {
		return nil, fs.ErrNotExist
	}
	if size > limit {
		return nil, tooLarge(p, size, limit)
	}
	data, err := r.one(p)
	if exceeded := (*bounds.Error)(nil); errors.As(err, &exceeded) {
		return nil, &Error{Reason: Exceeded, Path: p, Message: exceeded.Error()}
	}
	if err == nil && int64(len(data)) > limit {
		return nil, tooLarge(p, int64(len(data)), limit)
	}
	if err != nil {
		r.failed.mu.Lock()
		defer r.failed.mu.Unlock()
		r.failed.err = cmp.Or(r.failed.err, err)
	}
	return data, err
}

// folder reads from a folder that it opens anew each time, so that a Repository
// holds no file open.
type folder struct{ path string }

func (f folder) read(p string, limit int64) ([]byte, error) {
	dir, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	return folderAt{dir}.read(p, limit)
}

// folderAt reads from an open folder. os.Root refuses what leads out of it.
type folderAt struct{ root *os.Root }

func (f folderAt) read(p string, limit int64) ([]byte, error) {
	// Non-blocking, since opening a named pipe would wait for ever.
	file, err := f.root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Reason: Unreadable, Path: p, Message: "is not a regular file"}
	}
	if info.Size() > limit {
		return nil, tooLarge(p, info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(p, int64(len(data)), limit)
	}
	return data, nil
}

func tooLarge(p string, size, limit int64) *Error {
	return &Error{Reason: TooLarge, Path: p,
		Message: fmt.Sprintf("is %s; files up to %s are read", megabytes(size), megabytes(limit))}
}
