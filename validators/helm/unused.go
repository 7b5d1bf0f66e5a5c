package helm

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Unused is helm-value-unused.
var Unused = rule.Rule{
	ID:       "helm-value-unused",
	Title:    "a value that the chart does not use",
	Severity: finding.Warning,
	Why: `Helm ignores values that no template reads: a misspelt or misplaced value, or one that a newer version of the chart no
longer has, changes nothing, and Helm reports no error.

A value is reported, at any depth, if no template of the chart or of its dependencies can read it, whatever the other
values are, and if the chart renders the same objects without it. To determine this, the rule follows the values through
all branches of the templates, including helpers and NOTES.txt, whatever "lookup" finds and whichever conditions are off.
Values that it cannot follow count as read: values whose names occur in a string that is a template ("tpl"), and all values
below one that is passed on as a whole ("toYaml"). Charts that read all of their values, and charts that are not available
locally, have no findings. A value with a YAML anchor is not reported.`,
	Fix: `Correct the name or the place of the value according to the chart's values.yaml, or remove it.`,
	Run: func(p *rule.Pass) {
		for _, c := range p.Clusters() {
			for _, r := range c.Releases {
				unused, err := r.Unused(p.Context)
				if err != nil {
					return // limit-exceeded reports it
				}
				for _, u := range unused {
					reportUnused(p, r, u)
				}
			}
		}
	},
}

func reportUnused(p *rule.Pass, r *reconcile.Release, u charts.Unused) {
	if anchored(r.Object, u.Path) {
		return
	}
	f := finding.Finding{Message: fmt.Sprintf("the chart %s does not use the value %s", r.Chart, schemas.Field(u.Path))}
	if name, ok := u.Path[len(u.Path)-1].(string); ok {
		if near, found := nearest.To(name, slices.DeleteFunc(u.Known, func(known string) bool { return known == name })); found {
			f.Hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	if inline := append([]any{"spec", "values"}, u.Path...); r.Object.Field(inline...) != nil {
		f.Place = r.Object.KeyPosition(inline...)
	} else {
		f.Place = r.ValuePosition(u.Path...)
	}
	p.ReportBuilt(r.Object, f)
}

// anchored reports whether a value in a document, or one of its parents, has a YAML anchor. Such a value may
// exist only to be repeated by others.
func anchored(o *reconcile.Object, path []any) bool {
	if o.Source == nil {
		return false
	}
	whole := append([]any{"spec", "values"}, path...)
	for i := range whole {
		if at := repository.Lookup(o.Source.Node, whole[:i+1]...); at != nil && (at.Anchor != "" || at.Kind == yaml.AliasNode) && i > 1 {
			return true
		}
	}
	return hasAnchor(repository.Lookup(o.Source.Node, whole...), 0)
}

func hasAnchor(n *yaml.Node, depth int) bool {
	const most = 50
	if n == nil || depth > most {
		return n != nil
	}
	return n.Anchor != "" || slices.ContainsFunc(n.Content, func(item *yaml.Node) bool { return hasAnchor(item, depth+1) })
}
