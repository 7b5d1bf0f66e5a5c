package main

import (
	"errors"
	"strconv"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// exceededReport returns the report of a run that ended because it exceeded a guard or a counter, and
// whether an error says so.
func exceededReport(err error) (finding.Report, bool) {
	var e *bounds.Error
	if !errors.As(err, &e) {
		return finding.Report{}, false
	}
	all := rule.OfUnits() // it includes e if that was recorded
	if len(all) == 0 {
		all = []finding.Finding{rule.OfUnit(e)}
	}
	return finding.NewReport(all, nil, finding.Summary{}), true
}

// unchecked reports what a command did not check because of a guard or a counter, unless the exit status
// is already an error. It returns the exit status.
func (s streams) unchecked(status int) int {
	if status == statusFine && s.printExceeded() {
		return statusFindings
	}
	return status
}

// printExceeded prints what exceeded a guard or a counter, and returns whether anything did.
func (s streams) printExceeded() bool {
	all := rule.OfUnits()
	for _, f := range all {
		place := f.File
		if f.Line > 0 {
			place += ":" + strconv.Itoa(f.Line)
		}
		if place != "" {
			place += ": "
		}
		_ = output.Printf(s.err, "%serror: %s\n  hint: %s\n", place, f.Message, f.Hint) // the exit status reports the same
	}
	return len(all) > 0
}
