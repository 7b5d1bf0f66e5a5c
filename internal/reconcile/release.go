package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/parallel"
)

// String returns the position and the message, as build prints them.
func (f *ReleaseFailure) String() string {
	switch {
	case f.Line > 0:
		return fmt.Sprintf("%s:%d: %s", f.Template, f.Line, f.Message)
	case f.Template != "":
		return f.Template + ": " + f.Message
	}
	return f.Message
}

const (
	waveSize = 4 // releases that are rendered concurrently
	// mostRounds is the maximum of rounds in which charts may render further HelmReleases.
	mostRounds = limits.Charts + 1
)

// releases renders the HelmReleases of all clusters, in the order in which they are found.
type releases struct {
	ctx     context.Context
	library *charts.Library
	bytes   int64
	counted map[*charts.Chart]bool
	results func() Results
	// fluxOnly restricts rendering to charts that may contain objects of Flux, unless one of them asks for available
	// kinds, which any other chart may define.
	fluxOnly bool

	mu     sync.Mutex
	loaded map[chartKey]*loading
	done   map[[sha256.Size]byte]*rendering
}

func newReleases(ctx context.Context, opts Options) *releases {
	return &releases{ctx: ctx, library: opts.Charts, results: opts.Results, fluxOnly: opts.FluxOnly, counted: map[*charts.Chart]bool{}, loaded: map[chartKey]*loading{}, done: map[[sha256.Size]byte]*rendering{}}
}

// render renders the HelmReleases among the clusters' objects, and follows the Kustomizations that they create, until a
// round finds nothing new.
func (r *releases) render(walkers []*walker) {
	for range mostRounds {
		var all []*Release
		of := map[*Release]*walker{}
		for _, w := range walkers {
			for _, release := range w.newReleases() {
				all, of[release] = append(all, release), w
			}
		}
		if len(all) == 0 {
			return
		}
		r.loadAll(all, of)
		r.chooseFluxOnly(all)
		for wave := range slices.Chunk(all, waveSize) {
			r.renderWave(wave, of)
		}
		var wg sync.WaitGroup
		for _, w := range walkers {
			wg.Go(w.walk)
		}
		wg.Wait()
	}
	for _, w := range walkers {
		for _, release := range w.newReleases() {
			limit := &charts.LimitError{What: fmt.Sprintf("charts install HelmReleases nested more than %d levels deep", mostRounds-1)}
			release.Unknown, release.Limit = "it is not rendered: "+limit.What, limit
		}
	}
}

// newReleases returns the HelmReleases of the cluster that are not in its list yet, and adds them; of several with one
// name, the first.
func (w *walker) newReleases() []*Release {
	known := map[Identity]bool{}
	var objects []*Object
	for _, release := range w.cluster.Releases {
		known[release.Object.Identity] = true
		objects = append(objects, release.Objects...)
	}
	for _, k := range w.cluster.Kustomizations {
		if k.Spec.KubeConfig == nil {
			objects = append(objects, k.Objects...)
		}
	}
	objects = append(objects, w.cluster.created...)
	var found []*Release
	for _, o := range objects {
		if o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease" && !known[o.Identity] {
			known[o.Identity] = true
			found = append(found, &Release{Object: o})
		}
	}
	w.cluster.Releases = append(w.cluster.Releases, found...)
	return found
}

// loadAll finds the charts, concurrently, and then adds to each cluster the kinds that they define: helm-controller
// creates these first.
func (r *releases) loadAll(all []*Release, of map[*Release]*walker) {
	for wave := range slices.Chunk(all, waveSize) {
		if r.bytes > limits.AllChartBytes {
			for _, release := range wave {
				release.Unknown = "its chart is not loaded: the other charts together exceed the size limit"
				release.Limit = &charts.LimitError{What: fmt.Sprintf("the charts of the repository are larger than %d MB", limits.AllChartBytes>>20)}
			}
			continue
		}
		parallel.Each(len(wave), func(i int) { wave[i].load(r, of[wave[i]]) })
		for _, release := range wave {
			if c := release.chart; c != nil && !r.counted[c] {
				r.counted[c] = true
				r.bytes += c.Size()
			}
		}
	}
	for _, release := range all {
		if release.chart != nil && release.spec.Spec.KubeConfig == nil {
			for _, definition := range release.chart.Definitions() {
				of[release].addDefinition(definition)
			}
		}
	}
}

// fluxWord is part of the API groups of Flux and its operator.
const fluxWord = "fluxcd"

// chooseFluxOnly switches to rendering all charts if a chart that may contain objects of Flux asks for available kinds.
func (r *releases) chooseFluxOnly(all []*Release) {
	r.fluxOnly = r.fluxOnly && !slices.ContainsFunc(all, func(release *Release) bool {
		return release.chart != nil && release.chart.AsksForKinds() && release.chart.Mentions(fluxWord)
	})
}

// wanted reports whether a release with composed values is rendered. It drops the values of one that is not.
func (release *Release) wanted(r *releases) bool {
	if !r.fluxOnly || release.chart.Mentions(fluxWord) {
		return true
	}
	text, err := json.Marshal(release.values.All)
	if err != nil || strings.Contains(string(text), fluxWord) {
		return true
	}
	release.values = nil
	return false
}

// load parses the HelmRelease and finds its chart.
func (release *Release) load(r *releases, w *walker) {
	var err error
	if release.spec, err = charts.ParseRelease(release.Object.Value); err != nil {
		return // the API server refuses it: a schema rule reports that
	}
	chart, err := r.chartOf(w, release)
	if limit := limitOf(err); limit != nil {
		release.Unknown, release.Limit = "its chart is not loaded: "+limit.Error(), limit
	} else if other := (*charts.OtherVersionError)(nil); errors.As(err, &other) {
		release.Unknown = "it is not rendered and not checked: " + other.Error()
	} else if missing := (*missingError)(nil); errors.As(err, &missing) {
		release.Unknown, release.Uncached = "it is not rendered and not checked: "+missing.Error(), true
	} else if err != nil {
		release.Failure = &ReleaseFailure{Message: err.Error()}
	}
	if chart == nil || err != nil {
		return
	}
	release.chart, release.Chart = chart, chart.String()
}

// unit returns a part of the work on a release, which has a guard of its own.
func (release *Release) unit(kind string) bounds.Unit {
	o := release.Object
	return bounds.Unit{Kind: kind, File: o.File, Line: o.Line, Name: fmt.Sprintf("%s %s/%s", o.Kind, o.Namespace, o.Name)}
}

// limitOf returns the exceeded limit in an error, which says nothing about what Flux would do; nil if there is none.
func limitOf(err error) error {
	var limit *charts.LimitError
	var exceeded *bounds.Error
	switch {
	case errors.As(err, &limit):
		return limit
	case errors.As(err, &exceeded):
		return exceeded
	}
	return nil
}

// renderWave renders some releases concurrently.
func (r *releases) renderWave(wave []*Release, of map[*Release]*walker) {
	if r.ctx.Err() != nil {
		return
	}
	for _, release := range wave {
		of[release].listKinds()
		if r.results != nil {
			of[release].collectSecrets()
		}
	}
	defer builds.HoldSchema()()
	keys := make([][sha256.Size]byte, len(wave))
	parallel.Each(len(wave), func(i int) {
		if wave[i].chart != nil && wave[i].compose(r, of[wave[i]]) && wave[i].wanted(r) {
			keys[i] = wave[i].key(of[wave[i]])
		}
	})
	// Which release a rendering is for must not depend on timing.
	for i, release := range wave {
		if release.values == nil {
			continue
		}
		if r.done[keys[i]] == nil {
			r.done[keys[i]] = &rendering{of: release}
		}
		release.rendering = r.done[keys[i]]
	}
	parallel.Each(len(wave), func(i int) {
		if wave[i].rendering != nil {
			wave[i].render(r, of[wave[i]])
		}
	})
	for _, release := range wave {
		of[release].followRelease(release)
	}
}

// compose merges the values of a release, and reports whether it succeeded.
func (release *Release) compose(r *releases, w *walker) bool {
	if len(release.Object.Unknown) > 0 {
		release.Unknown = fmt.Sprintf("the variable %s in the HelmRelease has an unknown value", strings.Join(release.Object.Unknown, ", "))
		return false
	}
	release.from = map[string]*Object{}
	for _, ref := range release.spec.Spec.ValuesFrom {
		release.from[ref.Kind+"/"+ref.Name] = w.find(Identity{Kind: ref.Kind, Namespace: release.Object.Namespace, Name: ref.Name})
	}
	var err error
	release.values, err = bounds.Do(release.unit("values composition"), func() (*charts.Values, error) { return charts.Compose(r.ctx, release.spec, release.data) })
	release.fail(err)
	return err == nil
}

// render renders a release whose values are composed.
func (release *Release) render(r *releases, w *walker) {
	one := release.rendering
	one.once.Do(func() {
		one.capabilities = charts.Capabilities{Kubernetes: charts.DefaultKubernetes, APIVersions: w.apiVersions}
		one.result, one.err = r.rendered(charts.Request{Release: release.spec, Chart: release.chart, Values: release.values,
			Capabilities: one.capabilities, Decode: builds.ValueOf, Unit: one.of.unit("")}, w.cluster.secrets)
	})
	release.Problems, release.Unchecked, release.ValuesLimit = one.result.Problems, one.result.Undecided, one.result.Limit
	if one.err == nil {
		release.addObjects(w, one.result)
	}
	release.fail(one.err)
	release.values = nil // they may be large
}

// key returns a hash that is equal for releases that render the same.
func (release *Release) key(w *walker) [sha256.Size]byte {
	hash := sha256.New()
	fmt.Fprintf(hash, "%p\n", release.chart)
	encoder := json.NewEncoder(hash)
	spec := release.spec.DeepCopy()
	spec.Spec.Values, spec.Spec.Chart, spec.Spec.ChartRef, spec.Spec.ValuesFrom = nil, nil, nil, nil
	_ = encoder.Encode(spec)
	_ = encoder.Encode(release.values.All)
	if release.chart.AsksForKinds() {
		_ = encoder.Encode(w.apiVersions)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// fail records why a release could not be rendered: a failure in Flux, or unknown offline.
func (release *Release) fail(err error) {
	var unknown *charts.UnknownError
	var template *charts.TemplateError
	switch limit := limitOf(err); {
	case err == nil:
	case limit != nil:
		release.Unknown, release.Limit = "it is not rendered: "+limit.Error(), limit
	case errors.As(err, &unknown):
		release.Unknown = unknown.Error()
	case errors.As(err, &template):
		release.Failure = &ReleaseFailure{template.Template, template.Line, template.Message, template.Chosen}
	default:
		release.Failure = &ReleaseFailure{Message: err.Error()}
	}
}

// addObjects sets the objects of a release from a rendering.
func (release *Release) addObjects(w *walker, result *charts.Result) {
	if release.spec.Spec.KubeConfig != nil {
		return // they go to another cluster
	}
	wide := map[[2]string]bool{} // kinds that the chart's own templates define
	for _, m := range result.Manifests {
		if kind, isWide := clusterScoped(m.Value); isWide {
			wide[kind] = true
		}
	}
	objects := func(manifests []charts.Manifest) (all []*Object) {
		for _, m := range manifests {
			all = append(all, release.object(w, m, wide))
		}
		return all
	}
	release.Definitions, release.Objects, release.Hooks = objects(result.Definitions), objects(result.Manifests), objects(result.Hooks)
}

// object returns an object that the chart of a release renders; objects of wide kinds have no namespace.
func (release *Release) object(w *walker, m charts.Manifest, wide map[[2]string]bool) *Object {
	o := &Object{
		Kustomization: release.Object.Kustomization, Value: m.Value, HelmRelease: release.Object, Template: m.Template, LooksUp: m.LooksUp,
		Place: release.Object.Place,
	}
	o.identify()
	if o.Namespace == "" && w.isNamespaced(o) && !wide[[2]string{o.Group, o.Kind}] {
		o.setNamespace(release.spec.GetReleaseNamespace())
	}
	return o
}

// failed reports whether the release's chart is available locally but its objects are unknown.
func (release *Release) failed() bool {
	return release.Failure != nil || release.Unknown != "" || len(release.Problems) > 0
}

// All returns the objects that helm-controller applies, in its order.
func (release *Release) All() []*Object { return slices.Concat(release.Definitions, release.Objects) }

// setNamespace sets the namespace of an object, whose value may be shared.
func (o *Object) setNamespace(namespace string) {
	value := make(map[string]any, len(o.Value))
	for name, field := range o.Value {
		value[name] = field
	}
	old, _ := value["metadata"].(map[string]any)
	metadata := map[string]any{"namespace": namespace}
	for name, field := range old {
		if name != "namespace" {
			metadata[name] = field
		}
	}
	value["metadata"], o.Value, o.Namespace = metadata, value, namespace
}

// followRelease indexes the objects of a release, and adds the Kustomizations among them.
func (w *walker) followRelease(release *Release) {
	for _, o := range release.All() {
		w.index[o.Identity] = append(w.index[o.Identity], o)
		w.addKinds(o)
		if o.isKustomization() {
			w.addKustomization(release.Object.Kustomization, o)
		}
	}
}

// data returns the values of a ConfigMap or Secret in the release's namespace.
func (release *Release) data(kind, _, name string) (charts.Data, bool) {
	o := release.from[kind+"/"+name]
	if o == nil {
		return charts.Data{}, false
	}
	d := charts.Data{Known: map[string]string{}}
	for key, e := range o.entries() {
		if e.known {
			d.Known[key] = e.text
		} else {
			d.Unknown = append(d.Unknown, key)
		}
	}
	return d, true
}

// Release returns the release of a HelmRelease with its rendered objects; nil if they are unknown.
func (c *Cluster) Release(o *Object) *Release {
	i := slices.IndexFunc(c.Releases, func(r *Release) bool { return r.Object == o })
	if i < 0 || c.Releases[i].Chart == "" || c.Releases[i].failed() {
		return nil
	}
	return c.Releases[i]
}
