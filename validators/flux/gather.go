package flux

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// gathered merges findings that hold for several Kustomizations, of one or several clusters, into one finding
// that names them all.
type gathered struct {
	order []*shared
	by    map[sharedKey]*shared
}

type sharedKey struct {
	place finding.Place
	what  string
}

// shared is a merged finding.
type shared struct {
	finding finding.Finding
	objects []*reconcile.Object
	names   []string
}

// add adds a finding about an object, with the names that it concerns. Findings with the same place and the
// same value of what are merged.
func (g *gathered) add(at finding.Place, what string, f finding.Finding, o *reconcile.Object, names ...string) {
	if g.by == nil {
		g.by = map[sharedKey]*shared{}
	}
	key := sharedKey{at, what}
	known := g.by[key]
	if known == nil {
		known = &shared{finding: f.At(at)}
		g.by[key] = known
		g.order = append(g.order, known)
	}
	if f.Severity == finding.Error {
		known.finding.Severity = finding.Error
	}
	known.objects = append(known.objects, o)
	known.names = append(known.names, names...)
}

// report reports each merged finding, with the message that the function returns for its names.
func (g *gathered) report(p *rule.Pass, message func(f finding.Finding, names []string) string) {
	for _, one := range g.order {
		slices.Sort(one.names)
		f := one.finding
		f.Message = message(f, slices.Compact(one.names))
		for _, o := range one.objects {
			p.ReportBuilt(o, f)
		}
	}
}

// named returns names with their kind, as "Kustomization a" or "Kustomizations a, b and c".
func named(kind string, names []string) string {
	if len(names) != 1 {
		kind += "s"
	}
	return fmt.Sprintf("%s %s", kind, some(names))
}
