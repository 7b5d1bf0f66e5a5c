package reconcile

import (
	"errors"
	"fmt"
	"sync/atomic"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// A build cannot be stopped once kustomize runs, and a few lines can make it run for ever, or
// take all memory: bases that list one another twice, patches of everything, replacements that
// double a text. So what a build will cost is estimated from what the files say, before it
// runs. The times were measured on one core of 2024. The limits leave several times what the
// largest builds known take: 301 objects of 0.6 MB, in 0.6 seconds.
const (
	// microseconds
	costBuild     = 1000 // a kustomization
	costObject    = 60   // an object, for each kustomization that it passes
	costNode      = 1    // a value in it
	costByte      = 0.05 // a byte of it
	costPair      = 0.6  // two objects of one build: kustomize looks for each among all
	costReference = 5    // a reference and an object, when names change
	costKeys      = 0.01 // two keys of a map, which are compared
	costListed    = 4    // a value of an object that a build only lists

	mostWork      = 2e6   // of a build
	mostAmplified = 1e6   // of a build whose objects are mostly copies
	mostBytes     = 16e6  // of a build's objects as text
	mostNodes     = 400e3 // values in them
	mostSteps     = 5_000 // kustomizations that are passed
	mostFeedback  = 12    // replacements that may lengthen what they read
	mostChanges   = 2_000 // changes of which each is compared with those before
)

// group are objects of a build.
type group struct {
	objects float64
	bytes   float64 // of their texts
	largest float64 // bytes of the largest
	nodes   float64 // values in them
	fullest float64 // values in the one that has the most
	added   float64 // values that changes bring into one
	lists   float64 // the squares of the lengths of each one's longest list
	images  float64 // containers in them
	names   float64 // references to other objects that kustomize knows
}

func (g *group) add(other group) {
	g.objects += other.objects
	g.bytes += other.bytes
	g.largest = max(g.largest, other.largest)
	g.nodes += other.nodes
	g.fullest = max(g.fullest, other.fullest)
	g.added = max(g.added, other.added)
	g.lists += other.lists
	g.images += other.images
	g.names += other.names
}

// cost is what building a folder takes.
type cost struct {
	group // all objects
	kinds map[string]group
	work  float64
	// fields are the paths that configurations add to those which transformers look at.
	fields float64
	// carried is the longest text that a change has brought into an object, in bytes.
	carried float64
	// noted are the changes that annotations of the objects tell of.
	noted float64
}

func (c *cost) add(other cost) {
	c.group.add(other.group)
	for kind, g := range other.kinds {
		c.put(kind, g)
	}
	c.work += other.work
	c.fields += other.fields
	c.carried = max(c.carried, other.carried)
	c.noted = max(c.noted, other.noted)
}

// put adds objects of a kind, which group has already.
func (c *cost) put(kind string, g group) {
	if c.kinds == nil {
		c.kinds = map[string]group{}
	}
	known := c.kinds[kind]
	known.add(g)
	c.kinds[kind] = known
}

// include adds objects of a kind.
func (c *cost) include(kind string, g group) {
	c.group.add(g)
	c.put(kind, g)
}

// grow makes some objects of the kinds that match longer, each by some bytes and values.
func (c *cost) grow(match func(kind string) bool, objects, bytes, nodes float64) {
	c.group.grow(objects, bytes, nodes)
	c.carried = max(c.carried, bytes)
	for kind, g := range c.kinds {
		if match(kind) {
			g.grow(min(objects, g.objects), bytes, nodes)
			c.kinds[kind] = g
		}
	}
}

func (g *group) grow(objects, bytes, nodes float64) {
	g.bytes += objects * bytes
	g.largest += bytes
	g.nodes += objects * nodes
	g.fullest += nodes
	g.added += nodes
}

func anyKind(string) bool { return true }

// estimator estimates one build.
type estimator struct {
	repo     *repository.Repository
	measures *measures
	// known are the folders that are done, nil those that are not: a circle, which kustomize
	// refuses.
	known map[string]*cost
	// copied says that a folder is built into another one more than once.
	copied bool
	// files are the files that were counted; distinct are the objects in them, named those
	// objects by name; brought is what changes bring into them.
	files    map[string]bool
	distinct float64
	named    map[string][]measured
	brought  []brought
	patches  map[string][]edit // by file
	steps    int
	feedback int
	limit    error // of a file or text that was not looked at
}

// estimate says what a build of a folder takes, and why it takes too much.
func estimate(f *files, dir string, k *types.Kustomization) (cost, error) {
	e := &estimator{repo: f.repo, measures: &f.measures, known: map[string]*cost{}, files: map[string]bool{}, named: map[string][]measured{}, patches: map[string][]edit{}}
	e.known[dir] = nil
	c := e.kustomization(dir, k, cost{})
	c.work += c.names*c.objects*costReference + c.added*c.added*costKeys
	switch {
	case e.limit != nil:
		return c, e.limit
	case e.steps > mostSteps:
		return c, &limitError{fmt.Errorf("the build passes more than %d kustomizations", mostSteps)}
	case e.feedback > mostFeedback:
		return c, &limitError{fmt.Errorf("more than %d replacements may lengthen what they read", mostFeedback)}
	case len(e.brought) > mostChanges:
		return c, &limitError{fmt.Errorf("the build makes more than %d changes to its objects", mostChanges)}
	case c.bytes > mostBytes:
		return c, &limitError{fmt.Errorf("the build makes up to %s", megabytes(c.bytes))}
	case c.nodes > mostNodes:
		return c, tooManyNodes(c.group)
	case c.work > mostWork, c.work > mostAmplified && c.objects > 3*e.distinct:
		return c, &limitError{fmt.Errorf("the build makes up to %s, and takes up to %s", amount(c.objects, "objects"), amount(c.work/1e6, "seconds"))}
	}
	return c, nil
}

func tooManyNodes(g group) error {
	return &limitError{fmt.Errorf("the build makes up to %s", amount(g.nodes, "values"))}
}

// amount names a number, which may be beyond all reason.
func amount(n float64, of string) string {
	if n > 1e9 {
		return "billions of " + of
	}
	return fmt.Sprintf("%.0f %s", n, of)
}

func megabytes(bytes float64) string { return amount(bytes/1e6, "MB") }

// kustomization adds what a kustomization makes to what it is given: nothing, or for a
// component all that was made before it.
func (e *estimator) kustomization(dir string, k *types.Kustomization, given cost) cost {
	if e.steps++; e.steps > mostSteps {
		return given
	}
	c := cost{}
	c.add(given) // with kinds of its own
	c.work += costBuild
	for _, ref := range append(k.Resources[:len(k.Resources):len(k.Resources)], k.Bases...) { //nolint:staticcheck // older repositories use it
		c.add(e.resource(dir, ref))
	}
	e.generate(dir, k, &c)
	for _, ref := range k.Components {
		at, inside := repository.Join(dir, ref)
		component, ok := e.repo.KustomizeAt(at)
		if _, busy := e.known[at]; !inside || !ok || component.Spec == nil || busy {
			continue
		}
		e.known[at] = nil
		c = e.kustomization(at, component.Spec, c)
		delete(e.known, at)
	}
	e.transform(dir, k, &c)
	c.work += c.objects*costObject + c.nodes*costNode + c.bytes*costByte + c.objects*c.objects*costPair
	return c
}

// resource is what a resource adds: a file's objects, or a folder's.
func (e *estimator) resource(dir, ref string) cost {
	at, inside := repository.Join(dir, ref)
	if !inside {
		return cost{}
	}
	if file, ok := e.repo.File(at); ok {
		return e.file(file)
	}
	if known, ok := e.known[at]; ok {
		if known == nil {
			return cost{}
		}
		e.copied = true
		return *known
	}
	k, ok := e.repo.KustomizeAt(at)
	if !ok || k.Spec == nil {
		return cost{}
	}
	e.known[at] = nil
	c := e.kustomization(at, k.Spec, cost{})
	e.known[at] = &c
	return c
}

// file is what the objects of a file add.
func (e *estimator) file(file *repository.File) cost {
	c := cost{}
	measured := e.measures.of(file)
	for _, o := range measured {
		c.include(o.kind, o.group)
	}
	c.bytes = max(c.bytes, float64(file.Expanded()))
	if e.files[file.Path] {
		e.copied = true
		return c
	}
	e.files[file.Path] = true
	e.distinct += c.objects
	for _, o := range measured {
		e.named[o.name] = append(e.named[o.name], o)
	}
	return c
}

// What all builds together may take: so much, and so much for each object of the repository,
// which is several times what real ones take. Which build exceeds it may differ from run to run.
const (
	mostTotalWork    = 4e6 // microseconds
	mostObjectWork   = 2e3
	mostTotalBytes   = 64e6
	mostObjectBytes  = 2e3
	mostTotalNodes   = 3_000_000
	mostTotalGrowth  = 64 << 20 // bytes that substitution adds
	mostTotalObjects = 30_000
	mostVariables    = 500_000 // that Kustomizations are given
	mostSchemas      = 50      // builds with a schema of their own, each of which parses kustomize's anew
	mostOfSchema     = 20      // objects of the repository for one more
	mostCopies       = 15      // of each object, in all clusters

	// of what artifacts are made of
	mostArtifactFiles = 100_000
	mostArtifactBytes = 64 << 20
	mostArtifactNodes = 500_000
)

// budget is shared by all builds.
type budget struct {
	own                         float64 // objects of the repository
	work, bytes, nodes, objects atomic.Int64
	growth, schemas, variables  atomic.Int64
	// of artifacts
	files, copied, values atomic.Int64
}

func newBudget(repo *repository.Repository) *budget {
	b := &budget{}
	for range repo.Objects() {
		b.own++
	}
	return b
}

// build charges a build, and says why there is nothing left for it.
func (b *budget) build(c cost) error {
	work, bytes, nodes := b.work.Add(int64(c.work)), b.bytes.Add(int64(c.bytes)), b.nodes.Add(int64(c.nodes))
	if float64(work) > mostTotalWork+mostObjectWork*b.own || float64(bytes) > mostTotalBytes+mostObjectBytes*b.own || nodes > mostTotalNodes {
		return &limitError{errors.New("the builds before it take all the time or memory that there is")}
	}
	return nil
}

// schema charges a build with a schema of its own.
func (b *budget) schema() error {
	if most := mostSchemas + b.own/mostOfSchema; float64(b.schemas.Add(1)) > most {
		return &limitError{fmt.Errorf("more than %.0f builds bring a schema of their own", most)}
	}
	return nil
}

// copy charges what is copied into artifacts.
func (b *budget) copy(files, bytes, nodes int) error {
	if b.files.Add(int64(files)) > mostArtifactFiles || b.copied.Add(int64(bytes)) > mostArtifactBytes || b.values.Add(int64(nodes)) > mostArtifactNodes {
		return &limitError{errors.New("the artifacts of all generators are too large")}
	}
	return nil
}

// apply charges the objects of a Kustomization.
func (b *budget) apply(objects int) error {
	if most := mostTotalObjects + mostCopies*b.own; float64(b.objects.Add(int64(objects))) > most {
		return &limitError{fmt.Errorf("the Kustomizations of all clusters apply more than %.0f objects", most)}
	}
	return nil
}

// define charges the variables of a Kustomization.
func (b *budget) define(variables int) error {
	if b.variables.Add(int64(variables)) > mostVariables {
		return &limitError{fmt.Errorf("the Kustomizations of all clusters are given more than %d variables", mostVariables)}
	}
	return nil
}

// grow charges what substitution adds.
func (b *budget) grow(bytes int) error {
	if b.growth.Add(int64(bytes)) > mostTotalGrowth {
		return &limitError{fmt.Errorf("substitution makes the objects larger by more than %d MB", mostTotalGrowth>>20)}
	}
	return nil
}
