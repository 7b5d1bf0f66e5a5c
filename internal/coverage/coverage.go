// Package coverage measures how much of a repository is checked. [Of] takes a repository and its clusters, and counts what
// is found, built, rendered and checked, and why the rest is not reached.
package coverage

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Of returns the coverage of a repository by all its clusters, or by the cluster with a name. It does not count the objects
// that were checked against schemas: see [CountChecked].
func Of(repo *repository.Repository, fleet *reconcile.Fleet, cluster string) *finding.Coverage {
	t := &tally{repo: repo, fleet: fleet, incomplete: map[string]*reconcile.Kustomization{}, folders: map[string]bool{}, off: switchesOf(repo)}
	for _, c := range fleet.Clusters {
		t.cluster(c, cluster == "" || c.Is(cluster) || isNamed(fleet, c, cluster))
	}
	t.files(cluster)
	return t.coverage()
}

func isNamed(fleet *reconcile.Fleet, c *reconcile.Cluster, name string) bool {
	named, ok := fleet.Named(name)
	return ok && named == c
}

// item is a Kustomization or HelmRelease: a document of the repository, or a generated object.
type item struct {
	helm, built, applied, incomplete, suspended, off bool

	unreached finding.Unreached
}

// items are the Kustomizations and HelmReleases by their documents, and order their order.
type items struct {
	by    map[any]*item
	order []any
}

// part is the coverage of one cluster during counting.
type part struct {
	finding.ClusterCoverage
	items
	root string
	of   *reconcile.Cluster
}

// tally counts the objects of a repository and its clusters.
type tally struct {
	repo  *repository.Repository
	fleet *reconcile.Fleet
	items
	parts []*part
	// incomplete are the Kustomizations that are not built completely, by their folders.
	incomplete map[string]*reconcile.Kustomization
	// lost are the Kustomizations in files that no build applies.
	lost []*repository.Object
	// folders are the folders that Kustomizations build.
	folders map[string]bool
	// off are the files and folders that kustomizations list only in comments.
	off switches
	// skipped are the documents of clusters that are not requested.
	skipped map[*repository.Object]bool
	// places maps files and lines to the documents of the repository.
	places map[place]*repository.Object
}

// place is the file and line where a document begins.
type place struct {
	file string
	line int
}

// counted are the groups and kinds that are counted.
var counted = [][2]string{{fluxapi.KustomizeGroup, "Kustomization"}, {fluxapi.HelmGroup, "HelmRelease"}}

// document returns the document of the repository that an object comes from, even if an ArtifactGenerator copied its file;
// nil for a generated object.
func (t *tally) document(o *reconcile.Object) *repository.Object {
	if o.Source == nil {
		return nil
	}
	if t.places == nil {
		t.places = map[place]*repository.Object{}
		for _, kind := range counted {
			for _, d := range t.repo.ByKind(kind[0], kind[1]) {
				line, _ := d.Position()
				t.places[place{d.File(), line}] = d
			}
		}
	}
	if d := t.places[place{o.File, o.Line}]; d != nil {
		return d
	}
	return o.Source
}

// cluster counts the objects that the builds of a cluster return.
func (t *tally) cluster(c *reconcile.Cluster, asked bool) {
	if !asked {
		t.skip(c)
		return
	}
	p := &part{ClusterCoverage: finding.ClusterCoverage{Cluster: c.Name}, root: c.Root.Path, of: c}
	t.parts = append(t.parts, p)
	p.Objects.Applied = len(c.Objects())
	for _, k := range c.Kustomizations {
		why := notBuilt(k)
		if k.Repo == t.repo {
			t.folders[k.Dir] = true
		}
		if (why.cause != "" || !k.Complete()) && k.Repo == t.repo && t.incomplete[k.Dir] == nil {
			t.incomplete[k.Dir] = k
		}
		if k.Object != nil {
			t.add(p, k.Object, item{built: why.cause == "", incomplete: why.cause == "" && !k.Complete(), suspended: k.Spec.Suspend}, why)
		}
	}
	rendered := map[*reconcile.Object]*reconcile.Release{}
	for _, r := range c.Releases {
		rendered[r.Object] = r
	}
	for _, o := range c.Objects() {
		elsewhere := o.Kustomization.Spec.KubeConfig != nil
		switch {
		case isKind(o.Identity, fluxapi.HelmGroup, "HelmRelease"):
			why := notRendered(rendered[o], elsewhere)
			t.add(p, o, item{helm: true, applied: true, built: why.cause == ""}, why)
		case elsewhere && isKind(o.Identity, fluxapi.KustomizeGroup, "Kustomization"):
			if t.startsCluster(o) {
				t.add(p, o, item{built: true}, because{})
				continue
			}
			t.add(p, o, item{}, because{otherCluster, fmt.Sprintf("Kustomization %s applies it to another cluster", o.Kustomization)})
		}
	}
}

// skip records the documents of a cluster that is not requested.
func (t *tally) skip(c *reconcile.Cluster) {
	if t.skipped == nil {
		t.skipped = map[*repository.Object]bool{}
	}
	for _, k := range c.Kustomizations {
		if k.Object != nil {
			t.skipped[t.document(k.Object)] = true
		}
	}
	for _, o := range c.Objects() {
		t.skipped[t.document(o)] = true
	}
}

// startsCluster reports whether one of the clusters starts from an object that is applied to another cluster.
func (t *tally) startsCluster(o *reconcile.Object) bool {
	return slices.ContainsFunc(t.fleet.Clusters, func(c *reconcile.Cluster) bool {
		isRoot := c.Root.Object != nil && c.Root.Object == t.document(o)
		return (isRoot || c.Root.File == o.File && c.Root.Line == o.Line) && c.Root.Name == o.Name && c.Root.Namespace == o.Namespace
	})
}

func isKind(id reconcile.Identity, group, kind string) bool {
	return id.Group == group && id.Kind == kind
}

// add counts an object that a build of a cluster returns.
func (t *tally) add(p *part, o *reconcile.Object, one item, why because) {
	one.unreached = finding.Unreached{File: o.File, Line: o.Line, Cause: why.cause, Reason: why.reason,
		Object: finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}}
	var key any = o
	if d := t.document(o); d != nil {
		key = d
	}
	t.keep(key, one)
	p.keep(appliedAs{key, o.Identity}, one)
}

// appliedAs is a document in a cluster, which may apply it under several names, and under one name several times.
type appliedAs struct {
	document any
	reconcile.Identity
}

// keep adds an item. An item that is applied several times counts as built if it is always built.
func (all *items) keep(key any, one item) {
	known := all.by[key]
	if known == nil {
		if all.by == nil {
			all.by = map[any]*item{}
		}
		all.by[key] = &one
		all.order = append(all.order, key)
		return
	}
	if known.built && !one.built {
		known.built, known.unreached = false, one.unreached
	}
	known.incomplete = known.built && (known.incomplete || one.incomplete)
	known.suspended = known.suspended && one.suspended
}

// count adds all items to a coverage.
func (all *items) count(c *finding.Covered) {
	for _, key := range all.order {
		add(c, *all.by[key])
	}
	sortUnreached(c)
}

func add(c *finding.Covered, one item) {
	up := func(n *int, when bool) {
		if when {
			*n++
		}
	}
	switch {
	case one.off:
		up(&c.HelmReleases.SwitchedOff, one.helm)
		up(&c.Kustomizations.SwitchedOff, !one.helm)
		return
	case one.helm:
		up(&c.HelmReleases.Found, true)
		up(&c.HelmReleases.Applied, one.applied)
		up(&c.HelmReleases.Rendered, one.built)
	default:
		up(&c.Kustomizations.Found, true)
		up(&c.Kustomizations.Built, one.built)
		up(&c.Kustomizations.Incomplete, one.incomplete)
		up(&c.Kustomizations.Suspended, one.suspended)
	}
	if !one.built {
		c.Unreached = append(c.Unreached, one.unreached)
	}
}

// files counts the documents that no build applies.
func (t *tally) files(cluster string) {
	for _, o := range t.repo.ByKind(fluxapi.KustomizeGroup, "Kustomization") {
		if t.by[o] == nil && t.off.hold(o.File()) {
			t.off.add(o)
		}
	}
	for _, kind := range counted {
		for _, o := range t.repo.ByKind(kind[0], kind[1]) {
			if t.by[o] != nil || t.skipped[o] || !t.isFound(o) || t.isSync(o) {
				continue
			}
			p := t.owner(o.File())
			if p == nil && cluster != "" {
				continue
			}
			if p == nil {
				p = &part{}
				t.parts = append(t.parts, p)
			}
			one := item{helm: kind[1] == "HelmRelease", off: t.off.hold(o.File())}
			line, _ := o.Position()
			why := t.notApplied(o)
			if why.cause == notApplied && !one.helm && !one.off && !t.covered(o.File()) {
				t.lost = append(t.lost, o)
			}
			one.unreached = finding.Unreached{File: o.File(), Line: line, Cause: why.cause, Reason: why.reason,
				Object: finding.Object{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}}
			p.keep(o, one)
			t.keep(o, one)
		}
	}
}

// covered reports whether a file is in the folder of a Kustomization whose kustomizations do not list it: no cluster
// starts there.
func (t *tally) covered(file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if t.folders[dir] {
			return true
		}
	}
	return false
}

// isFound reports whether a document is meant to be applied to a cluster: not a patch or partial object,
// not part of a chart, and not in an archive, template, example or test.
func (t *tally) isFound(o *repository.Object) bool {
	use := t.repo.Use(o.File())
	switch {
	case use != repository.Resource && use != repository.Plain && use != repository.Unlisted:
		return false
	case repository.IsExample(o.File()), repository.IsArchived(o.File()):
		return false
	case use == repository.Resource:
		return true
	case o.Kind == "HelmRelease":
		return o.Lookup("spec", "chart") != nil || o.Lookup("spec", "chartRef") != nil
	}
	return o.Lookup("spec", "sourceRef") != nil
}

// isSync reports whether a document is the same sync as that of a cluster: flux bootstrap wrote it, and the cluster applies the
// one in a base.
func (t *tally) isSync(o *repository.Object) bool {
	at, _ := o.Text("spec", "path")
	source, _ := o.Text("spec", "sourceRef", "name")
	return o.Kind == "Kustomization" && slices.ContainsFunc(t.fleet.Clusters, func(c *reconcile.Cluster) bool {
		return c.Root.Namespace == o.Namespace && c.Root.Name == o.Name && c.Root.Path == repository.Clean(at) && c.Root.Source.Name == source
	})
}

// owner returns the part of the cluster whose folder contains a file: of the only cluster, or of the innermost one. If there
// is none, it returns the part for no cluster, or nil if that does not exist yet.
func (t *tally) owner(file string) *part {
	var best *part
	for _, p := range t.parts {
		if p.of == nil {
			continue
		}
		within := p.root != "." && repository.Within(p.root, file) || len(t.fleet.Clusters) == 1
		if within && (best == nil || len(p.root) > len(best.root)) {
			best = p
		}
	}
	if best != nil {
		return best
	}
	if i := slices.IndexFunc(t.parts, func(p *part) bool { return p.of == nil }); i >= 0 {
		return t.parts[i]
	}
	return nil
}

// notApplied returns why no build applies a document.
func (t *tally) notApplied(o *repository.Object) because {
	if len(t.fleet.Clusters) == 0 {
		return because{cause: noCluster, reason: phrases[noCluster].message}
	}
	for dir := path.Dir(o.File()); ; dir = path.Dir(dir) {
		if k := t.incomplete[dir]; k != nil {
			return because{parentUnbuilt, fmt.Sprintf("in the folder of Kustomization %s, which is only partly built", k)}
		}
		if dir == "." {
			break
		}
	}
	if t.repo.Use(o.File()) == repository.Unlisted {
		return because{cause: unlisted, reason: phrases[unlisted].message}
	}
	return because{cause: notApplied, reason: phrases[notApplied].message}
}

// coverage returns the sums of all parts.
func (t *tally) coverage() *finding.Coverage {
	all := &finding.Coverage{Causes: []finding.CoverageCause{}, Clusters: []finding.ClusterCoverage{}}
	t.count(&all.Covered)
	for _, p := range t.parts {
		all.Objects.Applied += p.Objects.Applied
		p.count(&p.Covered)
		all.Clusters = append(all.Clusters, p.ClusterCoverage)
	}
	all.Causes = append(all.Causes, causesOf(all.Unreached, roots.Suggest(t.repo, t.lost))...)
	return all
}

func sortUnreached(c *finding.Covered) {
	if c.Unreached == nil {
		c.Unreached = []finding.Unreached{}
	}
	sorting.StableFunc(c.Unreached, func(a, b finding.Unreached) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Object.String(), b.Object.String()), strings.Compare(a.Reason, b.Reason))
	})
}
