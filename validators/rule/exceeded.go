package rule

import (
	"cmp"
	"slices"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// LimitExceeded is the ID of the rule about parts that were not checked because they exceed a limit. LimitHint is the
// hint for guards, such as a time limit. FixedHint is the hint for counters, such as a number of files.
const (
	LimitExceeded = "limit-exceeded"
	limitHint     = "look for a part that multiplies itself there; "
	LimitHint     = limitHint + "if the repository needs more, pass --timeout and --memory"
	unitHint      = limitHint + "if no part does, run fleetwright again on a machine with less other work: the time limit is fixed"
	FixedHint     = limitHint + "the limit is fixed: docs/security.md lists all limits"
)

// OfUnits returns the findings about the units of this run that exceeded a guard or a counter. They are reported whatever
// rules run, because an unchecked unit must not look as if it had passed.
func OfUnits() []finding.Finding {
	var all []finding.Finding
	for _, e := range bounds.Exceeded() {
		all = append(all, OfUnit(e))
	}
	return all
}

// OfUnit returns the finding about a unit that exceeded a limit.
func OfUnit(e *bounds.Error) finding.Finding {
	f := finding.Finding{Rule: LimitExceeded, Severity: finding.Error, Place: finding.Place{File: e.Unit.File, Line: e.Unit.Line},
		Message: "not checked: " + e.Error(), Hint: LimitHint}
	switch {
	case e.Counted:
		f.Message, f.Hint = e.Error(), cmp.Or(e.Hint, FixedHint)
	case e.Slow:
		f.Hint = unitHint
	}
	return f
}

// Exceeded returns a finding of the rule limit-exceeded, whichever rule calls it: what was not checked, because it exceeds the
// fixed limit in why. f has the place and the object.
func Exceeded(f finding.Finding, what, why string) finding.Finding {
	f.Rule, f.Severity = LimitExceeded, finding.Error
	f.Message, f.Hint = what+" was not checked: "+why, FixedHint
	return f
}

// ruleOf returns the ID of the rule that a finding of the pass belongs to.
func (p *Pass) ruleOf(f finding.Finding) string {
	if f.Rule == LimitExceeded {
		return f.Rule
	}
	return p.rule.ID
}

// unread returns the findings about the files that exceed a limit and were not read. As with OfUnits, they are
// reported whatever rules run.
func unread(repo *repository.Repository) []finding.Finding {
	var all []finding.Finding
	for _, f := range repo.Files() {
		if f.Err == nil || !f.Err.Reason.IsLimit() {
			continue
		}
		all = append(all, Exceeded(finding.Finding{Place: finding.Place{File: f.Path, Line: f.Err.Line, Column: f.Err.Column}}, f.Path, f.Err.Why()))
	}
	for _, e := range repo.Beyond() {
		all = append(all, Exceeded(finding.Finding{Place: finding.Place{File: e.Path, Line: e.Line}}, e.Path, e.Message))
	}
	return all
}

// onceExceeded removes duplicate findings of limit-exceeded that several rules have reported.
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
