package bootstrap

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// FluxDrift is bootstrap-flux-drift.
var FluxDrift = rule.Rule{
	ID:       bootstrap.RuleFluxDrift,
	Title:    "the bootstrap installs a different Flux than Git",
	Severity: finding.Error,
	Why: `A bootstrap can install Flux itself, with its manifests (github.com/fluxcd/flux2/manifests/install?ref=…,
gotk-components.yaml) or a FluxInstance. The objects that the cluster then applies also declare Flux: a
FluxInstance, the chart flux-instance, the manifests or the source that they come from. If the two differ, Flux
replaces itself as soon as it runs, with another version, other components, or a sync from another place.

For manifests that are not in the repository, only the version is compared. For a FluxInstance, the whole spec
is compared, with the defaults of the operator. A range in Git that includes the bootstrap's version is
unresolved.`,
	Fix: `Update both, or let the bootstrap install the FluxInstance that is in Git, so that it is declared once.`,
	Run: func(p *rule.Pass) {
		c := comparison.Of(p)
		if c.err != nil || c.report == nil {
			return // the other rules report the reason
		}
		in := &sources{repo: p.Repo}
		for _, f := range c.report.Flux {
			if !p.InCluster(f.Cluster) {
				continue
			}
			p.Checked(f.File)
			for _, d := range f.Differences {
				p.Report(fluxFinding(in, f, d))
			}
			if f.Verdict == bootstrap.Unresolved {
				open(p, f.File, f.Line, f.Installs+": "+f.Reason)
			}
		}
	},
}

func fluxFinding(in *sources, f bootstrap.FluxReport, d bootstrap.Difference) finding.Finding {
	out := finding.Finding{Place: finding.Place{File: d.Bootstrap.File, Line: d.Bootstrap.Line}, Cluster: f.Cluster, Hint: f.HintFor(d)}
	if out.File == "" {
		out.File, out.Line = f.File, f.Line
	}
	out.Declared = finding.Place{File: f.File, Line: f.Line}
	out.Column = in.column(out.File, out.Line, d.Bootstrap.Value)
	out.Message = fmt.Sprintf("%s: %s is %s in the bootstrap and %s in Git (%s)", f.Installs, d.Field, d.Bootstrap.Text(),
		d.Git.Text(), at(d.Git, f.Git))
	return out
}
