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

// ReleaseRetry is the rule audit-release-retry.
var ReleaseRetry = rule.Rule{
	ID:       "audit-release-retry",
	Title:    "a HelmRelease that stays failed after its first failure",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `By default, helm-controller tries an install or upgrade once. If it fails, for example because a registry was
unreachable or a webhook was not ready yet, the release stays failed until its chart or values change. With the
strategy RetryOnFailure, helm-controller retries in place. With remediation.retries, it retries after a rollback
or an uninstall.`,
	Fix: `Set it for both actions:

    install:
      strategy:
        name: RetryOnFailure
    upgrade:
      strategy:
        name: RetryOnFailure

A patch in the Kustomization that applies the releases sets it for all of them. Source: InstallStrategy and
UpgradeStrategy of helm-controller's API.`,
	Run: func(p *rule.Pass) {
		objects := p.Applied()
		retries := map[*reconcile.Cluster]bool{}
		for _, o := range objects {
			if retriesByDefault(o) {
				retries[clusterOf(o)] = true
			}
		}
		for _, o := range objects {
			if isRelease(o) && !retries[clusterOf(o)] {
				releaseRetry(p, o)
			}
		}
	},
}

// retriesByDefault reports whether an object configures helm-controller to retry failed releases by default.
func retriesByDefault(o *reconcile.Object) bool {
	const gate = "DefaultToRetryOnFailure=true"
	if o.Kind == "Deployment" && o.Name == "helm-controller" {
		return strings.Contains(fmt.Sprint(o.Field("spec", "template", "spec", "containers")), gate)
	}
	return o.Group == fluxapi.OperatorGroup && o.Kind == "FluxInstance" && strings.Contains(fmt.Sprint(o.Field("spec", "kustomize")), gate) ||
		o.Group == fluxapi.HelmGroup && strings.Contains(fmt.Sprint(o.Field("spec", "values", "instance", "kustomize")), gate)
}

func releaseRetry(p *rule.Pass, o *reconcile.Object) {
	var lacking []string
	for _, action := range []string{"install", "upgrade"} {
		retries := o.Field("spec", action, "remediation", "retries")
		if o.Text("spec", action, "strategy", "name") != "RetryOnFailure" && (retries == nil || fmt.Sprint(retries) == "0") {
			lacking = append(lacking, action)
		}
	}
	if len(lacking) > 0 {
		p.ReportBuilt(o, finding.Finding{
			Message: fmt.Sprintf("%s: no retry after a failed %s", o, strings.Join(lacking, " and ")),
			Hint:    fmt.Sprintf("set spec.%s.strategy.name: RetryOnFailure", lacking[0]),
		}, "spec", lacking[0])
	}
}

// DriftDetection is the rule audit-drift-detection.
var DriftDetection = rule.Rule{
	ID:       "audit-drift-detection",
	Title:    "a production HelmRelease without drift detection",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `helm-controller compares a release with its chart and values, not with the cluster: manual edits and deletions
persist until the next upgrade. With drift detection, it compares the cluster at every interval, and corrects
the difference (enabled) or reports it (warn). Drift detection is off by default.

The rule checks production clusters, as their paths name them, or all clusters if no path names a stage.`,
	Fix: `Set spec.driftDetection.mode: enabled, and list under ignore the fields that others change on purpose, such as
/spec/replicas under an autoscaler.`,
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			mode := o.Text("spec", "driftDetection", "mode")
			if isRelease(o) && !slices.Contains([]string{"enabled", "warn"}, mode) && !strings.Contains(mode, "${") && isProduction(p, clusterOf(o)) {
				p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s: manual changes in the cluster are not detected", o),
					Hint: orSpecified(p, "set spec.driftDetection.mode: enabled", "spec.defaults.driftDetection of the Fleet or spec.driftDetection of the Addon")}, "spec", "driftDetection", "mode")
			}
		}
	},
}

// CreateNamespace is the rule audit-create-namespace.
var CreateNamespace = rule.Rule{
	ID:       "audit-create-namespace",
	Title:    "a HelmRelease that creates its own namespace",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `A namespace that install.createNamespace creates is not managed: it has no labels (pod security, tenant),
nothing updates it, and it is not deleted with the release.`,
	Fix: `Add the Namespace to the Kustomization that applies the HelmRelease, and remove createNamespace.`,
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			if create, _ := o.Field("spec", "install", "createNamespace").(bool); create && isRelease(o) {
				p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s creates its namespace, which Git then does not manage", o),
					Hint: "add the Namespace to Git"}, "spec", "install", "createNamespace")
			}
		}
	},
}

// DefaultNamespace is the rule audit-default-namespace.
var DefaultNamespace = rule.Rule{
	ID:       "audit-default-namespace",
	Title:    "a workload in the namespace default",
	Severity: finding.Info,
	Profile:  Profile,
	Why: `The namespace default is shared and cannot be deleted. Objects that are created there because of a forgotten -n
mix with the workload, and roles, quotas and network policies apply to unrelated objects.`,
	Fix: `Create a separate namespace for the workload.`,
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			path := []any{"metadata", "namespace"}
			namespace := o.Namespace
			if target := o.Text("spec", "targetNamespace"); isRelease(o) && target != "" {
				namespace, path = target, []any{"spec", "targetNamespace"}
			}
			if namespace == "default" && (isRelease(o) || isWorkload(o)) {
				p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s runs in the namespace default", o),
					Hint: "create a separate namespace for it"}, path...)
			}
		}
	},
}

func isWorkload(o *reconcile.Object) bool {
	return slices.Contains([]string{"apps/Deployment", "apps/StatefulSet", "apps/DaemonSet", "batch/Job", "batch/CronJob", "/Pod"}, o.Group+"/"+o.Kind)
}
