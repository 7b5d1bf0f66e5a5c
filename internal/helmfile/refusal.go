package helmfile

import "github.com/fleetwright/fleetwright/internal/located"

// Refusal is a reason for which helmfile stops, and where.
type Refusal struct {
	located.Text
	// Doubtful says that it depends on what cannot be known here whether helmfile stops.
	Doubtful bool
	// Absent says that the reason is a file that isn't there, of which the verdicts on the
	// releases tell.
	Absent bool
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
