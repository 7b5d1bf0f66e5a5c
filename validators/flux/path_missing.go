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
	Why: `kustomize-controller stops with "kustomization path not found" and tries again for ever. Nothing of the
Kustomization is applied, and what depends on it waits. What it applied before stays, and is not pruned.

The path counts from the root of the source, whatever folder the Kustomization itself stands in. A folder that
Flux doesn't see, since a .sourceignore leaves it out or it holds no file, is missing too.

So is what an ArtifactGenerator copies from a source that doesn't have it: source-watcher makes no artifact then, and
what is built of the artifact waits.`,
	Fix: `Correct spec.path. Where the files are in another repository, name its source in spec.sourceRef; to have them
checked as well, give a folder that holds them with --source NAMESPACE/NAME=DIR.`,
	Run: func(p *rule.Pass) {
		var open questions
		each(p, func(w *world) {
			for _, k := range w.cluster.Kustomizations {
				if k.Failure != nil && k.Failure.Reason == builds.PathMissing && !k.Spec.Suspend {
					w.pathMissing(p, &open, k)
				}
			}
			for _, f := range w.cluster.CopyFailures {
				if f.Alias == "" && !w.isForeign() { // an alias is flux-source-missing's
					p.ReportBuilt(f.Generator, placeOf(f.Generator, f.Path...).in(finding.Finding{Message: f.Message}))
				}
			}
		})
		open.report(p)
	},
}

func (w *world) pathMissing(p *rule.Pass, open *questions, k *reconcile.Kustomization) {
	at := place{k.Failure.File, k.Failure.Line, k.Failure.Column}
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
	reportOn(p, k, at.in(f))
}

// elsewhere says why a Kustomization whose source is taken for the repository itself may be
// of another one.
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

// isForeign says whether a root is guessed, and no path of a Kustomization is in the repository: then
// their source most likely is another one.
func (w *world) isForeign() bool {
	return w.guessed() && !slices.ContainsFunc(w.cluster.Kustomizations[1:], func(k *reconcile.Kustomization) bool {
		return k.Repo != nil && (k.Failure == nil || k.Failure.Reason != builds.PathMissing)
	})
}

// syncURL is the address that a FluxInstance syncs from.
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

// nearestFolder is the folder that a missing one was meant to be, "" where none comes near.
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
