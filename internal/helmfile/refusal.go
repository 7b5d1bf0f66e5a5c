package helmfile

import (
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// Refusal is a reason for which helmfile stops, and where.
type Refusal struct {
	located.Text
	// Doubtful says that it depends on what cannot be known here whether helmfile stops.
	Doubtful bool
	// Absent says that the reason is a file that isn't there, of which the verdicts on the
	// releases tell.
	Absent bool
}

// maxRefusals bounds the reasons of one file: the first one counts.
const maxRefusals = 200

// refuse notes a reason for which helmfile stops.
func (h *helmfile) refuse(at located.Place, reason string) { h.refuseIf(true, at, reason) }

// refuseIf notes a reason for which helmfile stops, and whether it certainly does.
func (h *helmfile) refuseIf(certain bool, at located.Place, reason string) {
	h.note(Refusal{Text: located.Text{Place: at, Value: reason}, Doubtful: !certain})
}

// refuseAbsent notes that helmfile stops at a file that isn't there.
func (h *helmfile) refuseAbsent(at located.Place, reason string) {
	h.note(Refusal{Text: located.Text{Place: at, Value: reason}, Absent: true})
}

func (h *helmfile) note(r Refusal) {
	r.Doubtful = r.Doubtful || h.guessed || strings.Contains(r.Value, templates.MarkOpen)
	if len(h.refusals) < maxRefusals {
		h.refusals = append(h.refusals, r)
	}
}

// firstOfEach are the first reasons of each kind in some lists: however many releases and files stop helmfile, they are few.
func firstOfEach(lists ...[]Refusal) []Refusal {
	seen := map[[2]bool]bool{}
	var all []Refusal
	for _, list := range lists {
		for _, r := range list {
			if k := [2]bool{r.Doubtful, r.Absent}; !seen[k] {
				seen[k] = true
				all = append(all, r)
			}
		}
	}
	return all
}
