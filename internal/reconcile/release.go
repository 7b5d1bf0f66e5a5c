package reconcile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
)

// helmGroup is the group of HelmReleases.
const helmGroup = "helm.toolkit.fluxcd.io"

// Release is a HelmRelease and what its chart renders.
type Release struct {
	// Object is the HelmRelease.
	Object *Object
	// Chart is the name and version of its chart, "" where that is not at hand.
	Chart string
	// Objects of the release, without hooks; Definitions are the CustomResourceDefinitions in
	// the chart's crds folders, which are not part of it. A release to another cluster has
	// none.
	Objects, Definitions []*Object
	// Problems are values that the chart's schema refuses.
	Problems []charts.Problem
	// Failure is why helm-controller could not install it.
	Failure *ReleaseFailure
	// Unknown is why it cannot be known offline what it renders, "" where it is known, or
	// the chart is not at hand.
	Unknown string
	// Limit is the bound of Fleetwright's that the release goes beyond, a *charts.LimitError or a
	// *bounds.Error; nil where it goes beyond none. Unknown says the same in words.
	Limit error
	// Unchecked is why the values were not checked against the chart's schema, "" where they
	// were, or there is none. ValuesLimit is the bound for which they weren't, as Limit is.
	Unchecked   string
	ValuesLimit error

	spec  *helmv2.HelmRelease
	chart *charts.Chart
	// from are the ConfigMaps and Secrets that it takes values from, by KIND/NAME.
	from map[string]*Object
	// values of the release until it is rendered, and what it renders, which others may share.
	values    *charts.Values
	rendering *rendering
}

// ReleaseFailure is why helm-controller could not install a release.
type ReleaseFailure struct {
	// Template of the chart that fails, such as "podinfo/templates/service.yaml", and its
	// line; "" and 0 where it is none.
	Template string
	Line     int
	Message  string
	// Chosen says that the chart itself refuses, by fail or required.
	Chosen bool
}

// String is the place and the message, as build prints it.
func (f *ReleaseFailure) String() string {
	switch {
	case f.Line > 0:
		return fmt.Sprintf("%s:%d: %s", f.Template, f.Line, f.Message)
	case f.Template != "":
		return f.Template + ": " + f.Message
	}
	return f.Message
}

// Bounds of what all releases take, beside those of each (package bounds).
const (
	waveSize = 4 // releases that are rendered side by side
	// mostLoaded is what the files of all charts may take together, in bytes.
	mostLoaded = 128 << 20
	// releaseFactor is how many bytes of input a byte of a HelmRelease with a chart counts as where the run's
	// bounds grow, the first time that its document is rendered; each further time, for another cluster,
	// it counts as it is.
	releaseFactor = 4
	// mostRounds is how often what charts render may bring HelmReleases again.
	mostRounds = 5
)

// releases renders the HelmReleases of all clusters, in the order in which they are found.
type releases struct {
	ctx     context.Context
	library *charts.Library
	bytes   int64
	counted map[*charts.Chart]bool
	grown   map[string]bool // the documents that bounds grew with

	mu     sync.Mutex
	loaded map[chartKey]*loading
	done   map[[sha256.Size]byte]*rendering
}

// chartKey names a chart in a source.
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

// rendering is what several releases that are the same share: that of the first.
type rendering struct {
	once   sync.Once
	of     *Release
	result *charts.Result
	err    error
}

func newReleases(ctx context.Context, library *charts.Library) *releases {
	return &releases{ctx: ctx, library: library, counted: map[*charts.Chart]bool{}, grown: map[string]bool{}, loaded: map[chartKey]*loading{}, done: map[[sha256.Size]byte]*rendering{}}
}

// render renders what the clusters' objects hold, and walks on where that brings
// Kustomizations, until nothing new comes.
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
			limit := &charts.LimitError{What: fmt.Sprintf("charts bring HelmReleases more than %d times in a row", mostRounds-1)}
			release.Unknown, release.Limit = "it is not rendered: "+limit.What, limit
		}
	}
}

// newReleases are the HelmReleases of the cluster that are not taken up yet: of several of one
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
	var found []*Release
	for _, o := range objects {
		if o.Group == helmGroup && o.Kind == "HelmRelease" && !known[o.Identity] {
			known[o.Identity] = true
			found = append(found, &Release{Object: o})
		}
	}
	w.cluster.Releases = append(w.cluster.Releases, found...)
	return found
}

// loadAll finds the charts, side by side, and then tells each cluster the kinds that they
// bring: helm-controller creates them first.
func (r *releases) loadAll(all []*Release, of map[*Release]*walker) {
	for wave := range slices.Chunk(all, waveSize) {
		if r.bytes > mostLoaded {
			for _, release := range wave {
				release.Unknown = "its chart is not loaded: others of the repository are too large"
				release.Limit = &charts.LimitError{What: "the charts of the repository are larger than 128 MB"}
			}
			continue
		}
		parallel(len(wave), func(i int) { wave[i].load(r, of[wave[i]]) })
		for _, release := range wave {
			if c := release.chart; c != nil && !r.counted[c] {
				r.counted[c] = true
				r.bytes += c.Size()
			}
		}
	}
	for _, release := range all {
		if release.chart != nil {
			r.grow(release.Object)
		}
		if release.chart != nil && release.spec.Spec.KubeConfig == nil {
			for _, definition := range release.chart.Definitions() {
				of[release].learnDefinition(definition)
			}
		}
	}
}

// grow adds a HelmRelease to what the run's bounds grow with.
func (r *releases) grow(o *Object) {
	text, err := json.Marshal(o.Value)
	if err != nil {
		return
	}
	factor := 1
	if at := fmt.Sprintf("%s:%d", o.File, o.Line); !r.grown[at] {
		r.grown[at], factor = true, releaseFactor
	}
	bounds.GrowRun(factor * len(text))
}

// parallel runs work for 0…n-1 on all processors.
func parallel(n int, work func(int)) {
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			work(i)
		})
	}
	wg.Wait()
}

// load reads the HelmRelease and finds its chart.
func (release *Release) load(r *releases, w *walker) {
	var err error
	if release.spec, err = charts.ParseRelease(release.Object.Value); err != nil {
		return // the API server refuses it: a matter of schemas
	}
	chart, err := r.chartOf(w, release)
	if limit := limitOf(err); limit != nil {
		release.Unknown, release.Limit = "its chart is not loaded: "+limit.Error(), limit
	} else if other := (*charts.OtherVersionError)(nil); errors.As(err, &other) {
		release.Unknown = "it is not rendered, and so not checked: " + other.Error()
	} else if err != nil {
		release.Failure = &ReleaseFailure{Message: err.Error()}
	}
	if chart == nil || err != nil {
		return
	}
	release.chart, release.Chart = chart, chart.String()
}

// unit is a part of the work on a release that is measured on its own.
func (release *Release) unit(kind string) bounds.Unit {
	o := release.Object
	return bounds.Unit{Kind: kind, File: o.File, Line: o.Line, Name: fmt.Sprintf("%s %s/%s", o.Kind, o.Namespace, o.Name)}
}

// limitOf is the bound in an error that says nothing about what Flux would do, nil where there is none.
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

// chartOf finds the chart of a release, nil where it is not at hand. The error is why Flux
// could not load it.
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
	return r.fromSource(w, release, sourceKey{c.SourceRef.Kind, namespace, c.SourceRef.Name}, c.Chart, c.Version, o)
}

// referred is the chart that an OCIRepository, ExternalArtifact or HelmChart holds.
func (r *releases) referred(w *walker, release *Release, kind, namespace, name string) (*charts.Chart, error) {
	key := sourceKey{kind, namespace, name}
	object := w.find(Identity{sourceGroup, kind, namespace, name})
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
		from := sourceKey{text("sourceRef", "kind"), namespace, text("sourceRef", "name")}
		return r.fromSource(w, release, from, text("chart"), text("version"), charts.Options{ValuesFiles: textsIn(object.Field("spec", "valuesFiles"))})
	case "OCIRepository":
		if _, mapped := w.mapped[namespace+"/"+name]; mapped || object == nil {
			return r.fromFiles(w, key, ".", charts.Options{})
		}
		// A range wins over a tag; what neither says, or a filter, only the registry knows.
		version := cmp.Or(text("ref", "semver"), text("ref", "tag"))
		if version == "" || version == "latest" || text("ref", "semverFilter") != "" || strings.Contains(version+text("url"), "${") {
			return nil, nil
		}
		return r.library.Find(path.Base(text("url")), version)
	}
	return r.fromFiles(w, key, ".", charts.Options{})
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

// fromSource is a chart of a HelmRepository, or at a path of another source.
func (r *releases) fromSource(w *walker, release *Release, key sourceKey, chart, version string, o charts.Options) (*charts.Chart, error) {
	if strings.Contains(chart+version, "${") {
		return nil, nil
	}
	if key.kind != "HelmRepository" {
		return r.fromFiles(w, key, chart, o)
	}
	found, err := r.library.Find(path.Base(chart), version)
	if found == nil || err != nil || len(o.ValuesFiles) == 0 {
		return found, err
	}
	err = bounds.Do(release.unit("merge of the values files"), func() error {
		if found, err = found.WithOwnValues(o); err == nil {
			found.Definitions()
		}
		return err
	})
	return found, err
}

// fromFiles is the chart at a path of a source whose files are at hand.
func (r *releases) fromFiles(w *walker, key sourceKey, at string, o charts.Options) (*charts.Chart, error) {
	from, gap := w.resolve(key)
	if from == nil || gap != nil {
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
		one.err = bounds.Do(bounds.Unit{Kind: "loading", File: file}, func() (err error) {
			one.chart, err = charts.Folder{Repo: from.Repo, Base: from.Base, Library: r.library}.Load(at, o)
			if err == nil {
				one.chart.Definitions() // read once
			}
			return err
		})
	})
	if file := path.Join(from.Base, repository.Clean(at), "Chart.yaml"); errors.Is(one.err, fs.ErrNotExist) && from.Repo.Exists(file) {
		if w.ignoresItself(key) {
			return nil, nil
		}
		by := cmp.Or(from.Repo.LeftOutBy(file), "source-controller")
		return nil, fmt.Errorf("there is no chart at %q for Flux: %s leaves it out of the source", at, by)
	}
	return one.chart, one.err
}

// ignoresItself says whether a source may say by itself what its artifact leaves out, in the
// place of source-controller's defaults and of .sourceignore files.
func (w *walker) ignoresItself(key sourceKey) bool {
	if o := w.find(Identity{sourceGroup, key.kind, key.namespace, key.name}); o != nil {
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

// renderWave renders some releases side by side.
func (r *releases) renderWave(wave []*Release, of map[*Release]*walker) {
	if r.ctx.Err() != nil {
		return
	}
	for _, release := range wave {
		of[release].listKinds()
	}
	defer builds.HoldSchema()()
	keys := make([][sha256.Size]byte, len(wave))
	parallel(len(wave), func(i int) {
		if wave[i].chart != nil && wave[i].compose(r, of[wave[i]]) {
			keys[i] = wave[i].key(of[wave[i]])
		}
	})
	// Which release a rendering is of must not depend on who is faster.
	for i, release := range wave {
		if release.values == nil {
			continue
		}
		if r.done[keys[i]] == nil {
			r.done[keys[i]] = &rendering{of: release}
		}
		release.rendering = r.done[keys[i]]
	}
	parallel(len(wave), func(i int) {
		if wave[i].rendering != nil {
			wave[i].render(r, of[wave[i]])
		}
	})
	for _, release := range wave {
		of[release].takeUpRelease(release)
	}
}

// compose puts the values of a release together. It says whether it could.
func (release *Release) compose(r *releases, w *walker) bool {
	if len(release.Object.Unknown) > 0 {
		release.Unknown = fmt.Sprintf("the value of the variable %s in the HelmRelease is not known", strings.Join(release.Object.Unknown, ", "))
		return false
	}
	release.from = map[string]*Object{}
	for _, ref := range release.spec.Spec.ValuesFrom {
		release.from[ref.Kind+"/"+ref.Name] = w.find(Identity{Kind: ref.Kind, Namespace: release.Object.Namespace, Name: ref.Name})
	}
	err := bounds.Do(release.unit("values composition"), func() (err error) {
		release.values, err = charts.Compose(r.ctx, release.spec, release.data)
		return err
	})
	release.fail(err)
	return err == nil
}

// render renders a release whose values are composed.
func (release *Release) render(r *releases, w *walker) {
	one := release.rendering
	one.once.Do(func() {
		one.result, one.err = charts.Render(r.ctx, charts.Request{Release: release.spec, Chart: release.chart, Values: release.values,
			Capabilities: charts.Capabilities{Kubernetes: charts.DefaultKubernetes, APIVersions: w.apiVersions}, Decode: builds.ValueOf, Unit: one.of.unit("")})
	})
	release.Problems, release.Unchecked, release.ValuesLimit = one.result.Problems, one.result.Undecided, one.result.Limit
	if one.err == nil {
		release.addObjects(w, one.result)
	}
	release.fail(one.err)
	release.values = nil // they may be large
}

// key tells apart what renders differently.
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

// fail sorts why a release could not be rendered.
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

// addObjects makes the objects of a release.
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
	release.Definitions, release.Objects = objects(result.Definitions), objects(result.Manifests)
}

// object is one that the chart of a release makes; of wide kinds are in no namespace.
func (release *Release) object(w *walker, m charts.Manifest, wide map[[2]string]bool) *Object {
	o := &Object{
		Kustomization: release.Object.Kustomization, Value: m.Value, HelmRelease: release.Object, Template: m.Template,
		File: release.Object.File, Line: release.Object.Line, Column: release.Object.Column,
	}
	o.identify()
	if o.Namespace == "" && w.isNamespaced(o) && !wide[[2]string{o.Group, o.Kind}] {
		o.setNamespace(release.spec.GetReleaseNamespace())
	}
	return o
}

// failed says whether the chart is at hand and its objects are not known.
func (release *Release) failed() bool {
	return release.Failure != nil || release.Unknown != "" || len(release.Problems) > 0
}

// All are the objects that helm-controller applies, in its order.
func (release *Release) All() []*Object { return slices.Concat(release.Definitions, release.Objects) }

// setNamespace puts an object into a namespace. Its value may be shared.
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

// isNamespaced says whether a kind of objects is in namespaces, as most are whose definition
// is not at hand.
func (w *walker) isNamespaced(o *Object) bool {
	if namespaced, known := openapi.IsNamespaceScoped(kyaml.TypeMeta{APIVersion: o.APIVersion, Kind: o.Kind}); known {
		return namespaced
	}
	return !w.clusterScoped[[2]string{o.Group, o.Kind}]
}

// takeUpRelease indexes the objects of a release, and takes up those that are Kustomizations.
func (w *walker) takeUpRelease(release *Release) {
	for _, o := range release.All() {
		w.index[o.Identity] = append(w.index[o.Identity], o)
		w.learn(o)
		if o.isKustomization() {
			w.found(release.Object.Kustomization, o)
		}
	}
}

// learn notes the kinds that an object's being there tells of.
func (w *walker) learn(o *Object) {
	w.kinds = append(w.kinds, o.APIVersion, o.APIVersion+"/"+o.Kind)
	w.learnDefinition(o.Value)
}

// learnDefinition notes the kind that an object defines, if it is a CustomResourceDefinition.
func (w *walker) learnDefinition(value map[string]any) {
	w.kinds = append(w.kinds, charts.KindsOf(value)...)
	if kind, isWide := clusterScoped(value); isWide {
		if w.clusterScoped == nil {
			w.clusterScoped = map[[2]string]bool{}
		}
		w.clusterScoped[kind] = true
	}
}

// clusterScoped is the group and kind that a CustomResourceDefinition defines for the whole
// cluster.
func clusterScoped(value map[string]any) (kind [2]string, isWide bool) {
	o := Object{Value: value}
	if o.Text("kind") != "CustomResourceDefinition" || o.Text("spec", "scope") != "Cluster" {
		return kind, false
	}
	return [2]string{o.Text("spec", "group"), o.Text("spec", "names", "kind")}, true
}

// listKinds makes what charts may ask for of the kinds that are known so far.
func (w *walker) listKinds() {
	if len(w.kinds) == w.listed && w.apiVersions != nil {
		return
	}
	w.listed = len(w.kinds)
	w.apiVersions = slices.Concat(builtIn(), w.kinds)
	slices.Sort(w.apiVersions)
	w.apiVersions = slices.Compact(w.apiVersions)
}

// builtIn are the API versions that any cluster serves: Kubernetes' own, of which alpha and
// beta versions are off by default, and Flux's.
var builtIn = sync.OnceValue(func() []string {
	var versions []string
	for _, gvk := range schemas.Kinds() {
		flux := strings.HasSuffix(gvk.Group, ".fluxcd.io")
		kubernetes := !strings.Contains(gvk.Group, ".") || strings.HasSuffix(gvk.Group, ".k8s.io")
		if flux || kubernetes && !strings.ContainsAny(strings.TrimPrefix(gvk.Version, "v"), "ab") {
			version := gvk.GroupVersion().String()
			versions = append(versions, version, version+"/"+gvk.Kind)
		}
	}
	return versions
})

// data are the values of a ConfigMap or Secret in the release's namespace.
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
