package reconcile

import (
	"slices"
	"sync"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/chartref"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/patches"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// Fleet is the result of reconciling a repository: its clusters and their objects.
type Fleet struct {
	// Clusters in the order of their names.
	Clusters []*Cluster
	// Unreached are the Flux Kustomizations in the repository's files that no root reaches.
	Unreached []*repository.Object

	// Branches are the other branches and tags of the repository that clusters apply, and that were read from its clone.
	Branches []*repository.Repository

	// Remotes are the addresses of the repository itself, as far as they are known.
	Remotes []string

	// repo is the repository, mapped are the sources passed with --source, and fetched are the sources that were fetched.
	repo    *repository.Repository
	mapped  map[string]*repository.Repository
	fetched []*repository.Repository
	// library contains the charts in the folders passed with --charts, and locked the charts in the lock.
	library *charts.Library
	locked  locked
}

// Fetched returns the repositories of the fetched sources that were used, sorted by name.
func (f *Fleet) Fetched() []*repository.Repository { return f.fetched }

// Cluster is a root and everything that Flux applies from there.
type Cluster struct {
	// Name is the last element of the root's path that no other root's path has, preferably not one that any cluster may
	// have, such as "apps"; else the whole path.
	Name string
	// Root is what the cluster starts from.
	Root roots.Root
	// Kustomizations that the root reaches, the root's own first, each after its parent.
	Kustomizations []*Kustomization
	// Releases are the HelmReleases among the objects, in their order.
	Releases []*Release
	// Sources are the sources of files that the cluster uses besides the repository itself, sorted by name.
	Sources []*WantedSource
	// OpenSets are the ResourceSets whose created objects are not all known.
	OpenSets []OpenSet
	// CopyFailures are the copies of ArtifactGenerators that source-watcher refuses.
	CopyFailures []CopyFailure

	byIdentity map[Identity][]*Object
	byName     map[[2]string]*Kustomization
	objects    []*Object
	// wide holds the groups and kinds of cluster-scoped CustomResourceDefinitions.
	wide map[[2]string]bool
	// created are the objects that ResourceSets create.
	created []*Object
	// named are objects of which only the name is known.
	named []*Object
	// secrets are strings that no message may show.
	secrets []string
}

// WantedSource is a source of files that a cluster uses besides the repository itself.
type WantedSource struct {
	// Object is the GitRepository, OCIRepository or Bucket.
	Object *Object
	// Ask is the request for its files, nil where Unfetchable says why they cannot be fetched.
	Ask         *chartref.Source
	Unfetchable string
	// Mapped reports whether --source names a folder for it.
	Mapped bool
	// Verify is the signature that it requires, nil for none.
	Verify *Verification

	// uncached is why the files that the lock names are not available; "" if they are, or if the lock names none.
	uncached string
}

// Identity identifies an object to the API server, without its version.
type Identity struct{ Group, Kind, Namespace, Name string }

// Objects returns the objects of all Kustomizations in their order, then those that ResourceSets create, then those that
// locally available charts render, in the order of their HelmReleases.
func (c *Cluster) Objects() []*Object { return c.objects }

// Find returns the objects with an identity: more than one if several Kustomizations apply the same object.
func (c *Cluster) Find(id Identity) []*Object { return c.byIdentity[id] }

// Kustomization returns the Kustomization with a namespace and name; ok is false if the root does not reach it.
func (c *Cluster) Kustomization(namespace, name string) (*Kustomization, bool) {
	k, ok := c.byName[[2]string{namespace, name}]
	return k, ok
}

// Complete reports whether all objects of the cluster are known: no Kustomization failed or has a gap.
func (c *Cluster) Complete() bool {
	return !slices.ContainsFunc(c.Kustomizations, func(k *Kustomization) bool { return !k.Complete() })
}

// Kustomization is a Flux Kustomization and the objects that it applies.
type Kustomization struct {
	Cluster *Cluster
	// Parent is the Kustomization that applies this one; nil for a root.
	Parent *Kustomization
	// Object is the Kustomization itself as it was built; for a root, as written in its file, and nil where only a
	// FluxInstance or --root says what is synced.
	Object          *Object
	Namespace, Name string
	// Spec lacks interval, retryInterval and timeout, which are in Object.
	Spec kustomizev1.KustomizationSpec
	// Repo and Dir are the repository and folder of spec.path; Repo is nil if the source is not available locally.
	Repo *repository.Repository
	Dir  string
	// Objects that it applies, in the order of the build.
	Objects []*Object
	// Failure is why Flux could not build it.
	Failure *builds.Failure
	// More are further failures. The parts that cause them were left out, and Objects are the rest.
	More []builds.Failure
	// Gaps are its parts that cannot be known offline.
	Gaps []builds.Gap
	// Remotes are the entries of its kustomization files that kustomize would fetch, fetched or not.
	Remotes []builds.Remote
	// Unbuilt reports whether nothing of it could be built because files are missing from the input.
	Unbuilt bool
	// References and Variables of postBuild.
	References []Reference
	Variables  Variables
	// Files are the files that the build read, sorted.
	Files []string
	// Loose reports whether a failing or missing patch or component may change the Kustomization or one of its ancestors,
	// so that it may define more variables.
	Loose bool

	// Assumed is the definition of the source, in a file that no build applies, that shows that the source is the
	// repository itself; nil elsewhere.
	Assumed *repository.Object

	from                     *builds.Files
	built                    *builds.Built
	allPatches, builtPatches patched
	leads                    reached
	likely                   likelyFolder
	// computed are strings that result from variables of Secrets.
	computed []string
	// read are the paths in Repo of the files that the build read; origin returns the path of such a file for a message.
	read   []string
	origin func(file string) string
}

// Complete reports whether all objects of the Kustomization are known.
func (k *Kustomization) Complete() bool { return k.Failure == nil && len(k.Gaps) == 0 }

// likelyFolder is a folder of the validated repository that fits the path of a Kustomization whose source is missing.
type likelyFolder struct {
	repo *repository.Repository
	dir  string
	// certain reports whether another repository is very unlikely: the source's name is a typo of the repository's own,
	// or the path has several elements.
	certain bool
}

// LikelyOwnSource reports whether its source is missing and most likely should be the validated repository itself.
func (k *Kustomization) LikelyOwnSource() bool { return k.likely.certain }

// MissingFiles returns its gaps of files that are missing from the input.
func (k *Kustomization) MissingFiles() []builds.Gap {
	return slices.DeleteFunc(slices.Clone(k.Gaps), func(g builds.Gap) bool { return g.Kind != builds.FilesMissing })
}

// String returns namespace/name.
func (k *Kustomization) String() string { return k.Namespace + "/" + k.Name }

// Chain returns the names of the Kustomizations from the root to this one.
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
	// Kustomization that applies the object, or that applies its HelmRelease.
	Kustomization *Kustomization
	// HelmRelease whose chart renders the object from its file Template, such as "podinfo/templates/service.yaml"; nil
	// and "" for an object that a Kustomization applies.
	HelmRelease *Object
	Template    string
	// LooksUp reports whether the template looks up objects in the cluster, so that the object may differ there.
	LooksUp bool
	// Value is the whole object, as decoded from JSON. It must not be changed.
	Value map[string]any
	Identity
	APIVersion string
	// Source is the document that the object was built from; nil for an object of a generator or of a FluxInstance.
	Source *repository.Object
	// File, Line and Column are where the object comes from: the generator's entry for a generated object, the
	// HelmRelease for an object that a chart renders.
	finding.Place
	// Encrypted reports whether SOPS encrypts values of the object; SOPS is its metadata, which is not in Value.
	Encrypted bool
	SOPS      map[string]any
	// Substituted reports whether variables of postBuild were replaced in it.
	Substituted bool
	// Unknown are its variables whose values cannot be known offline; they remain as ${NAME} in Value.
	Unknown []string

	// set is the ResourceSet that creates the object; nil for others.
	set *Object
	// places are the positions of the object's parts in the template of the ResourceSet.
	places *located.Value
	// loose reports whether a failing or missing patch or component may change it.
	loose bool
}

// String returns kind namespace/name, as messages name an object.
func (o *Object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Variables of a Kustomization's postBuild, by name.
type Variables map[string]*Variable

// Variable is one variable of postBuild.
type Variable struct {
	Name string
	// Value is set if Known is true; the value of an encrypted Secret is not known.
	Value string
	Known bool
	// From is the object that holds it, nil if it is defined in postBuild.substitute.
	From *Object
	// Undefined reports whether nothing defines it; Used counts the objects that use it.
	Undefined bool
	Used      int
	// UsedBy is the first object that uses it.
	UsedBy *Object
}

// Reference is an entry of postBuild.substituteFrom.
type Reference struct {
	Index    int
	Kind     string
	Name     string
	Optional bool
	// Found is the object that it names, nil if the cluster has none in Git.
	Found *Object
}

// CopyFailure is a copy of an ArtifactGenerator that source-watcher refuses, so that the artifact is not created.
type CopyFailure struct {
	Generator *Object
	// Path is the path of the field "from" in the generator.
	Path    []any
	Message string
	// Alias is the alias that is copied from if the generator has no source with it, else ""; Aliases are all aliases of
	// the generator.
	Alias   string
	Aliases []string
}

// patched holds a list of patches that is computed once.
type patched struct {
	sync.Once
	list []patches.Patch
}

// Reach holds what is in the files that a Kustomization applies, by itself and through the Kustomizations among them,
// whether or not it can be built.
type Reach struct {
	// Open reports whether a part is unknown: missing, remote, created by plugins or by a controller, or renamed in ways
	// that are not followed.
	Open bool

	documents map[[2]string][]*repository.Object // by group and kind
	generated []patches.Generator
	renamed   bool
	// releases reports whether there are HelmReleases, whose charts add objects.
	releases bool
}

// reached holds a Reach that is computed once.
type reached struct {
	once sync.Once
	is   Reach
}

// Release is a HelmRelease and its rendered objects.
type Release struct {
	// Object is the HelmRelease.
	Object *Object
	// Chart is the name and version of its chart, "" if the chart is not available locally.
	Chart string
	// Wanted is its request to a source on the network; nil if it has none, or if Unfetchable says why that cannot be
	// fetched. Uncached reports whether the lock names the chart and the cache lacks it.
	Wanted      *chartref.Ask
	Unfetchable string
	Uncached    bool
	// Verify is the signature that its chart must have, nil for none.
	Verify *Verification
	// Objects of the release, without Hooks, which only run at some points; Definitions are the CustomResourceDefinitions
	// in the chart's crds folders, which are not part of the release. A release to another cluster has none.
	Objects, Hooks, Definitions []*Object
	// Problems are values that the chart's schema refuses.
	Problems []charts.Problem
	// Failure is why helm-controller could not install the release.
	Failure *ReleaseFailure
	// Unknown is why its objects cannot be known offline; "" if they are known, or if the chart is not available locally.
	Unknown string
	// Limit is the limit of Fleetwright that the release exceeds, a *charts.LimitError or a *bounds.Error; nil if it
	// exceeds none. Unknown says the same in words.
	Limit error
	// Unchecked is why the values were not checked against the chart's schema; "" if they were, or if the chart has no
	// schema. ValuesLimit is the limit that prevented the check, as in Limit.
	Unchecked   string
	ValuesLimit error

	spec  *helmv2.HelmRelease
	chart *charts.Chart
	// from holds the ConfigMaps and Secrets that it takes values from, by KIND/NAME.
	from map[string]*Object
	// values of the release until it is rendered, and its rendering, which identical releases share.
	values    *charts.Values
	rendering *rendering
}

// OpenSet is a ResourceSet whose created objects are not all known.
type OpenSet struct {
	Object *Object
	// Because is the reason, and Refused reports whether the Flux Operator refuses the ResourceSet for it.
	Because string
	Refused bool
}

// ReleaseFailure is why helm-controller could not install a release.
type ReleaseFailure struct {
	// Template is the file of the chart that fails, such as "podinfo/templates/service.yaml", with its line; "" and 0 if
	// no template fails.
	Template string
	Line     int
	Message  string
	// Chosen reports whether the chart itself refuses, by fail or required.
	Chosen bool
}

// rendering is the result that identical releases share; it is rendered for the first one.
type rendering struct {
	once   sync.Once
	of     *Release
	result *charts.Result
	err    error
	// capabilities that it was rendered with.
	capabilities charts.Capabilities

	unusedOnce sync.Once
	unused     []charts.Unused
	unusedErr  error
}
