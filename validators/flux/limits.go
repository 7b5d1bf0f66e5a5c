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

// lacking says which files of a Kustomization are not given: once for each file that names them.
func (q *questions) lacking(k *reconcile.Kustomization) {
	what := "not all that Kustomization %s applies is known"
	if k.Unbuilt {
		what = "nothing that Kustomization %s applies is known"
	}
	for gaps := k.Lacking(); len(gaps) > 0; {
		first := gaps[0]
		var messages []string
		for len(gaps) > 0 && gaps[0].File == first.File {
			messages = append(messages, gaps[0].Message)
			gaps = gaps[1:]
		}
		q.add(place{first.File, first.Line, first.Column}, fmt.Sprintf(what, k), some(messages))
	}
}
