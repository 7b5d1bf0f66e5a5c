package repository

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"
)

// Use is how kustomizations use a file.
type Use int

// The uses in ascending precedence: a file that is listed both as a patch and as a resource is a
// resource.
const (
	// Unlisted is a file that no kustomization names, in a folder with a
	// kustomization: kustomize never reads it.
	Unlisted Use = iota
	// Chart is a file of a Helm chart.
	Chart
	// Input is a file that a kustomization reads, but not as an object: a generator's file, a
	// configuration, Helm values, a CRD's schema.
	Input
	// Patch is a partial object, merged into others.
	Patch
	// Transformer is a configuration of a generator, transformer or validator.
	Transformer
	// Plain is a file in a folder without a kustomization: Flux reads every
	// file of such a folder as objects.
	Plain
	// Resource is a file that a kustomization lists as a resource.
	Resource
)

// Kustomizes returns the kustomization files of the repository, in the order of their paths.
func (r *Repository) Kustomizes() []*Kustomize { return r.kustomizes }

// KustomizeAt returns the kustomization of a folder ("." for the root).
func (r *Repository) KustomizeAt(dir string) (*Kustomize, bool) {
	k, ok := r.byDir[dir]
	return k, ok
}

// KustomizeOf returns the kustomization in a file. A folder may have several, of which KustomizeAt returns one.
func (r *Repository) KustomizeOf(file *File) (*Kustomize, bool) {
	if !IsKustomization(file.Path) {
		return nil, false
	}
	if k, ok := r.KustomizeAt(path.Dir(file.Path)); ok && k.File == file {
		return k, true
	}
	i := slices.IndexFunc(r.kustomizes, func(k *Kustomize) bool { return k.File == file })
	if i < 0 {
		return nil, false
	}
	return r.kustomizes[i], true
}

// Use returns how kustomizations use a file.
func (r *Repository) Use(file string) Use {
	if use, listed := r.uses[file]; listed {
		return use
	}
	if r.inChart(file) {
		return Chart
	}
	if _, ok := r.byDir[path.Dir(file)]; ok {
		return Unlisted
	}
	return Plain
}

// inChart reports whether a file belongs to a Helm chart, whose files are templates, values and
// metadata.
func (r *Repository) inChart(file string) bool {
	if len(r.charts) == 0 {
		return false
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if r.charts[dir] {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

// IsKustomization reports whether a file has one of the names that kustomize recognizes.
func IsKustomization(file string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), path.Base(file))
}

// Within reports whether a file or folder is in a folder, or in one below it.
func Within(dir, at string) bool { return dir == "." || strings.HasPrefix(at, dir+"/") }

// Join resolves a path in the kustomization of a folder. It returns false for an absolute path, a
// URL, and a path that leads out of the repository.
func Join(dir, ref string) (string, bool) {
	if ref == "" || path.IsAbs(ref) || strings.Contains(ref, "://") || strings.Contains(ref, "\n") {
		return "", false
	}
	joined := path.Join(dir, ref)
	if joined == ".." || strings.HasPrefix(joined, "../") {
		return "", false
	}
	return joined, true
}

// Clean converts a path that Flux reads relative to the root of a source, such as spec.path, to a path
// in the repository. Whatever its notation, the result is inside the repository. The root is ".".
func Clean(at string) string {
	if clean := path.Clean("/" + at)[1:]; clean != "" {
		return clean
	}
	return "."
}

func (r *Repository) indexKustomizes() {
	r.byDir, r.uses, r.ofSecrets = map[string]*Kustomize{}, map[string]Use{}, map[string]bool{}
	for _, f := range r.files {
		if !IsKustomization(f.Path) || f.chart || f.Excluded {
			continue
		}
		k := newKustomize(f)
		r.kustomizes = append(r.kustomizes, k)
		r.byDir[k.Dir] = k
	}
	for _, k := range r.kustomizes {
		r.use(k.File.Path, Transformer)
		if k.Spec != nil {
			r.listUses(k)
		}
	}
}

func newKustomize(f *File) *Kustomize {
	k := &Kustomize{File: f, Dir: path.Dir(f.Path)}
	if len(f.Documents) == 0 {
		if f.Err != nil {
			k.Err = f.Err
		}
		return k
	}
	k.Document = f.Documents[0]
	if kind := k.Document.Lookup("kind"); kind != nil {
		k.Component = kind.Value == types.ComponentKind
	}
	// Of a duplicate key, kustomize uses the last one.
	value, err := decoder{file: f.Path, lastWins: true}.value(k.Document.Root())
	if err != nil {
		k.Err = err
		return k
	}
	k.Value = value
	// As kustomize does, decode from JSON: encoding/json matches the names of fields in any case.
	text, err := json.Marshal(value)
	if err != nil {
		k.Err = err
		return k
	}
	spec := &types.Kustomization{}
	if err := json.Unmarshal(text, spec); err != nil {
		k.Err = err
		return k
	}
	spec.FixKustomization()
	k.Spec = spec
	return k
}

func (r *Repository) use(file string, use Use) {
	if r.uses[file] < use {
		r.uses[file] = use
	}
}

// listUses records how a kustomization uses the files that it names.
func (r *Repository) listUses(k *Kustomize) {
	list := func(use Use, refs ...string) {
		for _, ref := range refs {
			p, ok := Join(k.Dir, ref)
			if !ok {
				continue
			}
			if _, isFile := r.paths[p]; isFile {
				r.use(p, use)
			}
		}
	}
	s := k.Spec
	list(Resource, s.Resources...)
	list(Resource, s.Bases...)                  //nolint:staticcheck // older repositories use it
	for _, p := range s.PatchesStrategicMerge { //nolint:staticcheck // older repositories use it
		list(Patch, string(p))
	}
	for _, p := range slices.Concat(s.Patches, s.PatchesJson6902) { //nolint:staticcheck // older repositories use it
		list(Patch, p.Path)
	}
	for _, p := range s.Replacements {
		list(Input, p.Path)
	}
	list(Transformer, s.Generators...)
	list(Transformer, s.Transformers...)
	list(Transformer, s.Validators...)
	list(Input, s.Configurations...)
	list(Input, s.Crds...)
	list(Input, s.OpenAPI["path"])
	for _, g := range s.ConfigMapGenerator {
		list(Input, generatorFiles(g.KvPairSources)...)
	}
	for _, g := range s.SecretGenerator {
		files := generatorFiles(g.KvPairSources)
		list(Input, files...)
		for _, ref := range files {
			p, _ := Join(k.Dir, ref)
			r.ofSecrets[p] = true
		}
	}
	for _, c := range s.HelmCharts {
		list(Input, c.ValuesFile)
		list(Input, c.AdditionalValuesFiles...)
	}
}

// generatorFiles returns the files that a generator reads, without KEY=.
func generatorFiles(s types.KvPairSources) []string {
	files := slices.Concat(s.EnvSources, []string{s.EnvSource})
	for _, f := range s.FileSources {
		if _, file, keyed := strings.Cut(f, "="); keyed {
			f = file
		}
		files = append(files, f)
	}
	return files
}
