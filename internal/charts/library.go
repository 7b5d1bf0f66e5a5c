package charts

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/ignore"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Library contains the charts in folders that the user names: unpacked charts and archives. It is safe
// for concurrent use.
type Library struct {
	dirs  []string
	once  sync.Once
	err   error
	books map[string][]*book // by chart name, the highest version first
}

// book is a chart of a library.
type book struct {
	version string
	semver  *semver.Version // nil if the version is not a semantic version
	dir     string
	path    string
	packed  bool

	once  sync.Once
	chart *Chart
	err   error
}

// Open opens folders of charts. It is an error if one cannot be read as a folder or contains no chart.
// Their content is read when the first chart is requested.
func Open(dirs ...string) (*Library, error) {
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%q is not a folder", dir)
		}
		found := false
		err = walkFolder(dir, limits.LibraryFiles, func([]byte, *book) error {
			found = true
			return fs.SkipAll
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		if !found {
			return nil, fmt.Errorf("there is no chart in %q: neither a folder with a Chart.yaml nor a .tgz that contains one", dir)
		}
	}
	return &Library{dirs: dirs}, nil
}

// Find returns the chart with a name and version, or the highest version in a range; "" is the highest
// version that is not a pre-release. It returns nil if there is no chart with that name. The error is
// an *OtherVersionError, or says why an existing chart cannot be loaded.
func (l *Library) Find(name, version string) (*Chart, error) {
	if l == nil || len(l.dirs) == 0 {
		return nil, nil
	}
	l.once.Do(l.index)
	if l.err != nil {
		return nil, l.err
	}
	b := pick(l.books[name], version)
	if b == nil && len(l.books[name]) > 0 {
		return nil, &OtherVersionError{Name: name, Want: version, Have: versions(l.books[name])}
	}
	if b == nil {
		return nil, nil
	}
	b.once.Do(func() {
		b.chart, b.err = bounds.Do(bounds.Unit{Kind: "loading", Name: "the chart " + strings.TrimSpace(name+" "+b.version)}, func() (*Chart, error) {
			return withDefinitions(b.load(l, 0))
		})
	})
	return b.chart, b.err
}

// OtherVersionError is a chart that is available only in other versions, the highest first.
type OtherVersionError struct {
	Name, Want string
	Have       []string
}

func (e *OtherVersionError) Error() string {
	const most = 3
	have := strings.Join(e.Have[:min(len(e.Have), most)], ", ")
	if more := len(e.Have) - most; more > 0 {
		have += fmt.Sprintf(" and %d more", more)
	}
	want := "a version that is not a pre-release"
	if e.Want != "" {
		want = "version " + e.Want
	}
	return fmt.Sprintf("chart %s is available locally in version %s, but not in %s", e.Name, have, want)
}

// versions returns the versions of some charts, each once.
func versions(books []*book) []string {
	var all []string
	for _, b := range books {
		if !slices.Contains(all, b.version) {
			all = append(all, b.version)
		}
	}
	return all
}

// dependency returns a chart that another one declares and doesn't contain, nil if it is not available locally.
func (l *Library) dependency(d *chart.Dependency, depth int) (*Chart, error) {
	if l == nil {
		return nil, nil
	}
	if depth > limits.Subcharts/2 {
		return nil, limitf("charts depend on each other over more than %d levels", limits.Subcharts/2)
	}
	l.once.Do(l.index)
	if b := pick(l.books[d.Name], d.Version); b != nil && l.err == nil {
		return b.load(l, depth)
	}
	return nil, l.err
}

// normal returns a version in the form of charts: without a leading v, and with the + that a tag cannot have.
func normal(version string) string {
	version = strings.ReplaceAll(strings.TrimSpace(version), "_", "+")
	if len(version) > 1 && (version[0] == 'v' || version[0] == 'V') && version[1] >= '0' && version[1] <= '9' {
		return version[1:]
	}
	return version
}

// SameVersion reports whether two versions of a chart are the same, however charts and registries spell them.
func SameVersion(a, b string) bool { return normal(a) == normal(b) }

func pick(books []*book, version string) *book {
	want := normal(version)
	for _, b := range books {
		if want != "" && normal(b.version) == want {
			return b
		}
	}
	// A registry's tag may lack the part after the +, or have it.
	bare, _, _ := strings.Cut(want, "+")
	for _, b := range books {
		if own, _, _ := strings.Cut(normal(b.version), "+"); want != "" && own == bare {
			return b
		}
	}
	constraint, err := semver.NewConstraint(cmp.Or(strings.TrimSpace(version), "*"))
	if err != nil {
		return nil
	}
	for _, b := range books {
		if b.semver != nil && constraint.Check(b.semver) {
			return b
		}
	}
	return nil
}

// Limits of a library.
const (
	mostBookFolder = 12 // levels of folders
)

// index finds the charts. The first folder with a version of a chart takes precedence.
func (l *Library) index() {
	l.books = map[string][]*book{}
	for _, dir := range l.dirs {
		if err := walkFolder(dir, limits.LibraryFiles, l.add); err != nil {
			l.err = fmt.Errorf("%s: %w", dir, err)
			return
		}
	}
	for _, books := range l.books {
		sorting.StableFunc(books, func(a, b *book) int {
			switch {
			case a.semver == nil || b.semver == nil:
				return strings.Compare(b.version, a.version)
			default:
				return b.semver.Compare(a.semver)
			}
		})
	}
}

// walkFolder visits the charts in a folder of up to most files and folders, each with its Chart.yaml. An error of visit
// ends it; fs.SkipAll ends it without one.
func walkFolder(dir string, most int, visit func(metadata []byte, b *book) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	seen := 0
	return fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		if seen++; seen > most {
			return limitf("the folder of charts %s contains more than %d files and folders", dir, most)
		}
		switch {
		case err != nil && p == ".":
			return err
		case err != nil:
			return nil //nolint:nilerr // a folder that cannot be read is not available
		case d.IsDir() && (d.Name() == ".git" || strings.Count(p, "/") > mostBookFolder):
			return fs.SkipDir
		case d.IsDir():
			data, err := readFile(root, path.Join(p, "Chart.yaml"), 1<<20)
			if err != nil {
				return nil //nolint:nilerr // a folder that is not a chart
			}
			return cmp.Or(visit(data, &book{dir: dir, path: p}), fs.SkipDir)
		case path.Ext(p) == ".tgz" && d.Type().IsRegular():
			data, err := readFile(root, p, limits.ArchiveBytes)
			if err != nil {
				return nil //nolint:nilerr // too large to be a chart
			}
			if metadata := chartYAML(data); metadata != nil {
				return visit(metadata, &book{dir: dir, path: p, packed: true})
			}
		}
		return nil
	})
}

// add adds a chart to the library, unless its Chart.yaml has no name. It always returns nil.
func (l *Library) add(metadata []byte, b *book) error {
	var m struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	if nodesOf(metadata) > limits.ChartText || yaml.Unmarshal(metadata, &m) != nil || m.Name == "" {
		return nil //nolint:nilerr // it is not a chart
	}
	b.version = m.Version
	b.semver, _ = semver.NewVersion(m.Version)
	l.books[m.Name] = append(l.books[m.Name], b)
	return nil
}

// chartYAML returns the Chart.yaml of an archive, nil if there is none.
func chartYAML(packed []byte) []byte {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	entries := tar.NewReader(io.LimitReader(unzipped, limits.ChartBytes))
	for {
		header, err := entries.Next()
		if err != nil {
			return nil
		}
		if name, err := innerName(header.Name); err == nil && name == "Chart.yaml" && header.Typeflag == tar.TypeReg {
			data, err := io.ReadAll(io.LimitReader(entries, 1<<20))
			if err != nil {
				return nil
			}
			return data
		}
	}
}

// readFile reads a regular file below a folder, and follows no link out of it.
func readFile(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	file, err := regular.OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = limitf("%s is larger than %d MB", name, limit>>20)
	}
	return data, err
}

// load reads the files of a chart, and finds the dependencies of an unpacked one.
func (b *book) load(l *Library, depth int) (*Chart, error) {
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	if b.packed {
		data, err := readFile(root, b.path, limits.ArchiveBytes)
		if err != nil {
			return nil, err
		}
		return loadPacked(data)
	}
	files, err := b.folder(root)
	if err != nil {
		return nil, err
	}
	c, err := Load(files)
	if err != nil {
		return nil, err
	}
	return c, c.complete(func(d *chart.Dependency) (*Chart, error) { return l.dependency(d, depth+1) })
}

func (b *book) folder(root *os.Root) (Files, error) {
	below, err := root.OpenRoot(b.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = below.Close() }()
	rules, err := ignoreRules(readFile(below, ignore.HelmIgnore, 1<<20))
	if err != nil {
		return nil, err
	}
	return gather(below.FS(), rules, func(name string) ([]byte, error) { return readFile(below, name, limits.ChartFileBytes) })
}

// gather returns the files of an unpacked chart that its .helmignore does not exclude.
func gather(of fs.FS, rules *ignore.Rules, read func(name string) ([]byte, error)) (Files, error) {
	files, left := Files{}, newRoom()
	err := fs.WalkDir(of, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		if rules.Ignore(p, named{d.Name(), d.IsDir()}) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := read(p)
		if err != nil {
			return err
		}
		if err := left.take(int64(len(data))); err != nil {
			return err
		}
		files[p] = bytes.TrimPrefix(data, byteOrderMark)
		return nil
	})
	return files, err
}
