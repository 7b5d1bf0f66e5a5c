package helmfile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// phase is a step of helmfile's: it goes through all files and releases in one
// before it begins the next.
type phase int

const (
	loading    phase = iota // parts, bases and values of the state
	executing               // the templates of releases
	selecting               // conditions, and releases of one name
	writing                 // values files
	installing              // Helm's command line
)

// Refusal is a reason for which helmfile stops, and where.
type Refusal struct {
	located.Text
	phase phase
	// Doubtful says that it depends on what cannot be known here whether helmfile stops.
	Doubtful bool
	// Absent says that the reason is a file that isn't there, of which the verdicts on the
	// releases tell.
	Absent bool
}

// deliberate says that a template stops helmfile by the function fail: whatever is unknown, it came
// there under the assumptions of the evaluation.
func (r Refusal) deliberate() bool { return strings.Contains(r.Value, "error calling fail:") }

// firstOfEach are the first reasons of each phase and kind in some lists: however many releases and
// files stop helmfile, they are few.
func firstOfEach(lists ...[]Refusal) []Refusal {
	type kind struct {
		phase            phase
		doubtful, absent bool
	}
	seen := map[kind]bool{}
	var all []Refusal
	for _, list := range lists {
		for _, r := range list {
			if k := (kind{r.phase, r.Doubtful, r.Absent}); !seen[k] {
				seen[k] = true
				all = append(all, r)
			}
		}
	}
	return all
}

// inPhases sorts refusals as helmfile comes to them.
func inPhases(all []Refusal) []Refusal {
	all = slices.Clone(all)
	sorting.StableFunc(all, func(a, b Refusal) int { return cmp.Compare(a.phase, b.phase) })
	return all
}
