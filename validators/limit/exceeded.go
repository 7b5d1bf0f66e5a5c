// Package limit holds the rule about parts that a run could not check because they exceed a limit on time or memory.
package limit

import (
	"errors"
	"fmt"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Exceeded is limit-exceeded. It reports counted limits; rule.Run itself reports the guards after all rules have run.
var Exceeded = rule.Rule{
	ID:       rule.LimitExceeded,
	Title:    "a part of the repository exceeds a limit and was not checked",
	Severity: finding.Error,
	Why: `A validated repository may come from a stranger, and a few lines of it may occupy a library for hours. Therefore
everything that can multiply has a fixed limit: bytes, documents, aliases, digits of a number, the size of a regular
expression, the cost of a rule and others. Each unit of work (the build of a Kustomization, the rendering of a chart) may
also take 30 seconds, and the whole run 10 minutes and 2 GiB of memory (docs/security.md). No public repository that was
tested reaches these limits.

A part that exceeds a limit was not checked: the other findings say nothing about it. This is an error, so that a change
that is too large to check never passes as a change without findings.`,
	Fix: `Look at the file: an alias, a variable, a patch or a template in it may multiply itself. If the repository
really needs more time or memory, pass --timeout or --memory. The 30 seconds of a unit and the other limits cannot be
raised: split the file or object that the message names, or run it on a machine with less other work.`,
	Run: exceeded,
}

// exceeded reports the Kustomizations and HelmReleases that exceed a fixed limit. Files that exceed one are always
// reported, whatever rules run. Other objects are reported by the rule that checks them.
func exceeded(p *rule.Pass) {
	for _, c := range p.Clusters() {
		for _, k := range c.Kustomizations {
			for _, g := range k.Gaps {
				if g.Kind == builds.Limit || g.Kind == builds.Unreadable {
					report(p, k, g)
				}
			}
		}
		for _, r := range c.Releases {
			if isFixed(r.Limit) {
				p.ReportBuilt(r.Object, rule.Exceeded(finding.Finding{}, r.Object.String(), r.Unknown), "kind")
			}
			if isFixed(r.ValuesLimit) {
				p.ReportBuilt(r.Object, rule.Exceeded(finding.Finding{}, "the check of the values of "+r.Object.String(), r.ValuesLimit.Error()), "spec", "values")
			}
		}
	}
}

// isFixed reports whether an error is about a counted limit.
func isFixed(err error) bool {
	var limit *charts.LimitError
	return errors.As(err, &limit)
}

func report(p *rule.Pass, k *reconcile.Kustomization, g builds.Gap) {
	f := rule.Exceeded(finding.Finding{Place: g.Place}, fmt.Sprintf("Kustomization %s", k), g.Message)
	if g.Kind == builds.Unreadable {
		f.Hint = repository.AccessHint
	}
	if k.Repo == p.Repo && k.Repo != nil {
		if file, ok := p.Repo.File(g.File); ok && file.Err != nil {
			return
		}
		if !p.Repo.Exists(g.File) && k.Object != nil { // Flux generates the file
			f.Place = k.Object.Position("spec", "path")
		}
	}
	p.ReportIn(k.Cluster.Name, f)
}

// Note records the files and cluster objects that exceed a fixed limit, for commands other than validate. Such a command
// then ends with an error, as it does after a measured limit.
func Note(repo *repository.Repository, fleet *reconcile.Fleet) {
	refuse := func(kind, file string, line int, name, why string) {
		bounds.Refuse(bounds.Unit{Kind: kind, File: file, Line: line, Name: name}, why)
	}
	for _, f := range repo.Files() {
		if f.Err != nil && f.Err.Reason.IsLimit() {
			refuse("file", f.Path, f.Err.Line, "", f.Err.Why())
		}
	}
	for _, e := range repo.Beyond() {
		refuse("file", e.Path, e.Line, "", e.Message)
	}
	for _, c := range fleet.Clusters {
		for _, k := range c.Kustomizations {
			for _, g := range k.Gaps {
				name := fmt.Sprintf("Kustomization %s", k)
				if file, ok := repo.File(g.File); g.Kind == builds.Limit && (!ok || file.Err == nil) {
					refuse("build", g.File, g.Line, name, g.Message)
				}
				if g.Kind == builds.Unreadable {
					_ = bounds.Refused(bounds.Unit{Kind: "build", File: g.File, Line: g.Line, Name: name}, g.Message, repository.AccessHint)
				}
			}
		}
		for _, r := range c.Releases {
			if isFixed(r.Limit) {
				refuse("chart", r.Object.File, r.Object.Line, r.Object.String(), r.Unknown)
			}
			if isFixed(r.ValuesLimit) {
				refuse("values check", r.Object.File, r.Object.Line, r.Object.String(), r.ValuesLimit.Error())
			}
		}
	}
}
