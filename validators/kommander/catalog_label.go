package kommander

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// CatalogLabel is kommander-catalog-label.
var CatalogLabel = rule.Rule{
	ID:       "kommander-catalog-label",
	Title:    "a misspelt catalog label",
	Severity: finding.Warning,
	Why: `Kommander finds GitRepositories with applications by their labels: kommander.d2iq.io/gitapps-gitrepository-type
(dkp or catalog), kommander.d2iq.io/gitrepository-type (catalog), and
kommander.d2iq.io/workspace-default-catalog-repository and project-default-catalog-repository ("true"), which
offer it to all workspaces or projects. If a label has a typo, Kommander reports no error: the applications are
just not offered.

The rule reports keys and values that are typos of these.`,
	Fix: `Correct the label.`,
	Run: func(p *rule.Pass) {
		known := catalogLabels()
		keys := slices.Sorted(maps.Keys(known))
		for _, o := range p.Applied() {
			if o.Group == fluxapi.SourceGroup {
				catalogLabelled(p, o, known, keys)
			}
		}
	},
}

// catalogLabels returns the labels of catalogs with their valid values (documentation of DKP 2.2 to 2.8;
// dkp-catalog-applications).
func catalogLabels() map[string][]string {
	const domain = "kommander.d2iq.io/"
	return map[string][]string{
		domain + "gitapps-gitrepository-type":           {"catalog", "dkp"},
		domain + "gitrepository-type":                   {"catalog"},
		domain + "workspace-default-catalog-repository": {"true"},
		domain + "project-default-catalog-repository":   {"true"},
	}
}

// catalogLabelled checks the labels of a source.
func catalogLabelled(p *rule.Pass, o *reconcile.Object, known map[string][]string, keys []string) {
	labels, _ := o.Field("metadata", "labels").(map[string]any)
	if len(labels) > limits.Labels {
		p.ReportBuilt(o, rule.Exceeded(finding.Finding{}, "metadata.labels of "+o.String(), fmt.Sprintf("it has more than %d entries", limits.Labels)), "metadata", "labels")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		at := []any{"metadata", "labels", key}
		if near := typoOf(key, keys); near != "" && labels[near] == nil {
			p.ReportBuilt(o, finding.Finding{
				Message: fmt.Sprintf("%s has label %q, which Kommander does not know", o, key), Hint: fmt.Sprintf("did you mean %q?", near),
			}, at...)
			continue
		}
		value, _ := labels[key].(string)
		if near := typoOf(value, known[key]); near != "" {
			p.ReportBuilt(o, finding.Finding{
				Message: fmt.Sprintf("%s has label %s: %q, which is not a valid value", o, key, value), Hint: fmt.Sprintf("did you mean %q?", near),
			}, at...)
		}
	}
}

// typoOf returns the known name that another name is a typo of, or from which it differs only in case; "" if there is
// none. Names are compared without dashes, because all known names differ from each other in more than one part.
func typoOf(name string, names []string) string {
	if slices.Contains(names, name) {
		return ""
	}
	whole := strings.NewReplacer("-", "")
	for _, known := range names {
		if strings.EqualFold(name, known) {
			return known
		}
		if _, is := schemas.Misspelt(whole.Replace(name), []string{whole.Replace(known)}); is {
			return known
		}
	}
	return ""
}
