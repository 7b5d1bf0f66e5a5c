package flux

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/otherfiles"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// RootUnreached is graph-root-unreached.
var RootUnreached = rule.Rule{
	ID:       "graph-root-unreached",
	Title:    "a cluster that nothing starts",
	Severity: finding.Error,
	Why: `In a repository with several clusters, a typo in one gotk-sync.yaml disconnects one cluster: the others are applied
and checked as before, and the one with the typo stops at its old state without any message here. The same happens when a
cluster's folder is renamed, or its gotk-sync.yaml is deleted.

The rule reports an error for a Kustomization flux-system/flux-system that starts no cluster: its spec.path does not exist,
or its source is not defined in the same folder. It also reports one for a folder next to a cluster's folder that has the
same files, such as flux-system/gotk-components.yaml, if the file that starts the cluster is missing or does not start it.

It reports a warning for such a Kustomization in a folder that was moved as a whole, and for a folder without a cluster that
no build reads and that has the same files with Kustomizations as the folder of a cluster next to it. A folder that a
script, Terraform or Bicep in the repository names is not reported, because that may start the cluster.`,
	Fix: `Correct spec.path and spec.sourceRef: flux bootstrap writes the folder of the file as path, and the source that the
same file defines. For a folder without a root, restore its gotk-sync.yaml or FluxInstance, or remove the folder.`,
	Run: func(p *rule.Pass) {
		r := &rootless{p: p, repo: p.Whole(), reached: map[*repository.Object]bool{}, read: map[string]bool{}, reported: map[string]bool{}}
		for _, c := range p.Fleet().Clusters {
			if c.Root.Guessed() {
				return // no file says where a cluster starts
			}
			r.clusters = append(r.clusters, c)
			for _, k := range c.Kustomizations {
				if k.Object != nil {
					r.reached[k.Object.Source] = true
				}
				for _, file := range k.Files {
					r.read[file] = true
				}
			}
		}
		if len(r.clusters) == 0 || p.Cluster != "" {
			return
		}
		left := r.left()
		for _, o := range left {
			if o.Namespace == "flux-system" && o.Name == "flux-system" {
				r.sync(o)
			}
		}
		r.neighbours(left)
		r.folders(left)
	},
}

// rootless finds clusters that no object syncs.
type rootless struct {
	p        *rule.Pass
	repo     *repository.Repository
	clusters []*reconcile.Cluster
	reached  map[*repository.Object]bool
	// read are the files that builds read. reported are the folders that have been reported.
	read, reported map[string]bool
}

// left returns the Kustomizations that no build applies, without those in examples and archives.
func (r *rootless) left() []*repository.Object {
	return slices.DeleteFunc(slices.Clone(r.repo.ByKind(fluxapi.KustomizeGroup, kustomizationKind)), func(o *repository.Object) bool {
		use := r.repo.Use(o.File())
		return r.reached[o] || r.read[o.File()] || repository.IsExample(o.File()) || repository.IsArchived(o.File()) ||
			use != repository.Resource && use != repository.Plain && use != repository.Unlisted
	})
}

// sync checks a Kustomization that has the name that flux bootstrap uses for the Kustomization of a cluster.
func (r *rootless) sync(o *repository.Object) {
	if o.Lookup("spec", "sourceRef") == nil && o.Lookup("spec", "path") == nil {
		return // a patch of the Kustomization, in a separate file
	}
	at, _ := o.Text("spec", "path")
	dir := repository.Clean(at)
	if slices.ContainsFunc(r.clusters, func(c *reconcile.Cluster) bool { return c.Root.Path == dir }) {
		return // another object syncs that folder, such as a FluxInstance
	}
	f := finding.Finding{Place: finding.Place{File: o.File()}, Object: rule.ObjectOf(o)}
	_, exists := r.repo.ReadDir(dir)
	own := r.folderOf(o.File())
	switch {
	case strings.Contains(at, "${"):
		return
	case !exists:
		f.Line, f.Column = o.Position("spec", "path")
		f.Message = fmt.Sprintf("Kustomization flux-system/flux-system starts no cluster: its path %q does not exist", at)
		f.Hint = fmt.Sprintf("did you mean %q?", "./"+own)
		if _, near := nearest.To(dir, []string{own}); !near && path.Base(dir) == path.Base(own) && len(r.clusters) > 0 {
			f.Severity = finding.Warning // the folder was moved as a whole, perhaps on purpose
		}
	case repository.Within(dir, o.File()):
		name, _ := o.Text("spec", "sourceRef", "name")
		kind, _ := o.Text("spec", "sourceRef", "kind")
		f.Line, f.Column = o.Position("spec", "sourceRef", "name")
		f.Message = fmt.Sprintf("Kustomization flux-system/flux-system starts no cluster: its source %s %s is not defined in the same folder", kind, name)
		if near, ok := nearest.To(kind+" "+name, r.sourcesInFolder(o)); ok {
			f.Hint = fmt.Sprintf("did you mean %s?", near)
		}
	default:
		return
	}
	r.reported[own] = true
	r.p.Report(f)
}

// folderOf returns the cluster's folder for a file in its flux-system folder.
func (r *rootless) folderOf(file string) string {
	dir := path.Dir(file)
	if path.Base(dir) == "flux-system" {
		dir = path.Dir(dir)
	}
	return dir
}

// sourcesInFolder returns the sources that are defined in the folder of an object, as KIND NAME.
func (r *rootless) sourcesInFolder(o *repository.Object) []string {
	var all []string
	for _, kind := range []string{"GitRepository", "OCIRepository", "Bucket"} {
		for _, source := range r.repo.ByKind(fluxapi.SourceGroup, kind) {
			if path.Dir(source.File()) == path.Dir(o.File()) {
				all = append(all, kind+" "+source.Name)
			}
		}
	}
	return all
}

// folders finds folders that have the same structure as the folders of clusters next to them.
func (r *rootless) folders(left []*repository.Object) {
	// shapes maps each parent of a cluster's folder to the files with Kustomizations in the folders of its
	// clusters.
	shapes := map[string]map[string]string{}
	for _, o := range r.repo.ByKind(fluxapi.KustomizeGroup, kustomizationKind) {
		for _, c := range r.clusters {
			rest, within := strings.CutPrefix(o.File(), c.Root.Path+"/")
			if around := path.Dir(c.Root.Path); within {
				if shapes[around] == nil {
					shapes[around] = map[string]string{}
				}
				shapes[around][rest] = cmp.Or(shapes[around][rest], c.Root.Path)
			}
		}
	}
	type lost struct {
		like  string
		first *repository.Object
		count int
	}
	found := map[string]*lost{}
	var order []string
	for _, o := range left {
		for dir := path.Dir(o.File()); dir != "."; dir = path.Dir(dir) {
			like := shapes[path.Dir(dir)][strings.TrimPrefix(o.File(), dir+"/")]
			if like == "" || r.startsAt(dir) {
				continue
			}
			if found[dir] == nil {
				found[dir] = &lost{like: like, first: o}
				order = append(order, dir)
			}
			found[dir].count++
		}
	}
	lostFolders := map[string]bool{}
	for _, dir := range order {
		lostFolders[dir] = true
	}
	named := otherfiles.Paths(r.repo, lostFolders) // in a script that runs flux bootstrap, or in Terraform
	for _, dir := range order {
		if l := found[dir]; !r.reported[dir] && !named[dir] {
			f := finding.Finding{Severity: finding.Warning, Place: finding.Place{File: l.first.File()}, Object: rule.ObjectOf(l.first),
				Message: fmt.Sprintf("the folder %q looks like %q, from which a cluster starts, but no cluster starts there: Flux does not apply the %s in it",
					dir, l.like, finding.Count(l.count, "Kustomization")),
				Hint: "restore what synced the folder, such as flux-system/gotk-sync.yaml, or remove the folder"}
			f.Line, f.Column = l.first.Position()
			r.p.Report(f)
		}
	}
}

// startsAt reports whether a cluster's root path is a folder, or is below or above it. It also returns true if the folder
// defines a root that cannot be built, which flux-path-missing reports.
func (r *rootless) startsAt(dir string) bool {
	return slices.ContainsFunc(r.clusters, func(c *reconcile.Cluster) bool {
		return c.Kustomizations[0].Failure != nil && repository.Within(dir, c.Root.File) || c.Root.Path == dir || strings.HasPrefix(c.Root.Path, dir+"/") || strings.HasPrefix(dir, c.Root.Path+"/")
	})
}
