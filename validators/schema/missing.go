package schema

import (
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Missing is the rule schema-missing. It has no findings: an object that cannot
// be checked is unresolved.
var Missing = rule.Rule{
	ID:       "schema-missing",
	Title:    "a kind without a known schema",
	Severity: finding.Info,
	Why: `What has no schema is not checked: a misspelt field of it shows only when the cluster refuses it. Each kind is reported once, as unresolved, with how many objects of it went unchecked.

Known are the kinds of Kubernetes, Flux and the Flux Operator, those whose CustomResourceDefinition the repository holds, and those in the folders given with --schemas. A version of a kind of Flux's that no release has, or a misspelt group of its, is no gap but wrong: schema-invalid tells.`,
	Fix: `Where the message names other versions of the kind, move to one of them. Else add the kind's CustomResourceDefinition to the repository, or give a folder that holds it with --schemas: plain CustomResourceDefinitions in YAML, or JSON Schemas as catalogs of them have (GROUP/KIND_VERSION.json).

An object that kustomize leaves out of what it builds (annotation config.kubernetes.io/local-config) is not asked for.`,
	Run: func(p *rule.Pass) {
		var gaps []*gap
		for c := range chosen(p) {
			if c.noSchema != "" {
				gaps = addGap(gaps, c)
			}
		}
		for _, g := range gaps {
			p.UnresolvedFor(g.file, g.line, g.String(), g.why)
		}
	},
}
