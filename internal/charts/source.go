package charts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"time"

	"github.com/Masterminds/semver/v3"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/ignore"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Folder is a folder of a repository that contains charts.
type Folder struct {
	Repo *repository.Repository
	// Base is the folder that the source contains: "." for the whole repository. Nothing outside of it is read.
	Base string
	// Library has dependencies that the folder does not contain; it may be nil.
	Library *Library
}

// Options for the chart of a HelmRelease.
type Options struct {
	// ValuesFiles are merged and replace the chart's own values.
	ValuesFiles []string
	// IgnoreMissing leaves out values files that do not exist.
	IgnoreMissing bool
}

// Load loads the chart at a path of the folder: a folder, or an archive. The error is a *LimitError,
// an fs.ErrNotExist, or the error of source-controller.
func (f Folder) Load(at string, o Options) (*Chart, error) { return withDefinitions(f.load(at, o)) }

func (f Folder) load(at string, o Options) (*Chart, error) {
	at = repository.Clean(at)
	if packed := f.path(at); path.Ext(at) == ".tgz" && f.Repo.Visible(packed) {
		data, err := f.read(packed)
		if err != nil {
			return nil, err
		}
		c, err := loadPacked(data)
		if err != nil {
			return nil, err
		}
		return f.withValues(c, o)
	}
	c, err := f.unpacked(at)
	if err != nil {
		return nil, err
	}
	err = c.complete(func(d *chart.Dependency) (*Chart, error) {
		if child, err := f.local(d, at); child != nil || err != nil {
			return child, err
		}
		return f.Library.dependency(d, 1)
	})
	if err != nil {
		return nil, err
	}
	return f.withValues(c, o)
}

func (f Folder) path(at string) string { return path.Join(f.Base, at) }

func (f Folder) read(file string) ([]byte, error) {
	data, err := f.Repo.ReadFile(file)
	if err == nil && len(data) > limits.ArchiveBytes {
		return nil, limitf("%s is larger than %d MB", file, limits.ArchiveBytes>>20)
	}
	return data, err
}

// unpacked loads the chart in a folder, without the files that its .helmignore excludes. Source: source-controller
// internal/helm/chart/secureloader.
func (f Folder) unpacked(at string) (*Chart, error) {
	root := f.path(at)
	if _, ok := f.Repo.ReadDir(root); !ok || !f.Repo.Visible(path.Join(root, "Chart.yaml")) {
		return nil, &missingError{at}
	}
	rules, err := ignoreRules(f.Repo.ReadFile(path.Join(root, ignore.HelmIgnore)))
	if err != nil {
		return nil, err
	}
	files, left := Files{}, newRoom()
	var walk func(dir string) error
	walk = func(dir string) error {
		names, _ := f.Repo.ReadDir(path.Join(root, dir))
		for _, name := range names {
			rel := path.Join(dir, name)
			file := path.Join(root, rel)
			_, isDir := f.Repo.ReadDir(file)
			if rules.Ignore(rel, named{name, isDir}) {
				continue
			}
			if isDir {
				if err := walk(rel); err != nil {
					return err
				}
				continue
			}
			data, err := f.read(file)
			if err != nil {
				return err
			}
			if err := left.take(int64(len(data))); err != nil {
				return err
			}
			files[rel] = bytes.TrimPrefix(data, byteOrderMark)
		}
		return nil
	}
	if err := walk("."); err != nil {
		return nil, err
	}
	return Load(files)
}

// missingError reports a chart that does not exist. It is an fs.ErrNotExist.
type missingError struct{ at string }

func (e *missingError) Error() string        { return fmt.Sprintf("there is no chart at %q", e.at) }
func (e *missingError) Is(target error) bool { return target == fs.ErrNotExist }

// ignoreRules returns the rules of a .helmignore, if it could be read.
func ignoreRules(data []byte, unread error) (*ignore.Rules, error) {
	rules := ignore.Empty()
	if unread == nil {
		var err error
		if rules, err = ignore.Parse(bytes.NewReader(data)); err != nil {
			return nil, fmt.Errorf("%s: %w", ignore.HelmIgnore, err)
		}
	}
	rules.AddDefaults()
	return rules, nil
}

// local returns a dependency that the chart at a path references by a path; nil for other dependencies. Source:
// source-controller internal/helm/chart, DependencyManager.
func (f Folder) local(d *chart.Dependency, at string) (*Chart, error) {
	place, isLocal := localPath(d, at)
	if !isLocal {
		return nil, nil
	}
	child, err := f.unpacked(place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the dependency %q: there is no chart at %q", d.Name, place)
	}
	if err != nil {
		return nil, fmt.Errorf("the dependency %q: %w", d.Name, err)
	}
	constraint, err := semver.NewConstraint(d.Version)
	if err != nil {
		return nil, fmt.Errorf("the dependency %q: the version %q: %w", d.Name, d.Version, err)
	}
	version, err := semver.NewVersion(child.Version)
	if err != nil || !constraint.Check(version) {
		return nil, fmt.Errorf("the dependency %q: %q has version %s, which %q does not allow", d.Name, place, child.Version, d.Version)
	}
	return child, nil
}

// complete adds the dependencies that are not in the charts folder of an unpacked chart, as far as they are available
// locally.
func (c *Chart) complete(find func(*chart.Dependency) (*Chart, error)) error {
	for _, d := range c.chart.Metadata.Dependencies {
		if slices.ContainsFunc(c.chart.Dependencies(), func(child *chart.Chart) bool { return child.Name() == d.Name || child.Name() == d.Alias }) {
			continue
		}
		found, err := find(d)
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		child := copied(found.chart)
		if d.Alias != "" {
			child.Metadata.Name = d.Alias
		}
		c.chart.AddDependency(child)
		c.size += found.size
	}
	return nil
}

// localPath returns the path of a dependency that a chart references by a path.
func localPath(d *chart.Dependency, at string) (string, bool) {
	if d.Repository == "" {
		return path.Join(at, "charts", d.Name), true
	}
	address, err := url.Parse(d.Repository)
	if err != nil || address.Scheme != "file" {
		return "", false
	}
	return repository.Clean(path.Join("/", at, address.Host, address.Path)), true
}

// withValues replaces the chart's values with the merged values files. Source: source-controller internal/helm/chart,
// mergeFileValues.
func (f Folder) withValues(c *Chart, o Options) (*Chart, error) {
	return c.withValues(o, func(name string) ([]byte, error) {
		file := f.path(repository.Clean(name))
		if !f.Repo.Visible(file) {
			return nil, fs.ErrNotExist
		}
		return f.read(file)
	})
}

// WithOwnValues uses values files of the chart itself instead of its values, as for a chart of a
// HelmRepository.
func (c *Chart) WithOwnValues(o Options) (*Chart, error) {
	return withDefinitions(c.withValues(o, func(name string) ([]byte, error) {
		for _, file := range c.chart.Raw {
			if file.Name == path.Clean(name) {
				return file.Data, nil
			}
		}
		return nil, fs.ErrNotExist
	}))
}

func (c *Chart) withValues(o Options, read func(string) ([]byte, error)) (*Chart, error) {
	if len(o.ValuesFiles) == 0 {
		return c, nil
	}
	merged := map[string]any{}
	for _, name := range o.ValuesFiles {
		data, err := read(name)
		if errors.Is(err, fs.ErrNotExist) && o.IgnoreMissing {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no values file %q", name)
		}
		if err != nil {
			return nil, fmt.Errorf("the values file %q: %w", name, err)
		}
		if nodesOf(data) > limits.ChartText {
			return nil, limitf("the values file %q is larger than any known one", name)
		}
		own := map[string]any{}
		if err := yaml.Unmarshal(data, &own); err != nil {
			return nil, fmt.Errorf("the values file %q: %w", name, err)
		}
		merged = loader.MergeMaps(merged, own)
	}
	own := copied(c.chart)
	own.Values = merged
	other := newChart(own)
	other.size = c.size
	return other, nil
}

// named is a file or folder for ignore rules.
type named struct {
	name string
	dir  bool
}

func (n named) Name() string       { return n.name }
func (n named) Size() int64        { return 0 }
func (n named) ModTime() time.Time { return time.Time{} }
func (n named) IsDir() bool        { return n.dir }
func (n named) Sys() any           { return nil }
func (n named) Mode() fs.FileMode {
	if n.dir {
		return fs.ModeDir
	}
	return 0
}
