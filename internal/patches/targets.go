package patches

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Targeted is a patch with a target, and whether it changes anything: kustomize reports
// no error if the target selects no object.
type Targeted struct {
	// Place is the position of the target's name, else of its kind, else of the target.
	finding.Place
	// Index distinguishes patches at the same place that have no lines, such as those of ResourceList items.
	Index  int
	Target types.Selector
	// Shared is set if the patch is in a component or in a Flux Kustomization, whose patches are
	// often the same for many builds.
	Shared bool
	// Selects is set if the target selects an object, or may select one because not all objects
	// are known.
	Selects bool
	// Names are the names of the candidates with the target's kind, Kinds the kinds of the candidates with the target's
	// name; both are sorted. Versions are the API versions of the candidates in Names that the target's group or version
	// excludes.
	Names, Kinds, Versions []string
}

// Build describes the files and objects of a build.
type Build struct {
	Repo *repository.Repository
	// Kustomizes are the kustomizations that the build read, and Read all files that it read.
	Kustomizes []*repository.Kustomize
	Read       []string
	// Complete is set if all objects of the build are known.
	Complete bool
	// Built are the objects of the build by the documents from which they were built.
	Built map[*repository.Object][]map[string]any
	// Origin returns the name of a file in messages.
	Origin func(file string) string

	byDir map[string]*selectable
	all   *selectable
}

// selectable are the objects from which patches select.
type selectable struct {
	documents []*repository.Object
	generated []Generator
	// namespaces are the namespaces that kustomizations set before the patches are applied.
	namespaces []string
	// renamed is set if names may have changed before; unknown if not all objects are known.
	renamed, unknown bool
}

// Targeted returns the patches with targets of the build's kustomizations.
func (b *Build) Targeted() []Targeted {
	var all []Targeted
	for _, k := range b.Kustomizes {
		all = append(all, b.of(k)...)
	}
	return all
}

// Select returns what a target selects among all objects of the build, as for a patch in a
// component or in the Flux Kustomization.
func (b *Build) Select(target types.Selector) Targeted { return b.look(target, b.whole()) }

// of returns the patches with targets of one kustomization.
func (b *Build) of(kustomize *repository.Kustomize) []Targeted {
	if kustomize.Spec == nil || kustomize.Document == nil {
		return nil
	}
	var all []Targeted
	add := func(field string, patches []types.Patch) {
		for i, p := range patches {
			if p.Target == nil {
				continue
			}
			from := b.whole()
			if !kustomize.Component {
				from = b.below(kustomize)
			}
			one := b.look(*p.Target, from)
			one.Shared, one.Index = kustomize.Component, i
			one.File = b.Origin(kustomize.File.Path)
			one.Line, one.Column = kustomize.Document.Position(field, i, "target", "name")
			all = append(all, one)
		}
	}
	add("patches", kustomize.Spec.Patches)
	add("patchesJson6902", kustomize.Spec.PatchesJson6902) //nolint:staticcheck // older repositories use it
	return all
}

// whole returns all objects of the build, from which the patches of components and of the Flux
// Kustomization select.
func (b *Build) whole() *selectable {
	if b.all != nil {
		return b.all
	}
	s := &selectable{}
	for _, file := range b.Read {
		if !b.Repo.Exists(file) {
			continue // the kustomization that Flux generates for a folder without one
		}
		if use := b.Repo.Use(file); use == repository.Plain || use == repository.Resource {
			s.addFile(b.Repo, file)
		}
	}
	for _, kustomize := range b.Kustomizes {
		s.pass(kustomize)
		s.generate(kustomize)
		s.unknown = s.unknown || ChangesIdentities(b.Repo, kustomize)
	}
	s.unknown = s.unknown || !b.Complete
	b.all = s
	return s
}

// below returns the objects in the resources and components of a kustomization, and those that it generates.
func (b *Build) below(kustomize *repository.Kustomize) *selectable {
	if s := b.byDir[kustomize.Dir]; s != nil {
		return s
	}
	s := &selectable{unknown: !b.Complete}
	if b.byDir == nil {
		b.byDir = map[string]*selectable{}
	}
	b.byDir[kustomize.Dir] = s
	w := &gatherer{repo: b.Repo, into: s, seen: map[string]bool{kustomize.Dir: true}}
	s.generate(kustomize)
	if ChangesIdentities(b.Repo, kustomize) || UsesPlugins(kustomize.Spec) {
		s.unknown = true
	}
	w.references(kustomize)
	return s
}

// gatherer follows the resources and components of kustomizations.
type gatherer struct {
	repo *repository.Repository
	into *selectable
	seen map[string]bool
}

func (w *gatherer) references(kustomize *repository.Kustomize) {
	//nolint:staticcheck // older repositories use bases
	for _, ref := range slices.Concat(kustomize.Spec.Resources, kustomize.Spec.Bases, kustomize.Spec.Components) {
		at, inside := repository.Join(kustomize.Dir, ref)
		if !inside {
			w.into.unknown = true
			continue
		}
		if _, isDir := w.repo.ReadDir(at); !isDir {
			w.into.addFile(w.repo, at)
			continue
		}
		inner, ok := w.repo.KustomizeAt(at)
		if !ok || inner.Spec == nil {
			w.into.unknown = true
			continue
		}
		if !w.seen[at] {
			w.seen[at] = true
			w.into.pass(inner)
			w.into.generate(inner)
			if w.into.unknown = w.into.unknown || ChangesIdentities(w.repo, inner); !w.into.unknown {
				w.references(inner)
			}
		}
	}
}

// addFile adds the objects of a file. If a file contains no objects, the objects are unknown: it may be a template that is filled
// later, such as the files that flux bootstrap writes.
func (s *selectable) addFile(repo *repository.Repository, file string) {
	before := len(s.documents)
	if f, ok := repo.File(file); ok && f.Err == nil {
		for _, d := range f.Documents {
			s.documents = append(s.documents, d.Objects...)
		}
	}
	s.unknown = s.unknown || len(s.documents) == before
}

// pass records how a kustomization changes the names and namespaces of its objects.
func (s *selectable) pass(k *repository.Kustomize) {
	if k.Spec == nil {
		s.unknown = true
		return
	}
	if k.Spec.Namespace != "" {
		s.namespaces = append(s.namespaces, k.Spec.Namespace)
	}
	s.renamed = s.renamed || k.Spec.NamePrefix+k.Spec.NameSuffix != "" || len(k.Spec.Replacements) > 0
	s.unknown = s.unknown || UsesPlugins(k.Spec)
}

// generate adds the objects that the generators of a kustomization create.
func (s *selectable) generate(k *repository.Kustomize) {
	if k.Spec == nil {
		return
	}
	s.generated = append(s.generated, Generators(k.Spec)...)
}

// UsesPlugins reports whether a kustomization creates or changes objects by configurations in files.
func UsesPlugins(k *types.Kustomization) bool {
	return len(k.Generators)+len(k.Transformers)+len(k.HelmCharts)+len(k.HelmChartInflationGenerator) > 0
}

// ChangesIdentities reports whether a patch of a kustomization may change the names or kinds by which targets select.
func ChangesIdentities(repo *repository.Repository, k *repository.Kustomize) bool {
	if k.Spec == nil {
		return true
	}
	//nolint:staticcheck // older repositories use it
	return slices.ContainsFunc(slices.Concat(k.Spec.Patches, k.Spec.PatchesJson6902), func(p types.Patch) bool {
		if p.Options != nil && (p.Options.AllowNameChange || p.Options.AllowKindChange) {
			return true
		}
		text := p.Patch
		if at, ok := repository.Join(k.Dir, p.Path); ok {
			data, err := repo.ReadFile(at)
			if err != nil {
				return true
			}
			text = string(data)
		}
		return slices.ContainsFunc([]string{"/metadata/name", "/kind", "/apiVersion"}, func(pointer string) bool { return strings.Contains(text, pointer) })
	})
}

// look returns what a target selects.
func (b *Build) look(target types.Selector, from *selectable) Targeted {
	p := Targeted{Target: target}
	regex, err := NewSelectorRegex(&target)
	if err != nil || from.unknown || strings.Contains(target.String(), "${") {
		p.Selects = true
		return p
	}
	for _, d := range from.documents {
		gvk := resid.NewGvk(d.Group(), d.Version(), d.Kind)
		b.weigh(&p, regex, gvk, d.Name, d.Namespace, from, d)
	}
	for _, g := range from.generated {
		b.weigh(&p, regex, resid.NewGvk("", "v1", g.Kind), g.Name, "", from, nil)
	}
	for _, list := range []*[]string{&p.Names, &p.Kinds, &p.Versions} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return p
}

// weigh compares an object with a target; d is nil if the object is generated.
func (b *Build) weigh(p *Targeted, regex *types.SelectorRegex, gvk resid.Gvk, name, namespace string, from *selectable, d *repository.Object) {
	sameKind, sameName := regex.MatchGvk(gvk), regex.MatchName(name)
	if p.Target.Kind != "" && gvk.Kind == p.Target.Kind {
		p.Names = append(p.Names, name)
		if !sameKind {
			p.Versions = append(p.Versions, gvk.ApiVersion())
		}
	}
	if sameName && p.Target.Name != "" {
		p.Kinds = append(p.Kinds, gvk.Kind)
	}
	if !sameKind || !sameName && !from.renamed {
		return
	}
	if namespace == "" {
		namespace = resid.DefaultNamespace
	}
	if d != nil && !regex.MatchNamespace(namespace) && !slices.ContainsFunc(from.namespaces, regex.MatchNamespace) {
		return
	}
	p.Selects = p.Selects || d == nil || b.labelled(p.Target, d)
}

// labelled reports whether a target's label and annotation selectors select an object, by its
// document or by the built object.
func (b *Build) labelled(target types.Selector, d *repository.Object) bool {
	if target.LabelSelector+target.AnnotationSelector == "" || len(b.Built[d]) == 0 {
		return true
	}
	matches := func(text string, object any, field string) bool {
		s, err := labels.Parse(text)
		return err != nil || s.Matches(texts(object, field))
	}
	both := func(value any) bool {
		return matches(target.LabelSelector, value, "labels") && matches(target.AnnotationSelector, value, "annotations")
	}
	written, _ := d.Value()
	return both(written) || slices.ContainsFunc(b.Built[d], func(built map[string]any) bool { return both(built) })
}

// texts returns the strings in a field of an object's metadata.
func texts(object any, field string) labels.Set {
	value, _ := object.(map[string]any)
	metadata, _ := value["metadata"].(map[string]any)
	fields, _ := metadata[field].(map[string]any)
	texts := labels.Set{}
	for name, value := range fields {
		if text, isText := value.(string); isText {
			texts[name] = text
		}
	}
	return texts
}
