package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/fielddiff"
	"github.com/fleetwright/fleetwright/internal/finding"
)

// The results of a comparison of objects.
const (
	Same        = "same"
	Differs     = "differs"
	NotRendered = "unresolved"
)

const (
	cosmetic     = "both sides install the same objects"
	mostObjects  = 200
	objectsField = "objects"
)

// Rendered compares the objects that the bootstrap installs with those that Flux installs.
type Rendered struct {
	// Result is same, differs or unresolved; Reason says why it is unresolved, and Hint what to do about it.
	Result string `json:"result"`
	Reason string `json:"reason"`
	Hint   string `json:"hint"`
	// Added are objects that only Flux installs, Removed objects that only the bootstrap installs. Each list has at most 200.
	Added   []InstalledObject `json:"added"`
	Removed []InstalledObject `json:"removed"`
	Changed []InstalledObject `json:"changed"`
	// Undecided are objects that differ and whose templates read the cluster.
	Undecided []InstalledObject `json:"undecided"`
	Summary   RenderedSummary   `json:"summary"`
}

// RenderedSummary counts objects.
type RenderedSummary struct {
	Added     int `json:"added"`
	Removed   int `json:"removed"`
	Changed   int `json:"changed"`
	Undecided int `json:"undecided"`
}

// InstalledObject is an object that differs, its template in the chart, and its fields that change from the bootstrap to Flux.
type InstalledObject struct {
	Object   finding.Object    `json:"object"`
	Template string            `json:"template"`
	Fields   []fielddiff.Field `json:"fields"`
}

func newRendered(result string) *Rendered {
	return &Rendered{Result: result, Added: []InstalledObject{}, Removed: []InstalledObject{}, Changed: []InstalledObject{}, Undecided: []InstalledObject{}}
}
