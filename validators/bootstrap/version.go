package bootstrap

import (
	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// VersionDrift is bootstrap-version-drift.
var VersionDrift = rule.Rule{
	ID:       bootstrap.RuleVersionDrift,
	Title:    "the bootstrap installs a different chart version than Git",
	Severity: finding.Error,
	Why: `A cluster that is built from the bootstrap starts with one version of the chart. As soon as Flux runs, it
upgrades or downgrades to the other version. The chart may be one that the cluster's network or Flux itself
depends on, while nothing else is running yet. Usually a bot updated one file and not the other.

A leading v, a digest after the tag and another registry are not differences. A range in Git is compared with
the bootstrap's version; if the range allows it, the difference is unresolved.`,
	Fix: `Write the version once: let the helmfile read it from the manifest in Git, for example

    version: '{{ readFile "../kubernetes/apps/a/app/ocirepository.yaml" | fromYaml | get "spec.ref.tag" }}'

or update both. To keep an intended difference, write the reason in a comment on the line: # fleetwright:ignore
bootstrap-version-drift REASON`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleVersionDrift) },
}
