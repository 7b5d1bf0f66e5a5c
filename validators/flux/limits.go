package flux

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// undecided asks whether a Kustomization builds whose files are not at hand, or of which a part
// goes beyond a limit of Fleetwright's. What is wrong with a file itself, schema-invalid tells.
func (q *questions) undecided(p *rule.Pass, k *reconcile.Kustomization) {
	for _, g := range k.Gaps {
		at := place{g.File, g.Line, g.Column}
		switch g.Kind {
		case reconcile.OtherSource, reconcile.UnknownPath:
			q.add(at, fmt.Sprintf("what Kustomization %s applies", k), g.Message)
			continue
		case reconcile.Limit:
		default:
			continue
		}
		if k.Repo == p.Repo && k.Repo != nil {
			if file, ok := p.Repo.File(g.File); ok && file.Err != nil {
				continue
			}
			if !p.Repo.Exists(g.File) && k.Object != nil { // Flux generates it
				at = placeOf(k.Object, "spec", "path")
			}
		}
		q.add(at, fmt.Sprintf("whether Kustomization %s can be built", k), g.Message)
	}
}

// lacking says once of a Kustomization which of its files are not given.
func (q *questions) lacking(k *reconcile.Kustomization) {
	gaps := k.Lacking()
	if len(gaps) == 0 {
		return
	}
	var messages []string
	for _, g := range gaps {
		messages = append(messages, g.Message)
	}
	what := "what such Kustomizations as %s apply is not all known"
	if k.Unbuilt {
		what = "what such Kustomizations as %s apply is not known: none of it can be built"
	}
	q.add(place{gaps[0].File, gaps[0].Line, gaps[0].Column}, fmt.Sprintf(what, k), some(messages))
}
