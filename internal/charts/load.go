package charts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"github.com/fleetwright/fleetwright/internal/valueuse"
)

// Files are the files of a chart: path below the chart's folder → content.
type Files map[string][]byte

// Chart is a loaded chart. It is never changed.
type Chart struct {
	// Name and Version from Chart.yaml.
	Name, Version string
	// Digest of the archive, if the chart was loaded by digest, else "".
	Digest string

	chart *chart.Chart
	// size of its files, in bytes.
	size int64

	once sync.Once
	crds map[*common.File][]map[string]any
	// crdsError is why a file of a crds folder cannot be read.
	crdsError error

	usesOnce sync.Once
	reads    *valueuse.Reads // nil if unknown
}

// String returns the name and version.
func (c *Chart) String() string { return strings.TrimSpace(c.Name + " " + c.Version) }

// Size returns the size of its files in bytes.
func (c *Chart) Size() int64 { return c.size }

// AsksForKinds reports whether a template may query the API versions of the cluster. This includes templates that
// evaluate a text with tpl, which may be a value or another file.
func (c *Chart) AsksForKinds() bool {
	return slices.ContainsFunc(allTemplates(c.chart), func(t *common.File) bool {
		if bytes.Contains(t.Data, []byte("tpl")) {
			return true
		}
		asks := bytes.Count(t.Data, []byte("Capabilities"))
		return asks > bytes.Count(t.Data, []byte("Capabilities.KubeVersion"))+bytes.Count(t.Data, []byte("Capabilities.HelmVersion"))
	})
}

// Mentions reports whether a file of the chart, or of a chart in it, contains a text.
func (c *Chart) Mentions(text string) bool { return mentions(c.chart, []byte(text)) }

func mentions(c *chart.Chart, text []byte) bool {
	return slices.ContainsFunc(c.Raw, func(f *common.File) bool { return bytes.Contains(f.Data, text) }) ||
		slices.ContainsFunc(c.Dependencies(), func(child *chart.Chart) bool { return mentions(child, text) })
}

// Load creates a chart from its files. The error is a *LimitError, or the mistake in the
// chart.
func Load(files Files) (*Chart, error) {
	return loadFiles(files, 0)
}

// loadPacked loads a chart from an archive.
func loadPacked(data []byte) (*Chart, error) {
	files, err := unpack(data, newRoom())
	if err != nil {
		return nil, err
	}
	return loadFiles(files, 1)
}

// room is the size that a chart may still add.
type room struct {
	files int // including folders of archives
	bytes int64
}

func newRoom() *room { return &room{limits.ChartFiles, limits.ChartBytes} }

// take counts a file of some bytes. It returns an error if the chart becomes too large.
func (r *room) take(bytes int64) error {
	r.files--
	r.bytes -= bytes
	switch {
	case r.files < 0:
		return limitf("the chart has more than %d files", limits.ChartFiles)
	case r.bytes < 0:
		return limitf("the chart is larger than %d MB", limits.ChartBytes>>20)
	}
	return nil
}

// loadFiles loads a chart from files; depth is the number of charts that contain it.
func loadFiles(files Files, depth int) (*Chart, error) {
	all, err := unpackAll(files, newRoom(), depth)
	if err != nil {
		return nil, err
	}
	if err := checkValues(all); err != nil {
		return nil, err
	}
	buffered := make([]*archive.BufferedFile, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		buffered = append(buffered, &archive.BufferedFile{Name: name, Data: all[name]})
	}
	loaded, err := loader.LoadFiles(buffered)
	if err != nil {
		return nil, err
	}
	c := newChart(loaded)
	c.size = size(all)
	return c, nil
}

func newChart(loaded *chart.Chart) *Chart {
	order(loaded)
	return &Chart{Name: loaded.Name(), Version: loaded.Metadata.Version, chart: loaded}
}

// order sorts the dependencies, which Helm loads in the order of a map.
func order(c *chart.Chart) {
	all := slices.Clone(c.Dependencies())
	sorting.StableFunc(all, func(a, b *chart.Chart) int {
		return strings.Compare(a.Name()+" "+a.Metadata.Version, b.Name()+" "+b.Metadata.Version)
	})
	c.SetDependencies(all...)
	for _, each := range all {
		order(each)
	}
}

// checkValues refuses YAML that would take too much memory to read.
func checkValues(files Files) error {
	total := 0
	for name, data := range files {
		if base := path.Base(name); base == "values.yaml" || base == "Chart.yaml" || base == "Chart.lock" ||
			strings.HasPrefix(base, "requirements.") || strings.Contains(name, "crds/") {
			total += nodesOf(data)
		}
	}
	if total > limits.ChartValues {
		return limitf("the chart's values and CustomResourceDefinitions are larger than those of any known chart")
	}
	return nil
}

// nodesOf returns an upper bound of the YAML nodes in a text.
func nodesOf(data []byte) int {
	n := 0
	for _, b := range data {
		switch b {
		case '\n', ',', ':', '[', '{', '-', '?':
			n++
		}
	}
	return n
}

// unpackAll replaces the archives in charts folders with their files.
func unpackAll(files Files, left *room, depth int) (Files, error) {
	if depth > limits.Subcharts {
		return nil, limitf("charts are nested in each other more than %d levels deep", limits.Subcharts)
	}
	all := Files{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		if err := left.take(int64(len(data))); err != nil {
			return nil, err
		}
		dir, base := path.Split(name)
		if path.Ext(base) != ".tgz" || path.Base(path.Clean(dir)) != "charts" || strings.ContainsAny(base[:1], "_.") {
			all[name] = data
			continue
		}
		inner, err := unpack(data, left)
		if err == nil {
			inner, err = unpackAll(inner, left, depth+1)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		folder := path.Join(dir, strings.TrimSuffix(base, ".tgz")+".unpacked")
		for file, content := range inner {
			all[path.Join(folder, file)] = content
		}
	}
	return all, nil
}

var drive = regexp.MustCompile(`^[a-zA-Z]:/`)

// unpack reads an archive as Helm does: it removes the first element of each path, and refuses paths out of the archive.
// Source: helm.sh/helm/v4 pkg/chart/loader/archive, LoadArchiveFiles.
func unpack(data []byte, left *room) (Files, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("it is not a chart archive: %w", err)
	}
	// The archive's own overhead is bounded, too.
	packed := tar.NewReader(io.LimitReader(unzipped, limits.ChartBytes+(16<<20)))
	files := Files{}
	for {
		header, err := packed.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("it is not a chart archive: %w", err)
		}
		if header.FileInfo().IsDir() || header.Typeflag == tar.TypeXGlobalHeader || header.Typeflag == tar.TypeXHeader {
			if err := left.take(0); err != nil {
				return nil, err
			}
			continue
		}
		name, err := innerName(header.Name)
		if err != nil {
			return nil, err
		}
		if header.Size > limits.ChartFileBytes {
			return nil, limitf("%s is larger than %d MB", name, limits.ChartFileBytes>>20)
		}
		if err := left.take(header.Size); err != nil {
			return nil, err
		}
		content, err := io.ReadAll(io.LimitReader(packed, limits.ChartFileBytes))
		if err != nil {
			return nil, fmt.Errorf("it is not a chart archive: %w", err)
		}
		files[name] = bytes.TrimPrefix(content, byteOrderMark)
	}
	left.files, left.bytes = left.files+len(files), left.bytes+size(files) // the caller counts them again
	if len(files) == 0 {
		return nil, errors.New("the archive is empty")
	}
	return files, nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func size(files Files) int64 {
	var n int64
	for _, data := range files {
		n += int64(len(data))
	}
	return n
}

// innerName returns the path of an archive's file below the chart's folder.
func innerName(name string) (string, error) {
	name = strings.ReplaceAll(name, `\`, "/")
	first, rest, _ := strings.Cut(name, "/")
	clean := path.Clean(rest)
	switch {
	case first == "Chart.yaml":
		return "", errors.New("the archive contains Chart.yaml outside of a folder")
	case path.IsAbs(rest), clean == ".", clean == "..", strings.HasPrefix(clean, "../"), drive.MatchString(clean):
		return "", fmt.Errorf("the archive contains %q, which is outside of the chart's folder", name)
	}
	return clean, nil
}

// copied returns a copy of a chart for Helm's processing of dependencies, which changes it.
func copied(c *chart.Chart) *chart.Chart {
	own := *c
	metadata := *c.Metadata
	metadata.Dependencies = nil
	for _, d := range c.Metadata.Dependencies {
		if d == nil {
			continue
		}
		dependency := *d
		metadata.Dependencies = append(metadata.Dependencies, &dependency)
	}
	own.Metadata = &metadata
	own.SetDependencies()
	for _, child := range c.Dependencies() {
		own.AddDependency(copied(child))
	}
	return &own
}

// absent is the version of a placeholder for a dependency that is not available locally.
const absent = "0.0.0-absent"

// stub adds a placeholder for each declared dependency that does not exist: only those that the values enable are missed.
func stub(c *chart.Chart) {
	for _, d := range c.Metadata.Dependencies {
		if !slices.ContainsFunc(c.Dependencies(), func(child *chart.Chart) bool {
			return d.Alias != "" && child.Name() == d.Alias || child.Name() == d.Name && chartutil.IsCompatibleRange(d.Version, child.Metadata.Version)
		}) {
			d.Version = absent
			c.AddDependency(&chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: d.Name, Version: absent}})
		}
	}
	for _, child := range c.Dependencies() {
		if child.Metadata.Version != absent {
			stub(child)
		}
	}
}

// missed returns the name of an enabled dependency that is not available locally.
func missed(c *chart.Chart) (name string, found bool) {
	for _, child := range c.Dependencies() {
		if child.Metadata.Version == absent {
			return child.Name(), true
		}
		if name, found = missed(child); found {
			return name, true
		}
	}
	return "", false
}
