package helmfile

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// charts returns the releases that are not in a helmfile: the helmCharts of kustomizations that Flux doesn't build, and the
// HelmCharts of K3s and RKE2.
//
// Files that Flux is configured to ignore count, too, but not those in a folder of examples or tests.
func (r *reader) charts() []*Release {
	var out []*Release
	var configs []*repository.Object
	for o := range r.objects() {
		if o.Group() == k3sGroup && o.Kind == "HelmChartConfig" {
			configs = append(configs, o)
		}
	}
	for o := range r.objects() {
		if o.Group() == k3sGroup && o.Kind == "HelmChart" && o.Lookup("spec", "chart") != nil {
			out = append(out, r.k3sChart(o, configs))
		}
	}
	for _, f := range r.repo.Files() {
		if !repository.IsKustomization(f.Path) || len(f.Documents) == 0 || r.repo.Use(f.Path) == repository.Chart || r.inUnusedFolder(f.Path) {
			continue
		}
		for _, chart := range located.Items(f.Documents[0].Root(), "helmCharts") {
			if chart.Kind == yaml.MappingNode {
				out = append(out, r.kustomizeChart(f, chart))
			}
		}
	}
	return out
}

// objects returns the objects of all files, except those of charts and of unused folders.
func (r *reader) objects() iter.Seq[*repository.Object] {
	return func(yield func(*repository.Object) bool) {
		for _, f := range r.repo.Files() {
			if r.repo.Use(f.Path) == repository.Chart || r.inUnusedFolder(f.Path) {
				continue
			}
			for _, d := range f.Documents {
				for _, o := range d.Objects {
					if !yield(o) {
						return
					}
				}
			}
		}
	}
}

// inUnusedFolder reports whether a file is in a folder that belongs to no cluster: one for disused files, or one named as
// examples or tests, unless a Flux Kustomization is in the folder or applies it.
func (r *reader) inUnusedFolder(file string) bool {
	if repository.Attic(file) != "" {
		return true
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if !repository.IsExampleFolder(path.Base(dir)) {
			continue
		}
		if !slices.ContainsFunc(r.repo.ByKind(fluxapi.KustomizeGroup, "Kustomization"), func(o *repository.Object) bool {
			at, _ := o.Text("spec", "path")
			return strings.HasPrefix(o.File(), dir+"/") || strings.HasPrefix(repository.Clean(at)+"/", dir+"/")
		}) {
			return true
		}
	}
	return false
}

// newChart returns an empty release for the chart at a node of a file, and the evaluation that fills in its values. Paths in the
// fields of the chart are relative to dir.
func (r *reader) newChart(file, dir string, n *yaml.Node) (*Release, *evaluation) {
	out := &Release{Place: located.At(file, n.Line), Reads: map[string]bool{}, installed: true, enabled: true,
		Cluster: repository.BootstrapCluster(r.Paths(), file)}
	r.Reads = out.Reads
	start := located.EmptyMap(out.Place)
	out.Values = located.Layers{Value: start, Sure: start}
	return out, &evaluation{reader: r, h: newHelmfile(file, dir),
		raw: emptyRawRelease(out.Place)}
}

// kustomizeChart returns the release of an item of helmCharts, as kustomize's HelmChartInflationGenerator passes it to helm.
func (r *reader) kustomizeChart(f *repository.File, n *yaml.Node) *Release {
	file, whole := f.Path, f.Documents[0].Root()
	out, e := r.newChart(file, path.Dir(file), n)
	out.Definition = InKustomization
	out.Name, out.Chart = located.ScalarText(file, n, "releaseName"), located.ScalarText(file, n, "name")
	if out.Name.Value == "" {
		out.Name = out.Chart
	}
	out.Line = out.Name.Line
	out.Version, out.source = located.ScalarText(file, n, "version"), located.ScalarText(file, n, "repo")
	out.devel = isTrue(located.ScalarText(file, n, "devel").Value)
	home := chartHome(whole, out)
	out.Folder = r.chartFolder(path.Join(path.Dir(file), home), out.Chart)
	out.local = out.source.Value == "" || r.HasFolder(path.Join(path.Dir(file), home, out.Chart.Value))
	out.Namespace = located.ScalarText(file, n, "namespace")
	if out.Namespace.Value == "" {
		out.Namespace = located.ScalarText(file, whole, "namespace")
	}
	own := located.ScalarText(file, n, "valuesFile")
	inline, merge := repository.Lookup(n, "valuesInline"), located.ScalarText(file, n, "valuesMerge").Value
	if inline != nil && inline.Kind != yaml.MappingNode {
		inline = nil
	}
	addInline := func() {
		if inline == nil {
			return
		}
		v, err := located.ValueOf(file, inline, located.AsKustomize)
		if err != nil {
			out.Values.AddUnknown(located.Unknown{Reason: located.Shorten(err.Error())})
			return
		}
		e.addValue(&out.Values, v)
	}
	if merge == "merge" {
		addInline()
		if own.Value == "" && inline != nil {
			out.Values.AddUnknown(located.Unknown{Reason: "the chart's own values override valuesInline (valuesMerge: merge)"})
		}
	}
	if own.Value != "" && (merge != "replace" || inline == nil) {
		e.addChartFile(out, own)
	}
	if merge != "merge" {
		addInline()
	}
	for _, f := range located.Items(n, "additionalValuesFiles") {
		e.addChartFile(out, located.Text{Place: located.At(file, f.Line), Value: f.Value})
	}
	out.Values.Files = out.Values.Value
	return out
}

// chartHome returns the folder, relative to a kustomization, in which kustomize looks for the folder of a chart. It uses a chart
// that is there, whatever its version, and never one elsewhere in the repository.
func chartHome(kustomization *yaml.Node, chart *Release) string {
	home := cmp.Or(located.ScalarText("", repository.Lookup(kustomization, "helmGlobals"), "chartHome").Value, "charts")
	if chart.Version.Value != "" && chart.source.Value != "" {
		home = path.Join(home, chart.Chart.Value+"-"+chart.Version.Value)
	}
	return home
}

// addChartFile adds a values file that kustomize passes to helm unchanged.
func (e *evaluation) addChartFile(r *Release, t located.Text) {
	p, bad := e.Locate("values come from", e.h.dir, t.Value)
	var data []byte
	if bad.Reason == "" {
		data, bad = e.readValues(p)
	}
	if bad.Reason != "" {
		if bad.Missing != "" {
			r.Values.Missing = append(r.Values.Missing, located.Text{Place: t.Place, Value: bad.Missing})
		}
		r.Values.AddUnknown(bad)
		return
	}
	e.addText(&r.Values, located.At(p, 1), string(data), located.AsHelm, func(n int) int { return n })
}

// byPlace compares releases of the same file by their line.
func byPlace(a, b *Release) int { return cmp.Compare(a.Line, b.Line) }
