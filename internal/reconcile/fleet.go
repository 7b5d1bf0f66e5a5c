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
	// Unreached are the Flux Kustomizations in the repository's files that no root leads to.
	Unreached []*repository.Object

	// Branches are the other branches and tags of the repository that clusters apply, and that were read from its clone.
	Branches []*repository.Repository

	// Remotes are the addresses of the repository itself, as far as they are known.
	Remotes []string

	// repo is the repository, given are the sources of --source, and fetched those that were fetched.
	repo    *repository.Repository
	given   map[string]*repository.Repository
	fetched []*repository.Repository
	// library contains the charts in the folders of charts, and locked those that the lock names.
	library *charts.Library
	locked  locked
}

// Fetched are the repositories of the sources that were fetched and used, in the order of their names.
func (f *Fleet) Fetched() []*repository.Repository { return f.fetched }

// Cluster is all that follows from one root.
type Cluster struct {
	// Name is the last element of the root's path where no other root's is the same, and not
	// one that any cluster may have; else the last one that no other has, else the path.
	Name string
	// Root says what the cluster starts from.
	Root roots.Root
	// Kustomizations that are reached, the root's own first, each after its parent.
	Kustomizations []*Kustomization
	// Releases are the HelmReleases among the objects, in their order.
	Releases []*Release
	// Sources are the sources of files that the cluster uses beside the repository itself, in the order of their names.
	Sources []*WantedSource
	// OpenSets are the ResourceSets of which not all that they create is known.
	OpenSets []OpenSet
	// CopyFailures are the copies of ArtifactGenerators that source-watcher refuses.
	CopyFailures []CopyFailure

	byIdentity map[Identity][]*Object
	byName     map[[2]string]*Kustomization
	objects    []*Object
	// wide are the groups and kinds of CustomResourceDefinitions for the whole cluster.
	wide map[[2]string]bool
	// created are the objects that ResourceSets create.
	created []*Object
	// named are those of which the name alone is known.
	named []*Object
	// secrets are texts that no message shows.
	secrets []string
}

// WantedSource is a source of files that a cluster uses beside the repository itself.
type WantedSource struct {
	// Object is the GitRepository, OCIRepository or Bucket.
	Object *Object
	// Ask is what it asks for, nil where Unfetchable says why it cannot be fetched.
	Ask         *chartref.Source
	Unfetchable string
	// Given says that --source names a folder for it.
	Given bool
	// Verify is the signature that it asks for, nil for none.
	Verify *Verification

	// uncached says why the files that the lock names are not available, "" where they are, or it names none.
	uncached string
}

// Identity identifies an object for the API server, without the version.
type Identity struct{ Group, Kind, Namespace, Name string }

// Objects are those of all Kustomizations, in their order, then those that ResourceSets create, and then those that
// charts at hand render, in the order of their HelmReleases.
func (c *Cluster) Objects() []*Object { return c.objects }

// Find returns the objects of an identity: more than one where several Kustomizations apply
// the same.
func (c *Cluster) Find(id Identity) []*Object { return c.byIdentity[id] }

// Kustomization returns the Kustomization of a namespace and name, if it is reached.
func (c *Cluster) Kustomization(namespace, name string) (*Kustomization, bool) {
	k, ok := c.byName[[2]string{namespace, name}]
	return k, ok
}

// Complete says whether all objects of the cluster are known: that no Kustomization has a
// gap or failed.
func (c *Cluster) Complete() bool {
	return !slices.ContainsFunc(c.Kustomizations, func(k *Kustomization) bool { return !k.Complete() })
}

// Kustomization is a Flux Kustomization and the objects that it applies.
type Kustomization struct {
	Cluster *Cluster
	// Parent brought it; nil for a root.
	Parent *Kustomization
	// Object is the Kustomization itself as it was built; for a root, as it stands in its
	// file, and nil where only a FluxInstance or --root says what is synced.
	Object          *Object
	Namespace, Name string
	// Spec has no interval, retryInterval and timeout, which Object has.
	Spec kustomizev1.KustomizationSpec
	// Repo and Dir are where spec.path is; Repo is nil when the source is not at hand.
	Repo *repository.Repository
	Dir  string
	// Objects that it applies, in the order of the build.
	Objects []*Object
	// Failure says why Flux could not build it.
	Failure *builds.Failure
	// More are further reasons: then what is missed was left out, and Objects are the rest.
	More []builds.Failure
	// Gaps are the parts that cannot be known offline.
	Gaps []builds.Gap
	// Remotes are the entries of its kustomizations that kustomize would fetch, whether or not they were fetched.
	Remotes []builds.Remote
	// Unbuilt says that nothing of it could be built for want of files that are not given.
	Unbuilt bool
	// References and Variables of postBuild.
	References []Reference
	Variables  Variables
	// Files are those that the build read, sorted.
	Files []string
	// Loose says that a patch or component which fails or is missing may change the Kustomization, or one that leads to
	// it: it may define more variables.
	Loose bool

	// Assumed is the definition of the source in a file that no build applies, from which the source is known to be the
	// repository itself; nil elsewhere.
	Assumed *repository.Object

	from                     *builds.Files
	built                    *builds.Built
	allPatches, builtPatches patched
	leads                    reached
	meant                    meant
	// computed are strings that variables from Secrets come to.
	computed []string
	// read are the paths in Repo of the files that the build read, and origin is how to tell
	// of one.
	read   []string
	origin func(file string) string
}

// Complete says whether all objects of the Kustomization are known.
func (k *Kustomization) Complete() bool { return k.Failure == nil && len(k.Gaps) == 0 }

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
	// Looks says that the template asks the cluster for objects, so that another object may result there.
	Looks bool
	// Value is the whole object, as JSON has it. It must not be changed.
	Value map[string]any
	Identity
	APIVersion string
	// Source is the document that the object was built from, nil where it is not one:
	// a generator's object, or one that a FluxInstance stands for.
	Source *repository.Object
	// File, Line and Column are where it comes from; the generator's entry for what is
	// generated, and the HelmRelease for what a chart renders.
	finding.Place
	// Encrypted says that SOPS encrypts values of the object, and SOPS is what it wrote beside them, which is not in Value.
	Encrypted bool
	SOPS      map[string]any
	// Substituted says that variables of postBuild were replaced in it.
	Substituted bool
	// Unknown are the variables in it whose values cannot be known offline; they stand as
	// ${NAME} in Value.
	Unknown []string

	// set is the ResourceSet that creates the object, nil of others.
	set *Object
	// places are those of the object's parts in the template of the ResourceSet.
	places *located.Value
	// loose says that a patch or component which fails or is missing may change it.
	loose bool
}

// String gives kind namespace/name, as messages name an object.
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
	// Value, when Known; an encrypted Secret's is not.
	Value string
	Known bool
	// From is the object that holds it, nil when it stands in postBuild.substitute.
	From *Object
	// Undefined says that nothing defines it; Used counts the objects that use it.
	Undefined bool
	Used      int
	// UsedBy is the first object that uses it.
	UsedBy *Object
}

// Reference is a substituteFrom.
type Reference struct {
	Index    int
	Kind     string
	Name     string
	Optional bool
	// Found is the object that it names, nil when the cluster has none in Git.
	Found *Object
}

// CopyFailure is a copy of an ArtifactGenerator among a cluster's objects that source-watcher
// refuses, so that the artifact is not made.
type CopyFailure struct {
	Generator *Object
	// Path is that of the field "from" in the generator.
	Path    []any
	Message string
	// Alias is the alias that is copied from, if the generator has no source with it, else ""; Aliases
	// are the generator's aliases.
	Alias   string
	Aliases []string
}

// patched are patches that are found once.
type patched struct {
	sync.Once
	list []patches.Patch
}

// Reach is what the files hold that a Kustomization leads to, by itself and through the
// Kustomizations among them, whether or not it can be built.
type Reach struct {
	// Open says that not all of it is known: something is missed, remote, made by plugins or
	// by a controller, or renamed in ways that are not followed.
	Open bool

	documents map[[2]string][]*repository.Object // by group and kind
	generated []patches.Generator
	renamed   bool
	// releases says that there are HelmReleases, whose charts bring objects.
	releases bool
}

// reached is found once.
type reached struct {
	once sync.Once
	is   Reach
}

// Release is a HelmRelease and its rendered objects.
type Release struct {
	// Object is the HelmRelease.
	Object *Object
	// Chart is the name and version of its chart, "" where that is not at hand.
	Chart string
	// Wanted is what it asks of a source on the network, nil where it asks nothing of one, or where Unfetchable says
	// why that cannot be fetched. Uncached says that the lock names the chart, and the cache lacks it.
	Wanted      *chartref.Ask
	Unfetchable string
	Uncached    bool
	// Verify is the signature that its chart must have, nil for none.
	Verify *Verification
	// Objects of the release, without Hooks, which only run at some points; Definitions are the
	// CustomResourceDefinitions in the chart's crds folders, which are not part of it. A release to another
	// cluster has none.
	Objects, Hooks, Definitions []*Object
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

// OpenSet is a ResourceSet of which not all that it creates is known.
type OpenSet struct {
	Object *Object
	// Because says why, and Refused that the Flux Operator refuses it for that.
	Because string
	Refused bool
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

// rendering is what several releases that are the same share: that of the first.
type rendering struct {
	once   sync.Once
	of     *Release
	result *charts.Result
	err    error
	// capabilities that it was rendered for.
	capabilities charts.Capabilities

	unusedOnce sync.Once
	unused     []charts.Unused
	unusedErr  error
}
