// Package flux holds the rules about what Flux itself needs to apply a repository: sources,
// paths, dependencies, variables and references that are there.
package flux

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// The groups and kinds of Flux's graph.
const (
	kustomizationKind = "Kustomization"
	helmReleaseKind   = "HelmRelease"
)

// each calls a function with each cluster that is validated, with a budget of the rule's own.
func each(p *rule.Pass, visit func(*world)) {
	all := worlds.Of(p)
	budget := newBudget()
	for _, c := range p.Clusters() {
		if w := all[c]; w != nil {
			own := *w
			own.budget = budget
			visit(&own)
		}
	}
}

// text is a text in an object, "" where there is none.
func text(value any, path ...string) string {
	s, _ := field(value, path...).(string)
	return s
}

// field follows field names in a plain value.
func field(value any, path ...string) any {
	for _, name := range path {
		m, _ := value.(map[string]any)
		value = m[name]
	}
	return value
}

// list is a list in an object.
func list(value any, path ...string) []any {
	l, _ := field(value, path...).([]any)
	return l
}

// unknown says whether a text holds a variable whose value is not known.
func unknown(name string) bool { return strings.Contains(name, "${") }

// suspended says whether Flux leaves an object alone.
func suspended(o *reconcile.Object) bool { return field(o.Value, "spec", "suspend") == true }

// isKustomization and isHelmRelease recognise the kinds that depend on one another.
func isKustomization(o *reconcile.Object) bool {
	return o.Group == fluxapi.KustomizeGroup && o.Kind == kustomizationKind
}

func isHelmRelease(o *reconcile.Object) bool {
	return o.Group == fluxapi.HelmGroup && o.Kind == helmReleaseKind
}

// idText names an object that may not be there.
func idText(id reconcile.Identity) string {
	if id.Namespace == "" {
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// reportOn reports a finding about a Kustomization. A root may have no object: then it is at
// what syncs it unless it has a place.
func reportOn(p *rule.Pass, k *reconcile.Kustomization, f finding.Finding) {
	if k.Object != nil {
		p.ReportBuilt(k.Object, f)
		return
	}
	if root := k.Cluster.Root; f.File == "" {
		f.File, f.Line, f.Column = root.File, root.Line, root.Column
	}
	p.ReportIn(k.Cluster.Name, f)
}

// questions gathers what cannot be decided, so that one reason is told once.
type questions struct {
	order []string
	by    map[string]*question
}

type question struct {
	what, why string
	place     place
	others    map[place]bool
}

type place struct {
	file         string
	line, column int
}

// placeOf is where something at a path of an object stands.
func placeOf(o *reconcile.Object, path ...any) place {
	var at place
	at.file, at.line, at.column = o.Position(path...)
	return at
}

// in puts a place into a finding.
func (at place) in(f finding.Finding) finding.Finding {
	f.File, f.Line, f.Column = at.file, at.line, at.column
	return f
}

// add asks whether something is so, and says why it is not known.
func (q *questions) add(at place, what, why string) {
	if q.by == nil {
		q.by = map[string]*question{}
	}
	known := q.by[why]
	if known == nil {
		known = &question{what: what, why: why, place: at, others: map[place]bool{}}
		q.by[why] = known
		q.order = append(q.order, why)
	}
	if at != known.place {
		known.others[at] = true
	}
}

// report reports each reason once.
func (q *questions) report(p *rule.Pass) {
	for _, why := range q.order {
		one := q.by[why]
		reason := one.what
		if n := len(one.others); n > 0 {
			reason += fmt.Sprintf(" (and %d more)", n)
		}
		p.UnresolvedFor(one.place.file, one.place.line, reason, why)
	}
}

// some lists the first names of several.
func some(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// plural is "1 object" or "3 objects".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
