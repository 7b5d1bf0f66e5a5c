package flux

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// RemoteBase is flux-remote-base.
var RemoteBase = rule.Rule{
	ID:       "flux-remote-base",
	Title:    "a kustomization with a remote base",
	Severity: finding.Warning,
	Why: `kustomize-controller fetches a remote base at every build: the applied objects can change without a commit,
nothing is verified, and if the server is unreachable the Kustomization fails. Flux's documentation recommends
sources instead.

--no-remote-bases, which is part of a multi-tenancy lockdown, refuses bases in Git repositories only after they
were cloned, and does not refuse files over HTTP at all: they are fetched and applied. A URL in a tenant's
kustomization must therefore be found before it is merged. For all other rules, the objects of a remote base are
unresolved until "fleetwright fetch" has downloaded and locked it.`,
	Fix: `Create a GitRepository or OCIRepository for the address, pinned to a tag or digest, and a separate Kustomization
that applies it. Or commit a copy of the file, which a bot can keep up to date.`,
	Run: remoteBases,
}

// remoteBases reports the remote bases of the kustomizations that the clusters build, or of all kustomizations
// if the repository has no cluster.
func remoteBases(p *rule.Pass) {
	message := func(r builds.Remote) finding.Finding {
		first, _, more := strings.Cut(r.Ref, "\n")
		if more {
			first += "…"
		}
		return finding.Finding{Place: r.Place,
			Message: fmt.Sprintf("a kustomization reads from the network: %q", first),
			Hint:    "create a source and a Kustomization for it, or commit a copy",
		}
	}
	each(p, func(w *world) {
		for _, k := range w.cluster.Kustomizations {
			for _, r := range k.Remotes {
				reportOn(p, k, message(r))
			}
		}
	})
	if len(p.Fleet().Clusters) > 0 {
		return
	}
	for _, k := range p.Repo.Kustomizes() {
		if p.Repo.Use(k.File.Path) == repository.Chart {
			continue
		}
		for _, r := range builds.RemoteParts(p.Repo, k) {
			p.ReportIn("", message(r))
		}
	}
}
