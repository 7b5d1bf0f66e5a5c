package reconcile

import (
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// mostReached is the maximum of files and folders that are searched for a Kustomization's Reach.
const mostReached = 20_000

// Reach returns what is in the files that the Kustomization applies, by itself and through the Kustomizations among them.
// If its source is missing, it looks in the validated repository, which the source may be.
func (k *Kustomization) Reach() *Reach {
	k.leads.once.Do(func() {
		is := &k.leads.is
		is.documents = map[[2]string][]*repository.Object{}
		repo, dir, source := k.Repo, k.Dir, k.Spec.SourceRef.Name
		if repo == nil {
			is.Open = !k.LikelyOwnSource()
			if repo, dir, source = k.likely.repo, k.likely.dir, k.Cluster.Root.Source.Name; repo == nil {
				return
			}
		}
		base := path.Clean("./" + strings.TrimSuffix(dir, repository.Clean(k.Spec.Path)))
		r := &reacher{repo: repo, base: base, source: source, into: is, seen: map[string]bool{}}
		r.spec(k.Spec.NamePrefix+k.Spec.NameSuffix != "", len(k.Spec.Patches) > 0)
		r.folder(dir)
		for _, component := range k.Spec.Components {
			r.reference(dir, component)
		}
	})
	return &k.leads.is
}

// Holds reports whether an object with an identity may come from the reached documents and generators.
func (r *Reach) Holds(id Identity) bool {
	fits := func(name string) bool {
		return name == id.Name || strings.Contains(name, "${") || r.renamed && strings.Contains(id.Name, name)
	}
	return slices.ContainsFunc(r.documents[[2]string{id.Group, id.Kind}], func(o *repository.Object) bool { return fits(o.Name) }) ||
		id.Group == "" && slices.ContainsFunc(r.generated, func(g patches.Generator) bool { return g.Kind == id.Kind && strings.Contains(id.Name, g.Name) })
}

// Charts reports whether a reached chart may render an object with an identity; it assumes that objects of Flux's graph
// are in files.
func (r *Reach) Charts(id Identity) bool {
	return r.releases && id.Group != fluxapi.KustomizeGroup && id.Group != fluxapi.HelmGroup && id.Group != fluxapi.SourceGroup
}

// reacher follows folders, kustomization files and Flux Kustomizations.
type reacher struct {
	repo         *repository.Repository
	base, source string
	into         *Reach
	seen         map[string]bool
}

// visit reports whether a file or folder is visited for the first time.
func (r *reacher) visit(at string) bool {
	if r.seen[at] || len(r.seen) >= mostReached {
		r.into.Open = r.into.Open || !r.seen[at]
		return false
	}
	r.seen[at] = true
	return true
}

// spec records the fields of a Flux Kustomization that matter: patches may change paths and names.
func (r *reacher) spec(renames, patches bool) {
	r.into.renamed = r.into.renamed || renames
	r.into.Open = r.into.Open || patches
}

// folder visits the files that kustomize-controller builds from a folder.
func (r *reacher) folder(dir string) {
	if !r.visit(dir + "/") {
		return
	}
	names, found := r.repo.ReadDir(dir)
	if !found {
		r.into.Open = true
		return
	}
	if k, own := r.repo.KustomizeAt(dir); own {
		r.kustomization(k)
		return
	}
	for _, name := range names {
		at := path.Join(dir, name)
		if _, isFolder := r.repo.ReadDir(at); isFolder {
			r.folder(at)
		} else if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
			r.file(at)
		}
	}
}

func (r *reacher) kustomization(k *repository.Kustomize) {
	if k.Spec == nil || patches.UsesPlugins(k.Spec) || patches.ChangesIdentities(r.repo, k) {
		r.into.Open = true
		return
	}
	r.into.renamed = r.into.renamed || k.Spec.NamePrefix+k.Spec.NameSuffix != "" || len(k.Spec.Replacements) > 0
	r.into.generated = append(r.into.generated, patches.Generators(k.Spec)...)
	//nolint:staticcheck // older repositories use bases
	for _, ref := range slices.Concat(k.Spec.Resources, k.Spec.Bases, k.Spec.Components) {
		r.reference(k.Dir, ref)
	}
}

// reference visits a file or folder that a kustomization file names.
func (r *reacher) reference(dir, ref string) {
	at, inside := repository.Join(dir, ref)
	if !inside {
		r.into.Open = true
		return
	}
	if r.repo.Exists(at) {
		r.file(at)
		return
	}
	r.folder(at)
}

// file visits the objects of a file, and follows the Kustomizations among them.
func (r *reacher) file(at string) {
	if !r.visit(at) {
		return
	}
	f, parsed := r.repo.File(at)
	if !parsed || f.Err != nil {
		r.into.Open = true
		return
	}
	for _, d := range f.Documents {
		for _, o := range d.Objects {
			group := o.Group()
			key := [2]string{group, o.Kind}
			r.into.documents[key] = append(r.into.documents[key], o)
			switch {
			case group == fluxapi.KustomizeGroup && o.Kind == kindKs:
				r.child(o)
			case group == fluxapi.HelmGroup:
				r.into.releases = true
			case group == fluxapi.OperatorGroup, group == fluxapi.ArtifactGroup:
				r.into.Open = true
			}
		}
	}
}

// child follows a Flux Kustomization of the same source.
func (r *reacher) child(o *repository.Object) {
	at, _ := o.Text("spec", "path")
	source, _ := o.Text("spec", "sourceRef", "name")
	if source != r.source || strings.Contains(at, "${") {
		r.into.Open = true
		return
	}
	has := func(field string) bool { return o.Lookup("spec", field) != nil }
	r.spec(has("namePrefix") || has("nameSuffix"), has("patches"))
	r.folder(path.Join(r.base, repository.Clean(at)))
	if list := o.Lookup("spec", "components"); list != nil {
		for _, component := range list.Content {
			r.reference(path.Join(r.base, repository.Clean(at)), component.Value)
		}
	}
}
