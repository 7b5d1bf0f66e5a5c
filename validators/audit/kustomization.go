package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// RetryInterval is the rule audit-retry-interval.
var RetryInterval = rule.Rule{
	ID:       "audit-retry-interval",
	Title:    "a Kustomization with a long retry interval",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `A Kustomization that fails is retried after spec.retryInterval, which defaults to spec.interval. With an
interval of one hour, a webhook that was not ready yet costs one hour, and every Kustomization that depends on
this one waits, too.

The rule reports intervals longer than ten minutes.`,
	Fix: `Set spec.retryInterval: 2m.`,
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			interval := duration(o, "spec", "interval")
			if isKustomization(o) && o.Field("spec", "retryInterval") == nil && interval > long {
				p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s is retried only after its interval of %s", o, o.Text("spec", "interval")),
					Hint: "set spec.retryInterval: 2m"}, "spec", "interval")
			}
		}
	},
}

// Timeout is the rule audit-timeout.
var Timeout = rule.Rule{
	ID:       "audit-timeout",
	Title:    "a Kustomization that waits as long as its interval",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `A Kustomization that waits for its objects to become healthy fails after spec.timeout, which defaults to
spec.interval. With an interval of one hour, a hanging rollout is reported only after an hour, and a newer
commit that fixes it has to wait.

The rule reports Kustomizations with wait or health checks whose interval is longer than ten minutes. The timeout of a
HelmRelease defaults to five minutes.`,
	Fix: `Set spec.timeout to the longest time that the rollout can take, such as 5m.`,
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			wait, _ := o.Field("spec", "wait").(bool)
			waits := wait || len(o.List("spec", "healthChecks")) > 0
			if isKustomization(o) && waits && o.Field("spec", "timeout") == nil && duration(o, "spec", "interval") > long {
				p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s waits up to %s, its interval, for its objects to become ready", o, o.Text("spec", "interval")),
					Hint: "set spec.timeout: 5m"}, "spec", "interval")
			}
		}
	},
}

// Prune is the rule audit-prune.
var Prune = rule.Rule{
	ID:       "audit-prune",
	Title:    "a Kustomization that does not prune",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `Without pruning, an object that is removed from Git stays in the cluster. It keeps running without updates, Git
does not show that it exists, and a rebuilt cluster does not have it.`,
	Fix: `Set spec.prune: true. Annotate objects that must not be deleted with kustomize.toolkit.fluxcd.io/prune:
disabled.`,
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			if isKustomization(o) && !slices.Contains([]any{true}, o.Field("spec", "prune")) && !strings.Contains(o.Text("spec", "prune"), "${") {
				p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s does not delete objects that are removed from Git", o),
					Hint: "set spec.prune: true"}, "spec", "prune")
			}
		}
	},
}

// AlertMissing is the rule audit-alert-missing.
var AlertMissing = rule.Rule{
	ID:       "audit-alert-missing",
	Title:    "a production cluster without an Alert",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `A Kustomization or HelmRelease that fails reports the failure only in its status and in an event. Without an
Alert of notification-controller, or monitoring of Flux's metrics, the failure is not noticed, and the cluster drifts
from Git.

The rule checks production clusters, as their paths name them, or all clusters if no path names a stage. A
Prometheus rule or monitor that mentions Flux's metrics counts as an Alert. A tenant's own repository is not checked.`,
	Fix: `Add a Provider and an Alert for errors:

    apiVersion: notification.toolkit.fluxcd.io/v1beta3
    kind: Alert
    metadata:
      name: on-call
      namespace: flux-system
    spec:
      providerRef:
        name: on-call
      eventSeverity: error
      eventSources:
        - kind: Kustomization
          name: "*"
        - kind: HelmRelease
          name: "*"`,
	Run: func(p *rule.Pass) {
		for _, c := range p.Clusters() {
			alertMissing(p, c)
		}
	},
}

func alertMissing(p *rule.Pass, c *reconcile.Cluster) {
	heard := slices.ContainsFunc(c.Objects(), func(o *reconcile.Object) bool {
		return o.Group == fluxapi.NotificationGroup && o.Kind == "Alert" || watchesFlux(o)
	})
	if heard || c.Root.Boundary != nil || !isProduction(p, c) || len(c.Objects()) == 0 {
		return
	}
	if !c.Complete() {
		p.Unresolved(c.Root.Place, fmt.Sprintf("cannot decide whether cluster %s has an Alert: not all of its objects are known", c.Name))
		return
	}
	p.ReportIn(c.Name, finding.Finding{
		Place:   c.Root.Place,
		Message: fmt.Sprintf("cluster %s has no Alert: Flux does not report its failures", c.Name),
		Hint:    "add a Provider and an Alert with eventSeverity: error",
	})
}

// watchesFlux reports whether an object is an alerting rule that uses Flux's metrics.
func watchesFlux(o *reconcile.Object) bool {
	if !slices.Contains([]string{"PrometheusRule", "VMRule", "GrafanaAlertRuleGroup"}, o.Kind) {
		return false
	}
	text := fmt.Sprint(o.Field("spec"))
	return strings.Contains(text, "gotk_") || strings.Contains(text, "flux_")
}
