package flux

import (
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
	Why: `kustomize-controller fetches a remote base each time that it builds: what is applied can change without a
commit, nothing is verified, and where the server is out of reach the Kustomization fails. Flux's own documentation
asks to use sources instead.

--no-remote-bases, which is part of a lockdown, refuses bases in Git repositories after they were cloned, and
doesn't refuse a file over HTTP at all: it is fetched and applied. So a tenant's kustomization with an address in it
is to be found before it is merged. Fleetwright fetches nothing: what comes from there is unresolved for all other
rules.`,
	Fix: `Add a GitRepository or OCIRepository with the address, pinned to a tag or digest, and a Kustomization of its
own that applies it. Or commit a copy of the file, which a bot can keep up to date.`,
	Run: remoteBases,
}

// remoteBases reports those that the clusters build, and in a repository without a cluster,
// such as a tenant's, all.
func remoteBases(p *rule.Pass) {
	message := func(g builds.Gap) finding.Finding {
		return place{g.File, g.Line, g.Column}.in(finding.Finding{
			Message: "a kustomization reads from the network: " + strings.TrimSuffix(g.Message, " is not fetched"),
			Hint:    "create a source and a Kustomization for it, or commit a copy",
		})
	}
	each(p, func(w *world) {
		for _, k := range w.cluster.Kustomizations {
			for _, g := range k.Gaps {
				if g.Kind == builds.RemoteBase {
					reportOn(p, k, message(g))
				}
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
		for _, g := range builds.RemoteParts(p.Repo, k) {
			p.ReportIn("", message(g))
		}
	}
}
