package rule

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
)

// LimitExceeded is the id of the rule about what was not checked since it takes too much time or
// memory. LimitHint is the way out of its findings.
const (
	LimitExceeded = "limit-exceeded"
	LimitHint     = "look for what multiplies itself there; if the repository needs more, pass --timeout and --memory"
)

// Measured returns the findings of the units that exceeded a bound in this run. Whatever rules
// run, these are reported: what was not checked must not pass as checked.
func Measured() []finding.Finding {
	var all []finding.Finding
	for _, e := range bounds.Exceeded() {
		f := finding.Finding{Rule: LimitExceeded, Severity: finding.Error, File: e.Unit.File, Line: e.Unit.Line,
			Message: "not checked: " + e.Error(), Hint: LimitHint}
		if e.Left > 1 {
			f.Message += fmt.Sprintf(", nor were %d more", e.Left-1)
		}
		all = append(all, f)
	}
	return all
}
