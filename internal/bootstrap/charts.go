package bootstrap

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// charts are the releases of what is no helmfile: the helmCharts of
// kustomizations, which Flux doesn't build, and the HelmCharts of K3s and RKE2.
//
// They count also where Flux is told to ignore the file, but not in an example's or a test's
// folder.
func (r *reader) charts() []*release {
	var out []*release
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
		if !repository.IsKustomization(f.Path) || len(f.Documents) == 0 || r.repo.Use(f.Path) == repository.Chart || r.isAside(f.Path) {
			continue
		}
		for _, chart := range items(f.Documents[0].Root(), "helmCharts") {
			if chart.Kind == yaml.MappingNode {
				out = append(out, r.kustomizeChart(f, chart))
			}
		}
	}
	return out
}

// objects are those of all files but charts'.
func (r *reader) objects() iter.Seq[*repository.Object] {
	return func(yield func(*repository.Object) bool) {
		for _, f := range r.repo.Files() {
			if r.repo.Use(f.Path) == repository.Chart || r.isAside(f.Path) {
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

// isAside says whether a file is in a folder that belongs to no cluster: an example's or a
// test's by its name, without a Kustomization of Flux in or for it.
func (r *reader) isAside(file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if !repository.IsExampleFolder(path.Base(dir)) {
			continue
		}
		if !slices.ContainsFunc(r.repo.ByKind(kustomizeGroup, "Kustomization"), func(o *repository.Object) bool {
			at, _ := o.Text("spec", "path")
			return strings.HasPrefix(o.File(), dir+"/") || strings.HasPrefix(repository.Clean(at)+"/", dir+"/")
		}) {
			return true
		}
	}
	return false
}

// newChart is a release at a node, not yet evaluated, and the evaluation of its
// values: paths start from the folder of its file.
func (r *reader) newChart(file, dir string, n *yaml.Node) (*release, *evaluation) {
	out := &release{place: place{file, n.Line}, reads: map[string]bool{}, installed: true, enabled: true,
		cluster: bootstrapCluster(r.paths(), file)}
	r.reads = out.reads
	start := emptyMap(out.place)
	out.values = layered{value: start, sure: start}
	return out, &evaluation{reader: r, h: newHelmfile(file, dir),
		raw: &rawRelease{place: out.place, fields: map[string]text{}, pointers: map[string]*text{}}}
}

// kustomizeChart is an item of helmCharts, as kustomize's
// HelmChartInflationGenerator hands it to helm.
func (r *reader) kustomizeChart(f *repository.File, n *yaml.Node) *release {
	file, whole := f.Path, f.Documents[0].Root()
	out, e := r.newChart(file, path.Dir(file), n)
	out.definition = kustomizeDefinition
	out.name, out.chart = scalarText(file, n, "releaseName"), scalarText(file, n, "name")
	if out.name.value == "" {
		out.name = out.chart
	}
	out.line = out.name.line
	out.version, out.source = scalarText(file, n, "version"), scalarText(file, n, "repo")
	out.namespace = scalarText(file, n, "namespace")
	if out.namespace.value == "" {
		out.namespace = scalarText(file, whole, "namespace")
	}
	own := scalarText(file, n, "valuesFile")
	inline, merge := repository.Lookup(n, "valuesInline"), scalarText(file, n, "valuesMerge").value
	if inline != nil && inline.Kind != yaml.MappingNode {
		inline = nil
	}
	addInline := func() {
		if inline == nil {
			return
		}
		v, err := valueOf(file, inline, asKustomize)
		if err != nil {
			out.values.addUnknown(mark{reason: shortened(err.Error())})
			return
		}
		e.addValue(&out.values, v)
	}
	if merge == "merge" {
		addInline()
		if own.value == "" && inline != nil {
			out.values.addUnknown(mark{reason: "the values of the chart itself win over valuesInline (valuesMerge: merge)"})
		}
	}
	if own.value != "" && (merge != "replace" || inline == nil) {
		e.addChartFile(out, own)
	}
	if merge != "merge" {
		addInline()
	}
	for _, f := range items(n, "additionalValuesFiles") {
		e.addChartFile(out, text{place{file, f.Line}, f.Value, nil})
	}
	out.values.files = out.values.value
	return out
}

// addChartFile adds a values file that kustomize hands to helm as it is.
func (e *evaluation) addChartFile(r *release, t text) {
	p, bad := e.locate("values come from", e.h.dir, t.value)
	var data []byte
	if bad.reason == "" {
		data, bad = e.read(p)
	}
	if bad.reason != "" {
		if bad.missing != "" {
			r.values.missing = append(r.values.missing, text{place: t.place, value: bad.missing})
		}
		r.values.addUnknown(bad)
		return
	}
	e.addText(&r.values, place{p, 1}, string(data), asHelm, func(n int) int { return n })
}

// k3sGroup is the API group of K3s' and RKE2's helm-controller.
const k3sGroup = "helm.cattle.io"

// k3sChart is a HelmChart, with the HelmChartConfigs of its name, as K3s'
// helm-controller hands it to helm: the values of the chart, then those of the
// configuration, then set.
func (r *reader) k3sChart(o *repository.Object, configs []*repository.Object) *release {
	file := o.File()
	out, e := r.newChart(file, ".", o.Node)
	out.definition = k3sDefinition
	meta, spec := o.Lookup("metadata"), o.Lookup("spec")
	out.name = scalarText(file, meta, "name")
	out.line = out.name.line
	out.namespace = scalarText(file, spec, "targetNamespace")
	if out.namespace.value == "" {
		out.namespace = scalarText(file, meta, "namespace")
	}
	out.chart, out.version, out.source = scalarText(file, spec, "chart"), scalarText(file, spec, "version"), scalarText(file, spec, "repo")
	e.addContent(out, file, spec)
	for _, config := range configs {
		if config.Name == o.Name && config.Namespace == o.Namespace && sharesFolder(config.File(), file) {
			e.addContent(out, config.File(), config.Lookup("spec"))
		}
	}
	out.values.files = out.values.value
	eachField(spec, "set", func(name string, v *yaml.Node) {
		if v == nil || v.Kind != yaml.ScalarNode {
			return
		}
		// What is neither a number nor true, false or null is a text to Helm.
		field := "setString"
		if v.ShortTag() == "!!int" || slices.Contains([]string{"true", "false", "null"}, strings.ToLower(v.Value)) {
			field = "set"
		}
		e.addSetting(&out.values, setting{place: place{file, v.Line}, field: field, name: name, value: v.Value})
	})
	if secrets := items(spec, "valuesSecrets"); len(secrets) > 0 {
		out.values.addUnknown(mark{reason: fmt.Sprintf("values come from a Secret (valuesSecrets, %s:%d)", file, secrets[0].Line)})
	}
	return out
}

// sharesFolder says whether two files belong to one cluster, as far as folders
// tell: the first folder of their paths is the same.
func sharesFolder(a, b string) bool {
	x, _, _ := strings.Cut(a, "/")
	y, _, _ := strings.Cut(b, "/")
	return x == y || !strings.Contains(a, "/") || !strings.Contains(b, "/")
}

// addContent adds values, a map, and then valuesContent, a text of YAML.
func (e *evaluation) addContent(r *release, file string, spec *yaml.Node) {
	if v := repository.Lookup(spec, "values"); v != nil && v.Kind == yaml.MappingNode {
		values, err := valueOf(file, v, asKustomize)
		if err != nil {
			r.values.addUnknown(mark{reason: shortened(err.Error())})
			return
		}
		e.addValue(&r.values, values)
	}
	content := repository.Lookup(spec, "valuesContent")
	if content == nil || content.Kind != yaml.ScalarNode {
		return
	}
	first := content.Line
	if content.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		first++
	}
	folded := content.Style&yaml.LiteralStyle == 0
	e.addText(&r.values, place{file, first}, content.Value, asHelm, func(n int) int {
		if folded {
			return first
		}
		return first + max(n, 1) - 1
	})
}

// byPlace orders releases within their file.
func byPlace(a, b *release) int { return cmp.Compare(a.line, b.line) }
