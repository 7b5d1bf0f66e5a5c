package helmfile

import (
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/templates"
)

// maxRefusals is the maximum number of reasons that are kept for a file: the first one counts.
const maxRefusals = 200

// refuse records a reason for which helmfile refuses the file.
func (h *helmfile) refuse(at finding.Place, reason string) { h.refuseIf(true, at, reason) }

// refuseIf records a reason for which helmfile refuses the file, certainly or perhaps.
func (h *helmfile) refuseIf(certain bool, at finding.Place, reason string) {
	h.note(Refusal{Text: located.Text{Place: at, Value: reason}, Doubtful: !certain})
}

// refuseAbsent records that helmfile fails because of a missing file.
func (h *helmfile) refuseAbsent(at finding.Place, reason string) {
	h.note(Refusal{Text: located.Text{Place: at, Value: reason}, Absent: true})
}

func (h *helmfile) note(r Refusal) {
	r.Doubtful = r.Doubtful || h.guessed || strings.Contains(r.Value, templates.MarkOpen)
	if len(h.refusals) < maxRefusals {
		h.refusals = append(h.refusals, r)
	}
}
