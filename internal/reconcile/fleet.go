package reconcile

import (
	"cmp"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Fleet is what a repository makes of its clusters.
type Fleet struct {
	// Clusters in the order of their names.
	Clusters []*Cluster
	// Unreached are the Flux Kustomizations in the repository's files that no root leads to.
	Unreached []*repository.Object

	// repo is the repository, and given are the sources at hand.
	repo  *repository.Repository
	given map[string]*repository.Repository
}

// Cluster is all that follows from one root.
type Cluster struct {
	// Name is the last element of the root's path where no other root's is the same, and not
	// one that any cluster may have; else the last one that no other has, else the path.
	Name string
	// Root says what the cluster starts from.
	Root Root
	// Kustomizations that are reached, the root's own first, each after its parent.
	Kustomizations []*Kustomization
	// Releases are the HelmReleases among the objects, in their order.
	Releases []*Release
	// CopyFailures are the copies of ArtifactGenerators that source-watcher refuses.
	CopyFailures []CopyFailure

	byIdentity map[Identity][]*Object
	byName     map[[2]string]*Kustomization
	objects    []*Object
	// secrets are texts that no message shows.
	secrets []string
}

// Identity is what the API server tells objects apart by, the version left out.
type Identity struct{ Group, Kind, Namespace, Name string }

// Objects are those of all Kustomizations, in their order, and then those that charts at
// hand render, in the order of their HelmReleases.
func (c *Cluster) Objects() []*Object { return c.objects }

// Find returns the objects of an identity: more than one where several Kustomizations apply
// the same.
func (c *Cluster) Find(id Identity) []*Object { return c.byIdentity[id] }

// Kustomization returns the Kustomization of a namespace and name, if it is reached.
func (c *Cluster) Kustomization(namespace, name string) (*Kustomization, bool) {
	k, ok := c.byName[[2]string{namespace, name}]
	return k, ok
}

// Release returns what the chart of a HelmRelease renders; nil where it isn't known.
func (c *Cluster) Release(o *Object) *Release {
	i := slices.IndexFunc(c.Releases, func(r *Release) bool { return r.Object == o })
	if i < 0 || c.Releases[i].Chart == "" || c.Releases[i].failed() {
		return nil
	}
	return c.Releases[i]
}

// Complete says whether all objects of the cluster are known: that no Kustomization has a
// gap or failed.
func (c *Cluster) Complete() bool {
	return !slices.ContainsFunc(c.Kustomizations, func(k *Kustomization) bool { return !k.Complete() })
}

// Kustomization is a Flux Kustomization and what it applies.
type Kustomization struct {
	Cluster *Cluster
	// Parent brought it; nil for a root.
	Parent *Kustomization
	// Object is the Kustomization itself as it was built; for a root, as it stands in its
	// file, and nil where only a FluxInstance or --root says what is synced.
	Object          *Object
	Namespace, Name string
	Spec            kustomizev1.KustomizationSpec
	// Repo and Dir are where spec.path is; Repo is nil when the source is not at hand.
	Repo *repository.Repository
	Dir  string
	// Objects that it applies, in the order of the build.
	Objects []*Object
	// Failure says why Flux could not build it.
	Failure *builds.Failure
	// Gaps are the parts that cannot be known offline.
	Gaps []builds.Gap
	// Unbuilt says that nothing of it could be built for want of files that are not given.
	Unbuilt bool
	// References and Variables of postBuild.
	References []Reference
	Variables  Variables
	// Skipped says that it was not built, since [Options.Only] left it out.
	Skipped bool
	// Files are those that the build read, sorted.
	Files []string

	from                     *builds.Files
	built                    *builds.Built
	allPatches, builtPatches patched
	leads                    reached
	meant                    meant
	// read are the paths in Repo of the files that the build read, and origin is how to tell
	// of one.
	read   []string
	origin func(file string) string
}

// Complete says whether all objects of the Kustomization are known.
func (k *Kustomization) Complete() bool { return k.Failure == nil && len(k.Gaps) == 0 && !k.Skipped }

// meant is a folder of the repository itself that the path of a Kustomization names whose source is
// missing.
type meant struct {
	repo *repository.Repository
	dir  string
	// certain says that hardly another repository is meant: the source's name is that of the
	// repository's own but for a slip, or the path has several steps.
	certain bool
}

// Astray says whether its source is missing and most likely the repository itself is meant.
func (k *Kustomization) Astray() bool { return k.meant.certain }

// Lacking are its gaps of files that are not given.
func (k *Kustomization) Lacking() []builds.Gap {
	return slices.DeleteFunc(slices.Clone(k.Gaps), func(g builds.Gap) bool { return g.Kind != builds.NotGiven })
}

// String gives namespace/name.
func (k *Kustomization) String() string { return k.Namespace + "/" + k.Name }

// Chain is the names of the Kustomizations that lead here, the root first.
func (k *Kustomization) Chain() []string {
	var chain []string
	for ; k != nil; k = k.Parent {
		chain = append(chain, k.String())
	}
	slices.Reverse(chain)
	return chain
}

// Object is an object as Flux would apply it.
type Object struct {
	// Kustomization that applies it, or its HelmRelease.
	Kustomization *Kustomization
	// HelmRelease whose chart renders it from its file Template, such as
	// "podinfo/templates/service.yaml"; nil and "" of an object that a Kustomization applies.
	HelmRelease *Object
	Template    string
	// Value is the whole object, as JSON has it. It must not be changed.
	Value map[string]any
	Identity
	APIVersion string
	// Source is the document that the object was built from, nil where it is not one:
	// a generator's object, or one that a FluxInstance stands for.
	Source *repository.Object
	// File, Line and Column are where it comes from; the generator's entry for what is
	// generated, and the HelmRelease for what a chart renders.
	File         string
	Line, Column int
	// Encrypted says that SOPS encrypts values of the object.
	Encrypted bool
	// Substituted says that variables of postBuild were replaced in it.
	Substituted bool
	// Unknown are the variables in it whose values cannot be known offline; they stand as
	// ${NAME} in Value.
	Unknown []string
}

// Position returns the file, line and column of what is at a path (field names and list
// indexes) of the object: in the patch that has set it, else in the document that the object
// was built from, or of the nearest parent that is there.
func (o *Object) Position(path ...any) (file string, line, column int) {
	if at, ok := o.patchOf(path, false); ok {
		return at.File, at.Line, at.Column
	}
	if o.Source == nil {
		return o.File, o.Line, o.Column
	}
	line, column = o.Source.Position(path...)
	return o.File, line, column
}

// KeyPosition is Position of the key, or list item; of what an operation of a JSON patch sets, that
// of the path that the operation names.
func (o *Object) KeyPosition(path ...any) (file string, line, column int) {
	if at, ok := o.patchOf(path, true); ok {
		return at.File, at.Line, at.Column
	}
	if o.Source == nil {
		return o.File, o.Line, o.Column
	}
	line, column = o.Source.KeyPosition(path...)
	return o.File, line, column
}

// String gives kind namespace/name, as messages name an object.
func (o *Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// finish sorts and indexes a cluster whose Kustomizations are all built.
func (c *Cluster) finish() {
	c.scrub()
	c.byIdentity = map[Identity][]*Object{}
	for _, k := range c.Kustomizations {
		c.objects = append(c.objects, k.Objects...)
		slices.SortStableFunc(k.Gaps, func(a, b builds.Gap) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
		})
		k.Gaps = slices.Compact(k.Gaps)
		k.from = nil
	}
	for _, r := range c.Releases {
		c.objects = append(c.objects, r.All()...)
	}
	for _, o := range c.objects {
		c.byIdentity[o.Identity] = append(c.byIdentity[o.Identity], o)
	}
}
