package reconcile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// chartKey identifies a chart in a source.
type chartKey struct {
	repo     *repository.Repository
	base, at string
	values   string
}

type loading struct {
	once  sync.Once
	chart *charts.Chart
	err   error
}

// chartOf returns the chart of a release, nil if it is not available locally. The error is why Flux could not load it.
func (r *releases) chartOf(w *walker, release *Release) (*charts.Chart, error) {
	spec := release.spec.Spec
	if ref := spec.ChartRef; ref != nil {
		namespace := cmp.Or(ref.Namespace, release.Object.Namespace)
		return r.referred(w, release, ref.Kind, namespace, ref.Name)
	}
	if spec.Chart == nil {
		return nil, nil
	}
	c := spec.Chart.Spec
	o := charts.Options{ValuesFiles: c.ValuesFiles, IgnoreMissing: c.IgnoreMissingValuesFiles}
	namespace := cmp.Or(c.SourceRef.Namespace, release.Object.Namespace)
	return r.fromSource(w, release, roots.Source{Kind: c.SourceRef.Kind, Namespace: namespace, Name: c.SourceRef.Name}, c.Chart, c.Version, o)
}

// referred returns the chart of an OCIRepository, ExternalArtifact or HelmChart.
func (r *releases) referred(w *walker, release *Release, kind, namespace, name string) (*charts.Chart, error) {
	key := roots.Source{Kind: kind, Namespace: namespace, Name: name}
	object := w.find(Identity{fluxapi.SourceGroup, kind, namespace, name})
	text := func(steps ...any) string {
		if object == nil {
			return ""
		}
		value, _ := object.Field(append([]any{"spec"}, steps...)...).(string)
		return value
	}
	switch kind {
	case "HelmChart":
		if object == nil {
			return nil, nil
		}
		from := roots.Source{Kind: text("sourceRef", "kind"), Namespace: namespace, Name: text("sourceRef", "name")}
		return r.fromSource(w, release, from, text("chart"), text("version"), charts.Options{ValuesFiles: textsIn(object.Field("spec", "valuesFiles"))})
	case "OCIRepository":
		if _, mapped := w.mapped[namespace+"/"+name]; mapped || object == nil {
			return r.fromFiles(w, release, key, ".", charts.Options{})
		}
		release.recordAsk(chartref.FromOCIRepository(object.Value))
		// A range takes precedence over a tag; without both, or with a filter, only the registry knows the version.
		version := cmp.Or(text("ref", "semver"), text("ref", "tag"))
		if version == "" || version == "latest" || text("ref", "semverFilter") != "" || strings.Contains(version+text("url"), "${") {
			return r.fetched(w, release)
		}
		return r.named(w, release, path.Base(text("url")), version)
	}
	return r.fromFiles(w, release, key, ".", charts.Options{})
}

func textsIn(list any) []string {
	items, _ := list.([]any)
	var texts []string
	for _, item := range items {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// fromSource returns a chart of a HelmRepository, or the chart at a path of another source.
func (r *releases) fromSource(w *walker, release *Release, key roots.Source, chart, version string, o charts.Options) (*charts.Chart, error) {
	if strings.Contains(chart+version, "${") {
		return nil, nil
	}
	if key.Kind != "HelmRepository" {
		return r.fromFiles(w, release, key, chart, o)
	}
	if repository := w.find(Identity{fluxapi.SourceGroup, key.Kind, key.Namespace, key.Name}); repository != nil {
		release.recordAsk(chartref.FromHelmRepository(repository.Value, chart, version))
	} else {
		release.Unfetchable = fmt.Sprintf("%s %s/%s is not among the cluster's objects", key.Kind, key.Namespace, key.Name)
	}
	found, err := r.named(w, release, path.Base(chart), version)
	if found == nil || err != nil || len(o.ValuesFiles) == 0 {
		return found, err
	}
	return bounds.Do(release.unit("merge of the values files"), func() (*charts.Chart, error) { return found.WithOwnValues(o) })
}

// named returns a chart of the library, or else the one that the lock names for a release's request.
func (r *releases) named(w *walker, release *Release, name, version string) (*charts.Chart, error) {
	found, err := r.library.Find(name, version)
	if other := (*charts.OtherVersionError)(nil); found != nil || err != nil && !errors.As(err, &other) {
		return found, err
	}
	if fetched, failed := r.fetched(w, release); fetched != nil || failed != nil {
		return fetched, failed
	}
	return nil, err
}

// recordAsk records a release's request to a source on the network, or why that cannot be fetched.
func (release *Release) recordAsk(ask chartref.Ask, err error) {
	if err != nil {
		release.Unfetchable = err.Error()
		return
	}
	release.Wanted = &ask
}

// fetched returns the chart that the lock names for a release's request, nil if it names none.
func (r *releases) fetched(w *walker, release *Release) (*charts.Chart, error) {
	if release.Wanted == nil {
		return nil, nil
	}
	return w.locked.chart(*release.Wanted)
}

// fromFiles returns the chart at a path of a source whose files are available locally.
func (r *releases) fromFiles(w *walker, release *Release, key roots.Source, at string, o charts.Options) (*charts.Chart, error) {
	w.resolving.Lock()
	from, gap := w.resolve(key)
	source := w.wanted[key]
	w.resolving.Unlock()
	switch {
	case gap != nil:
		if source != nil && source.uncached != "" {
			return nil, &missingError{source.uncached}
		}
		if source == nil || source.Unfetchable != "" { // else the source is fetched, and the chart with it
			release.Unfetchable = fmt.Sprintf("it is in %s %s/%s, which is not fetched; check it out and pass --source %[2]s/%[3]s=DIR", key.Kind, key.Namespace, key.Name)
		}
		return nil, nil
	case from == nil:
		release.Unfetchable = fmt.Sprintf("%s %s/%s is not among the cluster's objects", key.Kind, key.Namespace, key.Name)
		return nil, nil
	}
	r.mu.Lock()
	of := chartKey{from.Repo, from.Base, at, strings.Join(o.ValuesFiles, "\n") + fmt.Sprint(o.IgnoreMissing)}
	one := r.loaded[of]
	if one == nil {
		one = &loading{}
		r.loaded[of] = one
	}
	r.mu.Unlock()
	one.once.Do(func() {
		file := from.Repo.Named(path.Join(from.Base, repository.Clean(at)))
		one.chart, one.err = bounds.Do(bounds.Unit{Kind: "loading", File: file}, func() (*charts.Chart, error) {
			return charts.Folder{Repo: from.Repo, Base: from.Base, Library: r.library}.Load(at, o)
		})
	})
	if file := path.Join(from.Base, repository.Clean(at), "Chart.yaml"); errors.Is(one.err, fs.ErrNotExist) && from.Repo.Exists(file) {
		if w.ignoresItself(key) {
			return nil, nil
		}
		by := cmp.Or(from.Repo.LeftOutBy(file), "source-controller")
		return nil, fmt.Errorf("no chart for Flux at %q: %s excludes it from the source", at, by)
	}
	return one.chart, one.err
}

// ignoresItself reports whether a source may define itself which files its artifact leaves out, instead of
// source-controller's defaults and .sourceignore files.
func (w *walker) ignoresItself(key roots.Source) bool {
	if o := w.find(Identity{fluxapi.SourceGroup, key.Kind, key.Namespace, key.Name}); o != nil {
		return o.Field("spec", "ignore") != nil
	}
	root := w.cluster.Root.Object
	if root == nil {
		return true
	}
	value, err := root.Value()
	text, _ := json.Marshal(value)
	return err != nil || strings.Contains(string(text), "ignore")
}
