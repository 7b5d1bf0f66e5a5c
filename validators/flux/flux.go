// Package flux holds the rules about what Flux needs to apply a repository: existing sources, paths,
// dependencies, variables and references.
package flux

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// The API groups and kinds of Flux that the rules use.
const (
	kustomizationKind = "Kustomization"
	helmReleaseKind   = "HelmRelease"
)

// each calls a function for each validated cluster, with one budget for the whole rule.
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

// text returns the string at a path of an object, "" if there is none.
func text(value any, path ...string) string {
	s, _ := field(value, path...).(string)
	return s
}

// field returns the value at a path of field names, nil if there is none.
func field(value any, path ...string) any {
	for _, name := range path {
		m, _ := value.(map[string]any)
		value = m[name]
	}
	return value
}

// list returns the list at a path of an object, nil if there is none.
func list(value any, path ...string) []any {
	l, _ := field(value, path...).([]any)
	return l
}

// unknown reports whether a string contains a variable: one whose value is unknown (o.Unknown of the object lists it), or one that
// nothing replaces, which flux-substitution-raw reports.
func unknown(name string) bool { return strings.Contains(name, "${") }

// suspended reports whether spec.suspend is set, so that Flux does not reconcile the object.
func suspended(o *reconcile.Object) bool { return field(o.Value, "spec", "suspend") == true }

// isKustomization reports whether an object is a Kustomization of Flux.
func isKustomization(o *reconcile.Object) bool {
	return o.Group == fluxapi.KustomizeGroup && o.Kind == kustomizationKind
}

// steps converts field names to a path.
func steps(path []string) []any {
	out := make([]any, 0, len(path)+1)
	for _, name := range path {
		out = append(out, name)
	}
	return out
}

func isHelmRelease(o *reconcile.Object) bool {
	return o.Group == fluxapi.HelmGroup && o.Kind == helmReleaseKind
}

// idText returns the kind, namespace and name of an object, which may not exist.
func idText(id reconcile.Identity) string {
	if id.Namespace == "" {
		return id.Kind + " " + id.Name
	}
	return id.Kind + " " + id.Namespace + "/" + id.Name
}

// reportOn reports a finding about a Kustomization. If it is a root without an object, and the finding has no
// place, the place is that of the cluster's root.
func reportOn(p *rule.Pass, k *reconcile.Kustomization, f finding.Finding) {
	if k.Object != nil {
		p.ReportBuilt(k.Object, f)
		return
	}
	if root := k.Cluster.Root; f.File == "" {
		f.Place = root.Place
	}
	p.ReportIn(k.Cluster.Name, f)
}

// questions collects what cannot be decided, so that each reason is reported once.
type questions struct {
	order []string
	by    map[string]*question
}

type question struct {
	what, why string
	place     finding.Place
	others    map[finding.Place]bool
}

// add adds a question at a place: what cannot be decided, and why.
func (q *questions) add(at finding.Place, what, why string) {
	if q.by == nil {
		q.by = map[string]*question{}
	}
	known := q.by[why]
	if known == nil {
		known = &question{what: what, why: why, place: at, others: map[finding.Place]bool{}}
		q.by[why] = known
		q.order = append(q.order, why)
	}
	if at != known.place {
		known.others[at] = true
	}
}

// report reports each reason once, with the number of other places that it concerns.
func (q *questions) report(p *rule.Pass) {
	for _, why := range q.order {
		one := q.by[why]
		reason := one.what
		if n := len(one.others); n > 0 {
			reason += fmt.Sprintf(" (and %d more)", n)
		}
		p.UnresolvedFor(one.place, reason, why)
	}
}

// some joins the first three names, and the number of the others.
func some(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// plural returns a number with its noun, such as "1 object" or "3 objects".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
