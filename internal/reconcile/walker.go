package reconcile

import (
	"context"
	"sync"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/resourceset"
	"github.com/fleetwright/fleetwright/internal/roots"
)

// walker follows one cluster's graph. It goes in rounds: all Kustomizations that are found
// are built side by side; those whose variables are all there are substituted, which finds
// more; and so on until nothing new comes. Each round handles them in the order in which they
// were found, so that the result depends on nothing else.
type walker struct {
	ctx    context.Context
	own    *builds.Files
	mapped map[string]*builds.Files
	slots  chan struct{}
	// branches of the repository itself, and the addresses of its remotes.
	branches *branches
	remotes  []string
	locked   locked
	cluster  *Cluster
	index    map[Identity][]*Object
	// ownBy are the files of the repository by its sources whose objects are known.
	ownBy map[roots.Source]*builds.Files
	// artifacts that ArtifactGenerators make, and GitRepositories that include others.
	artifacts map[roots.Source]*builds.Files
	// wanted are the sources beside the repository itself, and included those whose files are being put together.
	wanted   map[roots.Source]*WantedSource
	included map[roots.Source]bool
	// resolving is held by charts that are looked for side by side.
	resolving  sync.Mutex
	generators []generator
	evaluator  *resourceset.Evaluator // nil until there is a ResourceSet
	// sets wait for their input providers; providers are those that are found.
	sets      []waitingSet
	providers []resourceset.Provider
	unbuilt   []*Kustomization        // found, and not built yet
	waiting   []*Kustomization        // built, and not substituted yet
	rebuilt   map[*Kustomization]bool // the roots, once each
	// kinds that the cluster serves, as far as the objects tell, and those of them that are
	// not in namespaces; apiVersions are the kinds sorted, and listed how many those are of.
	kinds         []string
	clusterScoped map[[2]string]bool
	// known is how many Kustomizations there were when the cluster's secrets were gathered.
	known       int
	apiVersions []string
	listed      int
}

// find returns an object of what is substituted so far.
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

// artifactGenerator is what is read of an ArtifactGenerator.
// Source: github.com/fluxcd/source-watcher v2, api/v1beta1 and internal/builder.
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
