package schema

import (
	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Missing is the rule schema-missing. It has no findings: an object that cannot
// be checked is unresolved.
var Missing = rule.Rule{
	ID:       "schema-missing",
	Title:    "a kind without a known schema",
	Severity: finding.Info,
	Why: `For an object without a schema, only the metadata is checked: a misspelt field is noticed only when the cluster
refuses it. Each kind is reported once, as unresolved, with the number of its unchecked objects.

The rule knows the kinds of Kubernetes, Flux and the Flux Operator, kinds whose CustomResourceDefinition is in the
repository, and kinds in the folders passed with --schemas. A version of a Flux kind that no release has, or a
misspelt group of Flux, is an error that schema-invalid reports.`,
	Fix: `If the message names other versions of the kind, use one of them. Otherwise add the kind's
CustomResourceDefinition to the repository, or pass a folder that contains it with --schemas:
CustomResourceDefinitions in YAML, or JSON Schemas as in public catalogs (GROUP/KIND_VERSION.json).

No schema is needed for an object that kustomize omits from its builds (annotation
config.kubernetes.io/local-config).`,
	Run: func(p *rule.Pass) {
		var gaps []*gap
		for c := range chosen(p) {
			if _, removed := removedIn(p, kubeschema.FromAPIVersionAndKind(c.object.APIVersion, c.object.Kind)); removed && c.built != nil && p.Runs(APIRemoved.ID) {
				continue
			}
			if c.noSchema != "" {
				gaps = addGap(gaps, c)
			}
		}
		for _, g := range gaps {
			p.UnresolvedFor(g.Place, g.String(), g.why)
		}
	},
}
