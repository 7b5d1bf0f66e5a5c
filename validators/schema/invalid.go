package schema

import (
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Invalid is the rule schema-invalid.
var Invalid = rule.Rule{
	ID:       "schema-invalid",
	Title:    "a value that the schema of the kind does not allow",
	Severity: finding.Error,
	Why: `The API server refuses the object: a required field is missing, a value is of another type, outside of its bounds, or not one of those allowed. The Kustomization that applies it turns not ready, and none of its other objects are applied either.

The same goes for a file that Flux reads and that is no YAML, or has a key twice; and for a version, a group or a kind of Kubernetes' or Flux's that no release has: such an object nothing serves. It is a warning where a newer release than the known ones may have it: the version that comes right after the newest (v2 after v1; v1beta3 and v1 after v1beta2), or a kind of Flux's that is like none of its group.

A Deployment, StatefulSet, DaemonSet or ReplicaSet must select its own pods: each label of spec.selector stands in the template's labels, too. Jobs and CronJobs need a restartPolicy of OnFailure or Never, and leave the selector to the API server.

In a repository without clusters, the files of examples and tests are left alone (docs, examples, testdata and the like): the summary counts them, and --root FOLDER judges a folder.

A range of versions that is none (spec.ref.semver of GitRepositories and OCIRepositories, a chart's version) the API server takes; source-controller refuses it, and fetches nothing new. Nor does a schema say which roles and subjects a binding can have, and that an expression in spec.healthCheckExprs is one: Flux stalls at one that it cannot parse.`,
	Fix: `Change the value to what the message allows. Text that looks like a number or like true needs quotes: annotations, labels, a ConfigMap's data and environment variables are text.

An entry of a list that is told apart by its key (a container by its name, an environment variable by its name, a port by its number and protocol) may be there once: a server-side apply, which is how Flux applies, refuses the second.

A value with ${VAR} is substituted by Flux before it is applied; it is reported as unresolved, not as invalid.`,
	Run: func(p *rule.Pass) {
		report(p, schemas.Invalid)
		unresolved(p)
	},
}
