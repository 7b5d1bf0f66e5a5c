package main

import (
	"errors"
	"strconv"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// exceededReport is the report of a run that ends with what takes too much time or memory, and says
// whether an error is that.
func exceededReport(err error) (finding.Report, bool) {
	var e *bounds.Error
	if !errors.As(err, &e) {
		return finding.Report{}, false
	}
	return finding.NewReport([]finding.Finding{rule.OfUnit(e)}, nil, finding.Summary{}), true
}

// unchecked reports what a command could not do since it takes too much time or memory, where its
// exit status does not say so already, and returns the exit status.
func (s streams) unchecked(status int) int {
	if status == statusFine && s.tellExceeded() {
		return statusFindings
	}
	return status
}

// tellExceeded prints what takes too much time or memory, and says whether anything does.
func (s streams) tellExceeded() bool {
	all := rule.Measured()
	for _, f := range all {
		place := f.File
		if f.Line > 0 {
			place += ":" + strconv.Itoa(f.Line)
		}
		if place != "" {
			place += ": "
		}
		_ = output.Printf(s.err, "%serror: %s\n  hint: %s\n", place, f.Message, f.Hint) // the exit status says the same
	}
	return len(all) > 0
}
