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
	Why: `The cluster starts with values that were not reviewed, and Flux changes them in its first upgrade: pods restart,
network settings change in a running cluster, or the upgrade fails on a setting that cannot be changed later.

The rule compares the values that Helm gets, key by key. The bootstrap's values are literal values, values files
and templates. Git's values are spec.values over the valuesFrom that can be read, after kustomize patches and
variable substitution. A values file that does not exist is a difference, too. If the cause is known, the
difference is reported by the more specific rule: bootstrap-substitution, bootstrap-values-from,
bootstrap-overlay or bootstrap-template-path.`,
	Fix: `Let the bootstrap read the values from the HelmRelease, in a values template such as

    {{ readFile "../../kubernetes/apps/a/app/helmrelease.yaml" | fromYaml | get "spec.values" (dict) | toYaml }}

and keep variables, and values from Secrets, out of the values of a bootstrapped release. To keep an intended
difference, annotate the HelmRelease with fleetwright.dev/ignore and a reason.`,
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

// refusals returns the reasons for which helmfile certainly fails, if the rule bootstrap-refused runs and
// reports them.
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

// because reports whether every part of an unresolved reason is one of the reasons in stops.
func because(reason string, stops map[string]bool) bool {
	for part := range strings.SplitSeq(reason, "; ") {
		if !stops[strings.TrimPrefix(part, templates.TemplateFails)] {
			return false
		}
	}
	return true
}
