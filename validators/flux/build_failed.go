package flux

import (
	"maps"
	"slices"
	"strings"

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
postBuild. If either fails, no object of the Kustomization is applied: neither the change that broke it nor any
other change, until the build is fixed. Dependent Kustomizations wait.

In a repository without clusters, such as a tenant's, the rule checks each kustomization for files and folders
that it lists but that do not exist and are not ignored by Git, in a submodule or behind a symlink. Examples and
tests are skipped. Definitions of applications that AppDeployments of Kommander reference are also checked this
way, because Kommander builds them: the result of its variables is unresolved.

The build uses kustomize's code and works as Flux does: for a folder without a kustomization.yaml, one with all
manifests is generated, and the patches, components and images of the Flux Kustomization are added. The finding
is in the file that kustomize's error names; an error in a base that several Kustomizations share is reported
once. A build that would take too much time or memory is unresolved, and so is, in a KRM function, a build of
files that are not objects.`,
	Fix: `Usually a file was moved or renamed and the kustomization.yaml still lists the old name, two files define the
same object, or a patch names an object that no longer exists. "kustomize build" on the folder shows the same
error.`,
	Run: func(p *rule.Pass) {
		var open questions
		read := map[string]bool{}
		each(p, func(w *world) {
			maps.Copy(read, w.read)
			for _, set := range w.cluster.OpenSets {
				if set.Refused {
					p.ReportBuilt(set.Object, finding.Finding{Place: set.Object.Position(), Message: set.Object.String() + " creates nothing: " + strings.TrimPrefix(set.Because, "it was not evaluated: ")})
					continue
				}
				open.add(set.Object.Position(), "what "+set.Object.String()+" creates", set.Because)
			}
			for _, k := range w.cluster.Kustomizations {
				if !k.Spec.Suspend {
					open.undecided(k)
				}
				open.lacking(k)
				f := k.Failure
				if f == nil || f.Reason == builds.PathMissing || f.Reason == builds.Refused || k.Spec.Suspend {
					continue // flux-path-missing and schema-invalid report it
				}
				if f.Malformed && (k.Repo == p.Repo || isUnreadable(p.Repo, f.File)) {
					continue // schema-invalid reports it
				}
				at := failurePlace(k, k.Failure)
				if f.LeftOut != "" && ignoresItself(p.Repo) {
					open.add(at, f.Message, "spec.ignore of a source replaces its default exclusions")
					continue
				}
				// The message omits the Kustomization's name, so that a base that many Kustomizations share is
				// reported once.
				reportOn(p, k, finding.Finding{Place: at, Message: f.Message})
				for i := range k.More {
					if more := &k.More[i]; !more.Malformed {
						reportOn(p, k, finding.Finding{Place: failurePlace(k, more), Message: more.Message})
					}
				}
			}
		})
		open.report(p)
		unbuilt(p, read)
	},
}

// unbuilt reports missing files that kustomizations list although no cluster of the repository builds them. In
// a repository without a cluster these are all kustomizations. In one with clusters these are the application
// definitions that Kommander builds, without the files that a cluster's builds read. Examples, tests and charts
// are skipped.
func unbuilt(p *rule.Pass, read map[string]bool) {
	clusters, definitions := len(p.Fleet().Clusters) > 0, platform.Deployed.Of(p)
	reported := false
	for _, k := range p.Repo.Kustomizes() {
		if clusters && (!definitions.Hold(k.File.Path) || read[k.File.Path]) {
			continue
		}
		if clusters && !reported {
			p.Unresolved(finding.Place{File: k.File.Path, Line: 1}, "the definitions that AppDeployments reference were checked without the variables with which Kommander builds them")
			reported = true
		}
		if k.File.Excluded || repository.IsExample(k.File.Path) || p.Repo.Use(k.File.Path) == repository.Chart {
			continue
		}
		for _, f := range builds.AbsentParts(p.Repo, k) {
			p.ReportIn("", finding.Finding{Place: f.Place, Message: f.Message})
		}
	}
}

// isUnreadable reports whether a file of the repository is invalid YAML.
func isUnreadable(repo *repository.Repository, file string) bool {
	f, ok := repo.File(file)
	return ok && f.Err != nil
}

// failurePlace returns the place of a build failure: its line if known; spec.path of the Kustomization if Flux
// generates the failing kustomization.yaml; else the beginning of the file.
func failurePlace(k *reconcile.Kustomization, f *builds.Failure) finding.Place {
	if f.Line > 0 {
		return f.Place
	}
	if k.Object != nil && !k.Repo.Exists(k.Repo.Local(f.File)) {
		return k.Object.Position("spec", "path")
	}
	if file, ok := k.Repo.File(k.Repo.Local(f.File)); ok && !file.FromItems {
		return finding.Place{File: f.File, Line: 1, Column: 1}
	}
	return f.Place
}

// ignoresItself reports whether a GitRepository in the repository sets spec.ignore, and so excludes files from
// its artifact.
func ignoresItself(repo *repository.Repository) bool {
	return slices.ContainsFunc(repo.ByKind(fluxapi.SourceGroup, "GitRepository"), func(o *repository.Object) bool {
		return o.Lookup("spec", "ignore") != nil
	})
}
