package schema

import (
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Missing is the rule schema-missing. It has no findings: an object that cannot
// be checked is unresolved.
var Missing = rule.Rule{
	ID:       "schema-missing",
	Title:    "a kind that no schema is known of",
	Severity: finding.Info,
	Why: `What has no schema is not checked: a misspelt field of it shows only when the cluster refuses it. Each kind is reported once, as unresolved, with how many objects of it went unchecked.

Known are the kinds of Kubernetes, Flux and the Flux Operator, those whose CustomResourceDefinition the repository holds, and those in the folders given with --schemas. A version of a kind of Flux's that no release has, or a misspelt group of its, is no gap but wrong: schema-invalid tells.`,
	Fix: `Where the message names other versions of the kind, move to one of them. Else add the kind's CustomResourceDefinition to the repository, or give a folder that holds it with --schemas: plain CustomResourceDefinitions in YAML, or JSON Schemas as catalogs of them have (GROUP/KIND_VERSION.json).

An object that kustomize leaves out of what it builds (annotation config.kubernetes.io/local-config) is not asked for.`,
	Unresolved: []rule.Example{{Files: `-- apps/backup.yaml --
apiVersion: backups.example.com/v1 # <-- here
kind: Schedule
metadata:
  name: nightly
  namespace: apps
spec:
  cron: 0 3 * * *
---
apiVersion: batch/v1beta1 # <-- here
kind: CronJob
metadata:
  name: nightly
  namespace: apps
spec:
  schedule: 0 3 * * *
`}},
	Good: []rule.Example{{Files: `-- apps/backup.yaml --
apiVersion: backups.example.com/v1
kind: Schedule
metadata:
  name: nightly
  namespace: apps
spec:
  cron: 0 3 * * *
-- apps/crd.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: schedules.backups.example.com
spec:
  group: backups.example.com
  scope: Namespaced
  names:
    kind: Schedule
    plural: schedules
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [cron]
              properties:
                cron:
                  type: string
`}},
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
