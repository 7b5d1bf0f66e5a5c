package bootstrap

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/fluxinstall"
	"github.com/fleetwright/fleetwright/internal/helmfile"
	"github.com/fleetwright/fleetwright/internal/helmrelease"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// relevance tells which Kustomizations matter to a bootstrap, before they are built: those that
// hold a HelmRelease that may take over a release of the bootstrap, what such a HelmRelease
// refers to, variables, or further Kustomizations. It looks at the documents as they are
// written, and takes in too many rather than too few.
type relevance struct {
	repo *repository.Repository
	// releases, sources and data are the names of HelmReleases, of sources, and of ConfigMaps
	// and Secrets.
	names   []string
	charts  map[string]bool
	reads   map[string]bool
	sources map[string]bool
	data    map[string]bool
	// applied are the kinds and names of objects that hooks apply.
	applied map[[2]string]bool
	// templated says that ResourceSets refer to names that their templates make.
	templated bool
	// of are the charts of the sources of a name.
	of map[string][]string
	// flux says that what defines Flux matters too.
	flux bool

	mu    sync.Mutex
	known map[string]bool // by folder; true of one that is being looked at
}

func newRelevance(repo *repository.Repository, files [][]*helmfile.Release) *relevance {
	x := &relevance{repo: repo, charts: map[string]bool{}, reads: map[string]bool{}, sources: map[string]bool{},
		data: map[string]bool{}, applied: map[[2]string]bool{}, of: map[string][]string{}, known: map[string]bool{}}
	for _, releases := range files {
		for _, r := range releases {
			x.names = append(x.names, r.Name.Value)
			x.charts[helmrelease.ChartName(r.Chart.Value)] = true
			for p := range r.Reads {
				x.reads[p] = true
			}
			for _, h := range r.Hooks {
				for _, t := range h.Applied {
					for _, o := range objectsAt(repo, t.Value) {
						x.applied[[2]string{o.Kind, o.Name}] = true
					}
				}
			}
		}
	}
	slices.Sort(x.names)
	x.names = slices.Compact(x.names)
	if x.flux = mayInstallFlux(repo, files); x.flux {
		x.charts[fluxinstall.InstanceChart] = true
	}
	for _, o := range repo.ByKind(fluxapi.SourceGroup, "OCIRepository") {
		url, _ := o.Text("spec", "url")
		x.of[o.Name] = append(x.of[o.Name], helmrelease.ChartName(url))
	}
	for _, o := range repo.ByKind(fluxapi.SourceGroup, "HelmChart") {
		name, _ := o.Text("spec", "chart")
		x.of[o.Name] = append(x.of[o.Name], helmrelease.ChartName(name))
	}
	for _, o := range repo.ByKind(fluxapi.HelmGroup, "HelmRelease") {
		if x.release(o) {
			x.refer(o)
		}
	}
	for _, o := range repo.ByKind(fluxapi.OperatorGroup, "ResourceSet") {
		x.referIn(o.Node, 0)
	}
	x.refersToSources()
	x.variables()
	return x
}

// release says whether a HelmRelease may take over one of the bootstrap's.
func (x *relevance) release(o *repository.Object) bool {
	given, _ := o.Text("spec", "releaseName")
	target, _ := o.Text("spec", "targetNamespace")
	if x.reads[o.File()] || strings.Contains(o.Name+given+target, "${") {
		return true
	}
	for _, name := range x.names {
		if name == "" || strings.Contains(name, o.Name) || strings.Contains(o.Name, name) || given == name || target+"-"+o.Name == name {
			return true
		}
	}
	if name, ok := o.Text("spec", "chart", "spec", "chart"); ok {
		return x.charts[helmrelease.ChartName(name)] || strings.Contains(name, "${")
	}
	source, ok := o.Text("spec", "chartRef", "name")
	if !ok || strings.Contains(source, "${") || len(x.of[source]) == 0 {
		return true
	}
	return slices.ContainsFunc(x.of[source], func(name string) bool { return x.charts[name] || strings.Contains(name, "${") })
}

// refer notes the names that a HelmRelease refers to.
func (x *relevance) refer(o *repository.Object) {
	for _, at := range [][]any{{"spec", "chartRef", "name"}, {"spec", "chart", "spec", "sourceRef", "name"}} {
		if name, ok := o.Text(at...); ok {
			x.sources[name] = true
		}
	}
	for i := range located.Items(o.Node, "spec", "valuesFrom") {
		if name, ok := o.Text("spec", "valuesFrom", i, "name"); ok {
			x.data[name] = true
		}
	}
}

// referIn notes all names in a ResourceSet: its templates may refer to them.
func (x *relevance) referIn(n *yaml.Node, depth int) {
	if n == nil || depth > limits.Nesting {
		return
	}
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "name:") {
		for _, match := range substituteName.FindAllStringSubmatch(n.Value, -1) {
			x.refersTo(match[1])
		}
	}
	for i := 1; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i-1].Value == "name" && n.Content[i].Kind == yaml.ScalarNode {
			x.refersTo(n.Content[i].Value)
		}
	}
	for _, child := range n.Content {
		x.referIn(child, depth+1)
	}
}

// refersTo notes a name of a source or of data: any, where a template makes it.
func (x *relevance) refersTo(name string) {
	x.templated = x.templated || strings.Contains(name, "<<")
	x.sources[name], x.data[name] = true, true
}

// refersToSources adds the sources that HelmCharts and Kustomizations take their files from.
func (x *relevance) refersToSources() {
	for o := range x.repo.Objects() {
		if o.Group() == fluxapi.KustomizeGroup || o.Group() == fluxapi.SourceGroup && o.Kind == "HelmChart" {
			if name, ok := o.Text("spec", "sourceRef", "name"); ok {
				x.sources[name] = true
			}
		}
	}
}

var substituteName = regexp.MustCompile(`name["']?:\s*["']?([^\s"',}\]]+)`)

// variables adds all names in the files that mention substituteFrom: a patch may hold it.
func (x *relevance) variables() {
	for _, f := range x.repo.Files() {
		if f.Err == nil && !slices.ContainsFunc(f.Documents, func(d *repository.Document) bool { return d.Mentions("substituteFrom") }) {
			continue
		}
		data, err := x.repo.ReadFile(f.Path)
		if err != nil || !strings.Contains(string(data), "substituteFrom") {
			continue
		}
		for _, match := range substituteName.FindAllSubmatch(data, -1) {
			x.data[string(match[1])] = true
		}
	}
}

// kustomizationMatters says whether a Kustomization matters.
func (x *relevance) kustomizationMatters(k *reconcile.Kustomization) bool {
	if k.Spec.NamePrefix+k.Spec.NameSuffix != "" || k.Spec.KubeConfig != nil || strings.Contains(k.Spec.Path, "${") {
		return true
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, component := range k.Spec.Components {
		if at, ok := repository.Join(k.Dir, component); ok && x.folder(at) {
			return true
		}
	}
	return x.folder(k.Dir)
}

// matters says whether a resource of a kustomization matters, a file or a folder.
func (x *relevance) matters(at string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f, ok := x.repo.File(at); ok {
		return x.file(f)
	}
	if _, ok := x.repo.ReadDir(at); ok {
		return x.folder(at)
	}
	return true // whatever it is, the build says what is wrong with it
}

// folder says whether what a folder's kustomization leads to matters. A folder that leads to
// itself does.
func (x *relevance) folder(dir string) bool {
	known, done := x.known[dir]
	if done {
		return known
	}
	x.known[dir] = true
	known = x.look(dir)
	x.known[dir] = known
	return known
}

func (x *relevance) look(dir string) bool {
	k, ok := x.repo.KustomizeAt(dir)
	if !ok {
		return x.plainFolder(dir)
	}
	if k.Spec == nil {
		return true
	}
	s := k.Spec
	if s.NamePrefix+s.NameSuffix != "" || len(s.Generators)+len(s.Transformers)+len(s.Replacements) > 0 {
		return true
	}
	if _, ok := fluxinstall.InKustomization(k); ok && x.flux {
		return true
	}
	for _, g := range s.ConfigMapGenerator {
		if x.templated || x.data[g.Name] {
			return true
		}
	}
	for _, g := range s.SecretGenerator {
		if x.templated || x.data[g.Name] {
			return true
		}
	}
	return slices.ContainsFunc(slices.Concat(s.Resources, s.Components), func(ref string) bool {
		at, ok := repository.Join(dir, ref)
		if !ok {
			return false
		}
		if f, isFile := x.repo.File(at); isFile {
			return x.file(f)
		}
		return x.folder(at)
	})
}

// plainFolder says whether a file below a folder without a kustomization matters, as Flux lists
// them.
func (x *relevance) plainFolder(dir string) bool {
	files := x.repo.Files()
	from := 0
	if dir != "." {
		from, _ = slices.BinarySearchFunc(files, dir+"/", func(f *repository.File, at string) int { return strings.Compare(f.Path, at) })
	}
	for _, f := range files[from:] {
		if dir != "." && !strings.HasPrefix(f.Path, dir+"/") {
			break
		}
		if x.file(f) {
			return true
		}
	}
	return false
}

// file says whether an object of a file matters.
func (x *relevance) file(f *repository.File) bool {
	if f.Err != nil {
		return true
	}
	for _, d := range f.Documents {
		if slices.ContainsFunc(d.Objects, x.object) {
			return true
		}
	}
	return repository.IsKustomization(f.Path) && path.Dir(f.Path) == "."
}

func (x *relevance) object(o *repository.Object) bool {
	variable := strings.Contains(o.Name, "${")
	if x.applied[[2]string{o.Kind, o.Name}] {
		return true
	}
	switch o.Group() {
	case fluxapi.HelmGroup:
		return x.release(o)
	case fluxapi.KustomizeGroup:
		return x.kustomization(o)
	case fluxapi.SourceGroup:
		url, _ := o.Text("spec", "url")
		return variable || x.templated || x.sources[o.Name] || x.flux && fluxinstall.IsManifestsURL(url)
	case "apps":
		part, _ := o.Text("metadata", "labels", "app.kubernetes.io/part-of")
		return x.flux && part == "flux"
	case "":
		return (o.Kind == "ConfigMap" || o.Kind == "Secret") && (variable || x.templated || x.data[o.Name])
	}
	return strings.HasSuffix(o.Group(), ".fluxcd.io") || o.Group() == fluxapi.OperatorGroup
}

// kustomization says whether what a Flux Kustomization applies matters, as far as its document
// tells: what a patch may change of it is asked of the built one.
func (x *relevance) kustomization(o *repository.Object) bool {
	at, ok := o.Text("spec", "path")
	if from, _ := o.Text("spec", "sourceRef", "kind"); !ok || strings.Contains(at, "${") || from != "GitRepository" && from != "" {
		return true
	}
	for _, field := range []string{"namePrefix", "nameSuffix", "kubeConfig", "components"} {
		if o.Lookup("spec", field) != nil {
			return true
		}
	}
	dir := repository.Clean(at)
	if _, there := x.repo.ReadDir(dir); !there {
		return true
	}
	return x.folder(dir)
}

// mayInstallFlux says whether some file of a repository could install Flux beside the graph.
func mayInstallFlux(repo *repository.Repository, files [][]*helmfile.Release) bool {
	return fluxinstall.MayInstall(repo) || slices.ContainsFunc(slices.Concat(files...), func(r *helmfile.Release) bool {
		return helmrelease.ChartName(r.Chart.Value) == fluxinstall.InstanceChart
	})
}
