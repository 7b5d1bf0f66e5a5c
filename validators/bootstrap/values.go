package bootstrap

import (
	"strings"

	"github.com/fleetwright/fleetwright/internal/bootstrap"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/templates"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ValuesDrift is bootstrap-values-drift.
var ValuesDrift = rule.Rule{
	ID:       bootstrap.RuleValuesDrift,
	Title:    "the bootstrap installs the chart with different values than Git",
	Severity: finding.Error,
	Why: `The cluster starts with values that nobody reviewed, and Flux changes them in its first upgrade: pods
restart, the network's settings change under a running cluster, or a setting that cannot be changed later
makes the upgrade fail.

Compared are the values that Helm gets on both sides, key by key: on the bootstrap's side literal values,
values files and templates, on Git's side spec.values over the valuesFrom that can be read, after the
patches of the kustomizations and the substitution of variables. A values file that doesn't exist differs too.
Where the cause is known, the difference is told by the rule that is about it: bootstrap-substitution,
bootstrap-values-from, bootstrap-overlay or bootstrap-template-path.`,
	Fix: `Let the bootstrap read the values from the HelmRelease, in a values template such as

    {{ readFile "../../kubernetes/apps/a/app/helmrelease.yaml" | fromYaml | get "spec.values" (dict) | toYaml }}

and move what is substituted or comes from a Secret out of the values of a bootstrapped release. A
difference that is meant is told with its reason: annotation fleetwright.dev/ignore on the HelmRelease.`,
	Run: func(p *rule.Pass) {
		drifts(p, bootstrap.RuleValuesDrift)
		stops := refusals(p)
		for _, r := range releases(p) {
			if r.Verdict == bootstrap.Unresolved && r.HelmRelease != "" && !because(r.Reason, stops) {
				open(p, r.File, r.Line, "release "+r.Release+": "+r.Reason)
			}
		}
	},
}

// refusals are the reasons for which helmfile certainly stops, which bootstrap-refused tells.
func refusals(p *rule.Pass) map[string]bool {
	all := map[string]bool{}
	if c := comparison.Of(p); c.report != nil && p.Runs(bootstrap.RuleRefused) {
		for _, r := range c.report.Refusals {
			if r.Stops() {
				all[r.Reason] = true
			}
		}
	}
	return all
}

// because says whether all that a verdict is unresolved for are some reasons.
func because(reason string, stops map[string]bool) bool {
	for part := range strings.SplitSeq(reason, "; ") {
		if !stops[strings.TrimPrefix(part, templates.TemplateFails)] {
			return false
		}
	}
	return true
}
