package flux

import (
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/platform"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// BuildFailed is flux-build-failed.
var BuildFailed = rule.Rule{
	ID:       "flux-build-failed",
	Title:    "a Kustomization that Flux cannot build",
	Severity: finding.Error,
	Why: `kustomize-controller builds the path of a Kustomization with kustomize, then replaces the variables of
postBuild. Where one of them refuses, nothing of the Kustomization is applied: not the change that broke it, and no
other change either, until it is mended. What depends on it waits.

In a repository without a cluster, such as a tenant's, each kustomization is looked at for files and folders that it
lists and that are nowhere: neither ignored by Git, nor in a submodule or behind a symlink. Examples and tests are left
alone. So it is with the definitions of applications that AppDeployments of Kommander name, which Kommander builds:
they are judged as they stand, and what its variables make of them is unresolved.

The build is Flux's own, with kustomize's code: a folder without a kustomization.yaml gets one of all its manifests,
and patches, components and images of the Flux Kustomization are added. The finding is at the file that is to be
mended where kustomize tells it; a base that several Kustomizations share is reported once. What would take too much
time or memory to build is unresolved, and in a KRM function what is made of files that are no objects.`,
	Fix: `Most often a file was moved or renamed and the kustomization.yaml still lists it, two files define the same
object, or a patch names an object that is gone. "kustomize build" on the folder shows the same.`,
	Run: func(p *rule.Pass) {
		var open questions
		read := map[string]bool{}
		each(p, func(w *world) {
			maps.Copy(read, w.read)
			for _, k := range w.cluster.Kustomizations {
				if !k.Spec.Suspend {
					open.undecided(k)
				}
				open.lacking(k)
				f := k.Failure
				if f == nil || f.Reason == builds.PathMissing || f.Reason == builds.Refused || k.Spec.Suspend {
					continue // flux-path-missing and schema-invalid tell
				}
				if f.Malformed && (k.Repo == p.Repo || isUnreadable(p.Repo, f.File)) {
					continue // schema-invalid tells
				}
				at := failurePlace(k)
				if f.LeftOut != "" && ignoresItself(p.Repo) {
					open.add(at, f.Message, "spec.ignore of a source replaces its default exclusions")
					continue
				}
				// Without the Kustomization's name, so that a base that many share
				// is reported once.
				reportOn(p, k, at.in(finding.Finding{Message: f.Message}))
			}
		})
		open.report(p)
		unbuilt(p, read)
	},
}

// unbuilt reports what the kustomizations of a repository without a cluster list and that isn't
// there: those of another repository build them, or people; and those of the definitions of
// applications, which Kommander builds, but for the files that a cluster's builds read. Examples and
// tests are left alone, and what stands in charts.
func unbuilt(p *rule.Pass, read map[string]bool) {
	clusters, definitions := len(p.Fleet().Clusters) > 0, platform.Deployed.Of(p)
	told := false
	for _, k := range p.Repo.Kustomizes() {
		if clusters && (!definitions.Hold(k.File.Path) || read[k.File.Path]) {
			continue
		}
		if clusters && !told {
			p.Unresolved(k.File.Path, 1, "the definitions that AppDeployments reference were checked without the variables with which Kommander builds them")
			told = true
		}
		if k.File.Excluded || repository.IsExample(k.File.Path) || p.Repo.Use(k.File.Path) == repository.Chart {
			continue
		}
		for _, f := range builds.AbsentParts(p.Repo, k) {
			p.ReportIn("", place{f.File, f.Line, f.Column}.in(finding.Finding{Message: f.Message}))
		}
	}
}

// isUnreadable says whether a file of the repository is no YAML; an artifact may hold it, too.
func isUnreadable(repo *repository.Repository, file string) bool {
	f, ok := repo.File(file)
	return ok && f.Err != nil
}

// failurePlace is where a build failed: where no line of a file tells, at the file's
// beginning, and where the failing kustomization is Flux's own, at the path that it made it
// of.
func failurePlace(k *reconcile.Kustomization) place {
	f := k.Failure
	if f.Line > 0 {
		return place{f.File, f.Line, f.Column}
	}
	if k.Object != nil && !k.Repo.Exists(k.Repo.Local(f.File)) {
		return placeOf(k.Object, "spec", "path")
	}
	if file, ok := k.Repo.File(k.Repo.Local(f.File)); ok && !file.FromItems {
		return place{f.File, 1, 1}
	}
	return place{f.File, f.Line, f.Column}
}

// ignoresItself says whether a source in the repository says what its artifact leaves out.
func ignoresItself(repo *repository.Repository) bool {
	return slices.ContainsFunc(repo.ByKind(fluxapi.SourceGroup, "GitRepository"), func(o *repository.Object) bool {
		return o.Lookup("spec", "ignore") != nil
	})
}
