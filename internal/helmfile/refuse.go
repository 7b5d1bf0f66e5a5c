package helmfile

import (
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// maxRefusals bounds the reasons of one file: the first one counts.
const maxRefusals = 200

// refuse notes a reason for which helmfile stops.
func (h *helmfile) refuse(at finding.Place, reason string) { h.refuseIf(true, at, reason) }

// refuseIf notes a reason for which helmfile stops, and whether it certainly does.
func (h *helmfile) refuseIf(certain bool, at finding.Place, reason string) {
	h.note(Refusal{Text: located.Text{Place: at, Value: reason}, Doubtful: !certain})
}

// refuseAbsent notes that helmfile stops at a file that isn't there.
func (h *helmfile) refuseAbsent(at finding.Place, reason string) {
	h.note(Refusal{Text: located.Text{Place: at, Value: reason}, Absent: true})
}

func (h *helmfile) note(r Refusal) {
	r.Doubtful = r.Doubtful || h.guessed || strings.Contains(r.Value, templates.MarkOpen)
	if len(h.refusals) < maxRefusals {
		h.refusals = append(h.refusals, r)
	}
}
