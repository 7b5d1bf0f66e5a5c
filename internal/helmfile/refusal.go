package helmfile

import "github.com/fleetwright/fleetwright/internal/located"

// Refusal is a reason for which helmfile fails, and its position.
type Refusal struct {
	located.Text
	// Doubtful says that it depends on unknown values whether helmfile fails.
	Doubtful bool
	// Absent says that the reason is a missing file, which the verdicts on the releases report.
	Absent bool
}

// firstOfEach returns the first reason of each kind in the lists, so that few remain of many releases and files.
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
