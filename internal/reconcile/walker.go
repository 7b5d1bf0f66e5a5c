package reconcile

import (
	"context"
	"sync"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/resourceset"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// walker follows one cluster's graph of Kustomizations in rounds: it builds all that are found, concurrently; substitutes
// those whose variables are all available, which finds more; and so on until a round finds nothing new. Each round
// handles them in the order in which they were found, so that the result is deterministic.
type walker struct {
	ctx    context.Context
	own    *builds.Files
	mapped map[string]*builds.Files
	slots  chan struct{}
	// branches are the read branches and tags of the repository itself, and remotes the addresses of its remotes.
	branches *branches
	remotes  []string
	locked   locked
	cluster  *Cluster
	index    map[Identity][]*Object
	// ownBy holds the files of the repository, by each of its sources whose object is known.
	ownBy map[roots.Source]*builds.Files
	// artifacts are the files of ArtifactGenerators' artifacts and of GitRepositories that include others.
	artifacts map[roots.Source]*builds.Files
	// wanted are the sources besides the repository itself, and included the sources whose files are being composed.
	wanted   map[roots.Source]*WantedSource
	included map[roots.Source]bool
	// resolving is held while a chart is looked up, which happens concurrently.
	resolving  sync.Mutex
	generators []generator
	evaluator  *resourceset.Evaluator // nil until the first ResourceSet
	// sets wait for their input providers; providers are the found ones.
	sets      []waitingSet
	providers []resourceset.Provider
	unbuilt   []*Kustomization        // found, not built yet
	waiting   []*Kustomization        // built, not substituted yet
	rebuilt   map[*Kustomization]bool // the roots that were built again
	// kinds are the kinds that the cluster serves, as far as its objects show, and clusterScoped those without a
	// namespace; apiVersions are these and the built-in ones, sorted, computed when there were `listed` kinds.
	kinds         []string
	clusterScoped map[[2]string]bool
	// known is the number of Kustomizations when the cluster's secrets were collected.
	known       int
	apiVersions []string
	listed      int
}

// find returns an object of the Kustomizations that are substituted so far, nil if there is none.
func (w *walker) find(id Identity) *Object {
	if found := w.index[id]; len(found) > 0 {
		return found[0]
	}
	return nil
}

// waitingSet is a ResourceSet that a Kustomization applies.
type waitingSet struct {
	by     *Kustomization
	object *Object
}

// artifactGenerator holds the fields of an ArtifactGenerator that are read. Source: github.com/fluxcd/source-watcher v2,
// api/v1beta1 and internal/builder.
type artifactGenerator struct {
	Sources     []artifactSource `json:"sources"`
	PathPattern string           `json:"pathPattern"`
	Artifacts   []struct {
		Name string         `json:"name"`
		Copy []artifactCopy `json:"copy"`
	} `json:"artifacts"`
}

type artifactSource struct {
	Alias     string `json:"alias"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

type artifactCopy struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Exclude  []string `json:"exclude"`
	Strategy string   `json:"strategy"`
}

// generator is an ArtifactGenerator among the objects.
type generator struct {
	object *Object
	artifactGenerator
}
