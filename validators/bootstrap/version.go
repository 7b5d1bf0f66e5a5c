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
	Why: `A cluster that is built from the bootstrap starts with one version of the chart, and Flux changes it to
the other as soon as it runs: an upgrade, or a downgrade, of what the cluster's network or Flux itself
depends on, in the minutes in which nothing else is there yet. Usually a bot bumped the one file and not
the other.

A leading v, a digest behind the tag and another registry are no difference. A range in Git is compared
with the bootstrap's version and is unresolved where it allows it.`,
	Fix: `Write the version once: let the helmfile read it from the manifest in Git, for example

    version: '{{ readFile "../kubernetes/apps/a/app/ocirepository.yaml" | fromYaml | get "spec.ref.tag" }}'

or bump both. A difference that is meant stands with its reason in a comment at the line:
# fleetwright:ignore bootstrap-version-drift REASON`,
	Run: func(p *rule.Pass) { drifts(p, bootstrap.RuleVersionDrift) },
}
