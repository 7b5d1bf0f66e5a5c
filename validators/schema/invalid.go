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
	Why: `The API server refuses the object: a required field is missing, or a value has the wrong type, is out of bounds,
or is not one of those allowed. The Kustomization that applies it becomes not ready, and none of its other
objects are applied.

The rule also reports a file that Flux reads and that is not YAML or has a duplicate key, and a version, group
or kind of Kubernetes or Flux that no release has, because no API server serves such an object. This is a
warning if a newer release than the known ones may have it: the version directly after the newest (v2 after v1;
v1beta3 and v1 after v1beta2), or a kind of Flux that resembles none of its group.

Objects of Kubernetes' own kinds that a cluster applies are also validated by the API server's code of Kubernetes 1.37:
ports, schedules, mounts, probes, quantities, names, labels, the rules of roles and more that schemas do not cover. A
workload must select its own pods, and Jobs leave the selector to the API server. If an object also has unknown values,
only errors in its known values are reported.

In a repository without clusters, files of examples, tests and templates are skipped (docs, .templates and the like):
the summary counts them, and --root FOLDER checks a folder. Values that a script replaces ($NAME, words that sed replaces)
are not checked there. A field that a base leaves empty is checked in the overlays that build it.

The API server accepts an invalid version range (spec.ref.semver of GitRepositories and OCIRepositories, a
chart's version), but source-controller refuses it and fetches nothing new; Flux stalls at an expression in
spec.healthCheckExprs that it cannot parse.`,
	Fix: `Change the value to one that the message allows. Strings that look like a number or a boolean need quotes:
annotations, labels, a ConfigMap's data and environment variables are strings.

List entries that are identified by a key (a container by its name, an environment variable by its name, a port
by its number and protocol) must be unique: Flux applies with server-side apply, which refuses a duplicate.

A value with ${VAR} is substituted by Flux before it is applied; it is reported as unresolved, not as invalid.`,
	Run: func(p *rule.Pass) {
		report(p, schemas.Invalid)
		unresolved(p)
	},
}
