package repository

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/fluxcd/pkg/sourceignore"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/parallel"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Options configure how a repository is loaded.
type Options struct {
	// Name is the prefix of the paths of files in messages: a relative folder, or "" for
	// the validated repository.
	Name string
	// Branch is the branch or tag of the files. Messages prefix paths with it as git does, BRANCH:PATH;
	// "" for a folder.
	Branch string
	// Limits of the cost of loading; zero values are replaced by the defaults.
	Limits Limits
	// Replace maps paths to content that Load uses instead of the files.
	Replace  map[string][]byte
	Artifact bool // the files come from an artifact: files that Flux does not see are already excluded
}

// Load reads the folder at root. Files that cannot be read, are not YAML or exceed a limit are
// recorded in File.Err. Load returns an error if the folder itself cannot be read or contains more
// files than the limit.
func Load(root string, opts Options) (*Repository, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%q is not a folder", root)
	}
	most := opts.Limits.withDefaults()
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	found, odd, err := walk(dir, most)
	if err != nil {
		return nil, err
	}
	if err := boundParsed(found, most); err != nil {
		return nil, fmt.Errorf("%s: %w", dir.Name(), err)
	}
	for i, e := range found {
		if data, ok := opts.Replace[e.path]; ok {
			found[i].size = int64(len(data))
		}
	}
	r := load(found, overlay{folder{root}, opts.Replace}, overlay{folderAt{dir}, opts.Replace}, most, opts.Artifact)
	r.name, r.odd = opts.Name, odd
	return r, nil
}

// FromFiles loads files in memory: paths (relative, with forward slashes) and content. It keeps the
// content, which must not be changed.
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

// FromReader loads files from elsewhere: paths (relative, with forward slashes) and sizes. read
// returns the content of a file; it may be called at any time, concurrently, and is not called for files above the limits.
// FromReader returns an error if a file that may contain documents cannot be read, unless it exceeds a bound.
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

// from loads the files of a source that is not a folder.
func from(sizes iter.Seq2[string, int64], src source, opts Options) (*Repository, error) {
	most := opts.Limits.withDefaults()
	seen := map[string]bool{}
	var found []entry
	for p, size := range sizes {
		if !fs.ValidPath(p) || p == "." || strings.Contains(p, `\`) {
			return nil, fmt.Errorf("%q is not a path inside of a repository: it must be relative, without \"..\"", p)
		}
		if seen[p] {
			return nil, fmt.Errorf("%q is set twice", p)
		}
		seen[p] = true
		found = append(found, entry{path: p, size: size})
	}
	sorting.Func(found, func(a, b entry) int { return cmp.Compare(a.path, b.path) })
	if len(found) > most.Files {
		return nil, fmt.Errorf("more than %d files", most.Files)
	}
	if err := boundParsed(found, most); err != nil {
		return nil, err
	}
	r := load(found, src, src, most, opts.Artifact)
	r.name, r.branch = opts.Name, opts.Branch
	return r, nil
}

// walk returns the regular files of a folder, sorted, and the paths that are neither file nor folder. It doesn't
// follow symlinks, because source-controller excludes them from an artifact.
func walk(dir *os.Root, most Limits) (found []entry, odd map[string]string, err error) {
	odd = map[string]string{}
	seen := 0
	err = fs.WalkDir(dir.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if seen++; seen > most.Files {
			return fmt.Errorf("%s: more than %d files and folders", dir.Name(), most.Files)
		}
		switch {
		case err != nil && p == ".":
			return err
		case err != nil:
			found = append(found, entry{path: p, err: err})
			return nil //nolint:nilerr // File.Err reports it; the other files are loaded
		case d.Name() == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && strings.Count(p, "/") >= limits.Nesting:
			// A file costs as many steps as its path has folders.
			found = append(found, entry{path: p, err: &Error{Reason: TooDeep, Message: fmt.Sprintf("is not read: folders nest deeper than %d", limits.Nesting)}})
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			odd[p] = "is not a regular file"
			if d.Type()&fs.ModeSymlink != 0 {
				odd[p] = "is a symbolic link"
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			found = append(found, entry{path: p, err: err})
			return nil //nolint:nilerr // File.Err reports it; the other files are loaded
		}
		found = append(found, entry{path: p, size: info.Size()})
		return nil
	})
	return found, odd, err
}

// load parses the documents in the files found. ReadFile reads from keep, load from src. If
// artifact is set, Flux sees all files.
func load(found []entry, keep, src source, most Limits, artifact bool) *Repository {
	r := &Repository{src: keep, limits: most, paths: make(map[string]int64, len(found)), charts: map[string]bool{}, hidden: map[string]bool{}}
	r.untracked = sync.OnceValue(r.findUntracked)
	ignores, large := map[string][]byte{}, []string{}
	for _, e := range found {
		if e.err != nil {
			continue
		}
		r.paths[e.path] = e.size
		switch path.Base(e.path) {
		case sourceignore.IgnoreFile:
			data, err := src.read(e.path, limits.IgnoreBytes)
			if err == nil {
				ignores[path.Dir(e.path)] = data
			} else if e.size > limits.IgnoreBytes {
				large = append(large, path.Dir(e.path))
			}
		case "Chart.yaml":
			r.charts[path.Dir(e.path)] = true
		}
	}
	ignore := newIgnore()
	for _, dir := range large {
		ignore.exceed(dir, "is larger than "+megabytes(limits.IgnoreBytes))
	}
	for _, dir := range slices.Sorted(maps.Keys(ignores)) {
		ignore.add(dir, ignores[dir])
	}
	for _, e := range found {
		if e.err == nil && !artifact && ignore.matches(e.path) {
			r.hidden[e.path] = true
		}
	}
	r.bare = ignore.bare(r.hidden)
	jobs := documents(found, most)
	most.TotalNodes = most.totalNodes(found)
	budget := nodeBudget{left: most.TotalNodes}
	parallel.Each(len(jobs), func(i int) { jobs[i].load(src, most, &budget) })
	boundTotal(jobs, most)
	for _, j := range jobs {
		if j.skip {
			continue
		}
		j.file.Excluded = !artifact && (r.hidden[j.file.Path] || ignore.matches(j.file.Path))
		r.files = append(r.files, j.file)
	}
	r.beyond = ignore.exceeded()
	r.index()
	return r
}

// boundParsed returns an error if there are more files with documents than may be parsed.
func boundParsed(found []entry, most Limits) error {
	parsed := 0
	for _, e := range found {
		if e.err == nil && holdsDocuments(e.path) {
			parsed++
		}
	}
	if parsed > most.Parsed {
		return fmt.Errorf("%d YAML and JSON files; up to %d are read: run the command on a part of the repository, such as the folder of a cluster", parsed, most.Parsed)
	}
	return nil
}

// job is a file to parse.
type job struct {
	file *File
	skip bool
}

// documents returns the files that contain documents, and refuses files above the limits by their
// size alone.
func documents(found []entry, most Limits) []*job {
	var jobs []*job
	total := int64(0)
	for _, e := range found {
		// A folder that cannot be read may contain documents.
		if e.err == nil && !holdsDocuments(e.path) {
			continue
		}
		f := &File{Path: e.path, Size: e.size}
		switch limit := (*Error)(nil); {
		case errors.As(e.err, &limit):
			f.Err = &Error{Reason: limit.Reason, Path: e.path, Message: limit.Message}
		case e.err != nil:
			f.Err = unreadable(e.path, e.err)
		case e.size > limits.FileBytes:
			f.Err = &Error{Reason: TooLarge, Path: e.path,
				Message: fmt.Sprintf("is %s; files up to %s are read", megabytes(e.size), megabytes(limits.FileBytes))}
		case total+e.size > most.TotalBytes:
			f.Err = &Error{Reason: TooLarge, Path: e.path,
				Message: fmt.Sprintf("is not read: the YAML files before it reach the limit of %s", megabytes(most.TotalBytes))}
		default:
			total += e.size
		}
		jobs = append(jobs, &job{file: f})
	}
	return jobs
}

// cause returns an error without the path, which is absolute.
func cause(err error) string {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err.Error()
	}
	return err.Error()
}

// AccessHint is the hint for a file that the operating system does not let Fleetwright read.
const AccessHint = "grant the user that runs fleetwright read access to the file"

// unreadable returns why the operating system does not let a file be read.
func unreadable(path string, err error) *Error {
	e := &Error{Reason: Unreadable, Path: path, Message: "cannot be read: " + cause(err)}
	if errors.Is(err, fs.ErrPermission) {
		e.Hint = AccessHint
	}
	return e
}

func (j *job) load(src source, most Limits, budget *nodeBudget) {
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
		f.Err = unreadable(f.Path, err)
		return
	}
	if isJSON && (!bytes.Contains(data, []byte(`"apiVersion"`)) || !bytes.Contains(data, []byte(`"kind"`))) {
		j.skip = true
		return
	}
	f.Marked = bytes.Contains(data, []byte(finding.CommentMarker)) && !finding.IsOwn(data) // a report quotes the marker in the pages of rules
	estimate := nodeEstimate(data)
	if estimate > most.FileNodes || !budget.take(estimate) {
		f.Err = &Error{Reason: TooLarge, Path: f.Path,
			Message: fmt.Sprintf("holds up to %d values; files up to %d, and %d in all files, are read",
				estimate, most.FileNodes, most.TotalNodes)}
		return
	}
	read, err := bounds.Do(bounds.Unit{Kind: "file", File: f.Path}, func() (*File, error) {
		own := *f
		parse(&own, data, most)
		return &own, nil
	})
	if err != nil {
		f.Err = &Error{Reason: Exceeded, Path: f.Path, Message: err.Error()}
		return
	}
	f, j.file = read, read
	parsed := int64(0)
	for _, d := range f.Documents {
		parsed += countNodes(d.node)
	}
	budget.put(estimate - parsed)
}

// boundTotal refuses the files that exceed the limits of the repository together with those before
// them.
func boundTotal(jobs []*job, most Limits) {
	var total expanded
	for _, j := range jobs {
		f := j.file
		if f.added == (expanded{}) {
			continue
		}
		total.add(f.added)
		if err := total.exceeds(most); err != nil {
			err.Path, err.Line, err.Column = f.Path, 1, 1
			f.Documents, f.Err = nil, err
		}
	}
}

// countNodes returns the number of nodes at and below a node; it does not follow aliases.
func countNodes(n *yaml.Node) int64 {
	count := int64(1)
	for _, child := range n.Content {
		count += countNodes(child)
	}
	return count
}

// nodeBudget is the rest of Limits.TotalNodes. Files are loaded concurrently, so that the file which
// exceeds it may differ between runs; each file of a repository that large reports its refusal.
type nodeBudget struct {
	mu   sync.Mutex
	left int64
}

// put returns the part of a reservation that was not needed.
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
