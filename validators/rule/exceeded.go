package rule

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// LimitExceeded is the id of the rule about what was not checked since it goes beyond a bound.
// LimitHint is the way out of the findings about what was measured, FixedHint of those about what
// was counted.
const (
	LimitExceeded = "limit-exceeded"
	limitHint     = "look for a part that multiplies itself there; "
	LimitHint     = limitHint + "if the repository needs more, pass --timeout and --memory"
	FixedHint     = limitHint + "the limit is fixed: docs/security.md lists all"
)

// Measured returns the findings of the units that exceeded a bound in this run. Whatever rules
// run, these are reported: what was not checked must not pass as checked.
func Measured() []finding.Finding {
	var all []finding.Finding
	for _, e := range bounds.Exceeded() {
		all = append(all, OfUnit(e))
	}
	return all
}

// OfUnit is the finding of a unit that exceeded a bound.
func OfUnit(e *bounds.Error) finding.Finding {
	f := finding.Finding{Rule: LimitExceeded, Severity: finding.Error, File: e.Unit.File, Line: e.Unit.Line,
		Message: "not checked: " + e.Error(), Hint: LimitHint}
	if e.Counted {
		f.Message, f.Hint = e.Error(), FixedHint
	}
	if e.Left > 1 {
		f.Message += fmt.Sprintf(", nor were %d more", e.Left-1)
	}
	return f
}

// Exceeded is a finding of limit-exceeded, whichever rule reports it: what goes beyond a fixed limit
// was not checked. The finding that it is made of says where, and what it is about.
func Exceeded(f finding.Finding, what, why string) finding.Finding {
	f.Rule, f.Severity = LimitExceeded, finding.Error
	f.Message, f.Hint = what+" was not checked: "+why, FixedHint
	return f
}

// ruleOf is the rule that a finding of the pass is of.
func (p *Pass) ruleOf(f finding.Finding) string {
	if f.Rule == LimitExceeded {
		return f.Rule
	}
	return p.rule.ID
}

// unread returns the findings about the files that go beyond a limit and were not read. As with
// Measured, they are reported whatever rules run.
func unread(repo *repository.Repository) []finding.Finding {
	var all []finding.Finding
	for _, f := range repo.Files() {
		if f.Err == nil || !f.Err.Reason.IsLimit() {
			continue
		}
		all = append(all, Exceeded(finding.Finding{File: f.Path, Line: f.Err.Line, Column: f.Err.Column}, f.Path, f.Err.Why()))
	}
	for _, e := range repo.Beyond() {
		all = append(all, Exceeded(finding.Finding{File: e.Path, Line: e.Line}, e.Path, e.Message))
	}
	return all
}

// onceExceeded keeps one of the findings of limit-exceeded that several rules have reported alike.
func onceExceeded(all []finding.Finding) []finding.Finding {
	type place struct {
		file, message string
		line          int
	}
	seen := map[place]bool{}
	return slices.DeleteFunc(all, func(f finding.Finding) bool {
		at := place{f.File, f.Message, f.Line}
		again := f.Rule == LimitExceeded && seen[at]
		seen[at] = seen[at] || f.Rule == LimitExceeded
		return again
	})
}
