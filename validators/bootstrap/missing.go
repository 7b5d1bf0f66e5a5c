package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// HelmReleaseMissing is bootstrap-helmrelease-missing.
var HelmReleaseMissing = rule.Rule{
	ID:       bootstrap.RuleHelmReleaseMissing,
	Title:    "a bootstrap release without a HelmRelease that reads a missing file",
	Severity: finding.Error,
	Why: `The bootstrap reads chart, version or values from a file that is not in the repository, and no HelmRelease has
the release's name. Usually the application was moved or removed, and the bootstrap was forgotten. helmfile
fails on the missing file, so no new cluster can be built.

A release without a HelmRelease whose files all exist is unresolved: it may not be meant for Flux.`,
	Fix: `Remove the release from the bootstrap, or correct the path that it reads.`,
	Run: func(p *rule.Pass) {
		in := &sources{repo: p.Repo}
		for _, r := range releases(p) {
			p.Checked(r.File)
			switch {
			case r.Gone:
				p.Report(finding.Finding{Place: finding.Place{File: r.File, Line: r.Line, Column: in.column(r.File, r.Line, r.Release)},
					Cluster: r.Cluster, Message: "release \"" + r.Release + "\": " + r.Reason,
					Hint: "remove the release, or correct the path that it reads"})
			case r.Unreadable: // bootstrap-refused reports the reason
			case r.Verdict == bootstrap.Unresolved && r.HelmRelease == "":
				open(p, r.File, r.Line, "release "+r.Release+": "+r.Reason)
			}
		}
	},
}
