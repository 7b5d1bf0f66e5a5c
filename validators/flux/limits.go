package flux

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// exceeded reports a part of a cluster that was not checked because it exceeds a limit.
func (w *world) exceeded(p *rule.Pass, what, why string) {
	root := w.cluster.Root
	p.Report(rule.Exceeded(finding.Finding{Place: finding.Place{File: root.File, Line: root.Line}, Cluster: w.cluster.Name}, fmt.Sprintf("cluster %s: %s", w.cluster.Name, what), why))
}

// undecided adds the question about a Kustomization that was not checked because its source or path is not
// available locally.
func (q *questions) undecided(k *reconcile.Kustomization) {
	for _, g := range k.Gaps {
		at := g.Place
		switch g.Kind {
		case builds.OtherSource, builds.UnknownPath:
			q.add(at, fmt.Sprintf("Kustomization %s was not checked", k), g.Message)
		}
	}
}

// lacking adds the questions about the files that a build of a Kustomization lacks: one for each file that
// names them.
func (q *questions) lacking(k *reconcile.Kustomization) {
	what := "Kustomization %s could not be fully built"
	if k.Unbuilt {
		what = "Kustomization %s could not be built"
	}
	for gaps := k.MissingFiles(); len(gaps) > 0; {
		first := gaps[0]
		var messages []string
		for len(gaps) > 0 && gaps[0].File == first.File {
			messages = append(messages, gaps[0].Message)
			gaps = gaps[1:]
		}
		q.add(first.Place, fmt.Sprintf(what, k), some(messages))
	}
}
