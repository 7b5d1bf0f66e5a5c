package flux

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/roots"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// PathMissing is flux-path-missing.
var PathMissing = rule.Rule{
	ID:       "flux-path-missing",
	Title:    "a Kustomization path that does not exist in its source",
	Severity: finding.Error,
	Why: `kustomize-controller fails with "kustomization path not found" and retries forever. Nothing of the Kustomization
is applied, and dependents wait. Objects that it applied before are not pruned.

The path is relative to the root of the source, whatever folder the Kustomization is in. A folder that Flux does
not see, because a .sourceignore excludes it or because it contains no file, does not exist for Flux.

The rule also checks the paths that an ArtifactGenerator copies from a source. If one does not exist,
source-watcher creates no artifact, and the Kustomizations that use the artifact wait.`,
	Fix: `Correct spec.path. If the files are in another repository, name its source in spec.sourceRef; to check them as
well, pass a folder that contains them with --source NAMESPACE/NAME=DIR.`,
	Run: func(p *rule.Pass) {
		var open questions
		each(p, func(w *world) {
			if root := w.cluster.Root; root.Fits != "" {
				open.add(root.Place, fmt.Sprintf("whether the cluster syncs %q", root.Path),
					fmt.Sprintf("the path %q contains a variable with an unknown value; the folders that match are built", root.Fits))
			}
			for _, k := range w.cluster.Kustomizations {
				if k.Failure != nil && k.Failure.Reason == builds.PathMissing && !k.Spec.Suspend {
					w.pathMissing(p, &open, k)
				}
			}
			for _, f := range w.cluster.CopyFailures {
				if f.Alias == "" && !w.isForeign() { // flux-source-missing reports aliases
					p.ReportBuilt(f.Generator, finding.Finding{Place: f.Generator.Position(f.Path...), Message: f.Message})
				}
			}
		})
		open.report(p)
	},
}

func (w *world) pathMissing(p *rule.Pass, open *questions, k *reconcile.Kustomization) {
	at := k.Failure.Place
	if k.Object != nil {
		at = w.locate(k.Object, k.Spec.Path, "spec", "path")
	}
	if why := w.elsewhere(p, k); why != "" {
		open.add(at, fmt.Sprintf("whether folder %q exists", k.Spec.Path), why)
		return
	}
	f := finding.Finding{Message: fmt.Sprintf("path of Kustomization %s: %s", k, k.Failure.Message)}
	if near := w.budget.nearestFolder(k, k.Dir); near != "" {
		f.Hint = fmt.Sprintf("did you mean %q?", "./"+near)
	}
	reportOn(p, k, f.At(at))
}

// elsewhere returns why the source of a Kustomization may be another repository although it is taken for this
// one; "" if it cannot be.
func (w *world) elsewhere(p *rule.Pass, k *reconcile.Kustomization) string {
	if k.Parent == nil {
		for _, c := range p.Fleet().Clusters {
			if c != w.cluster && c.Kustomizations[0].Failure == nil && syncURL(c.Root) != syncURL(w.cluster.Root) {
				return "its source may be another repository: other clusters, whose folders are here, are synced from another URL"
			}
		}
		return ""
	}
	if !w.isForeign() {
		return ""
	}
	source := sourceOf(k)
	return fmt.Sprintf("no Kustomization of %s has its path in this repository, so it is another repository; check it out and pass --source %s/%s=DIR",
		idText(source), source.Namespace, source.Name)
}

// isForeign reports whether the root is a guess, without a known address, and none of the cluster's other Kustomizations has
// a path that exists: their source probably is another repository.
func (w *world) isForeign() bool {
	return w.guessed() && w.cluster.Root.URL == "" && !slices.ContainsFunc(w.cluster.Kustomizations[1:], func(k *reconcile.Kustomization) bool {
		return k.Repo != nil && (k.Failure == nil || k.Failure.Reason != builds.PathMissing)
	})
}

// syncURL returns the URL from which a FluxInstance syncs.
func syncURL(root roots.Root) string {
	if root.Object == nil {
		return ""
	}
	for _, at := range [][]any{{"spec", "sync", "url"}, {"spec", "values", "instance", "sync", "url"}} {
		if url, ok := root.Object.Text(at...); ok {
			return roots.RepositoryAddress(url)
		}
	}
	return ""
}

// nearestFolder returns the folder that a missing one was probably meant to be, "" if no folder has a similar
// name.
func (b *budget) nearestFolder(k *reconcile.Kustomization, dir string) string {
	rest := ""
	for at := dir; at != "." && at != "/"; at = path.Dir(at) {
		parent := path.Dir(at)
		names, ok := k.Repo.ReadDir(parent)
		if !ok {
			rest = path.Join(path.Base(at), rest)
			continue
		}
		var folders []string
		for _, name := range names {
			if _, isDir := k.Repo.ReadDir(path.Join(parent, name)); isDir {
				folders = append(folders, name)
			}
		}
		near, ok := b.nearest(path.Base(at), folders)
		if !ok {
			return ""
		}
		whole := path.Join(parent, near, rest)
		if _, isDir := k.Repo.ReadDir(whole); !isDir {
			return ""
		}
		return strings.TrimPrefix(whole, "./")
	}
	return ""
}
