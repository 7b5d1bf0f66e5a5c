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
	Why: `By default helm-controller tries an install or an upgrade once: when it fails, on a registry that was not
reachable or a webhook that was not up yet, the release stays failed until its chart or its values change. With the
strategy RetryOnFailure it tries again, each time in place; remediation.retries does so after a rollback or an
uninstall.`,
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

// retriesByDefault recognises a helm-controller whose default strategy is to retry.
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
	Why: `helm-controller compares a release with its chart and values, not with the cluster: what somebody edits or
deletes by hand stays so until the next upgrade. With drift detection it looks at every interval, and puts right
what differs (enabled) or says so (warn). It is off by default.

Asked of clusters of production, as their paths name them; of all where no path names a stage.`,
	Fix: `Set spec.driftDetection.mode: enabled, and list under ignore what others write on purpose, such as
/spec/replicas under an autoscaler.`,
	Run: func(p *rule.Pass) {
		for _, o := range p.Applied() {
			mode := o.Text("spec", "driftDetection", "mode")
			if isRelease(o) && !slices.Contains([]string{"enabled", "warn"}, mode) && !strings.Contains(mode, "${") && isProduction(p, clusterOf(o)) {
				p.ReportBuilt(o, finding.Finding{Message: fmt.Sprintf("%s: manual changes in the cluster are not detected", o),
					Hint: "set spec.driftDetection.mode: enabled"}, "spec", "driftDetection", "mode")
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
	Why: `A namespace that install.createNamespace makes is in nobody's hands: it has no labels (pod security, tenant),
nobody updates it, and it is not deleted with the release.`,
	Fix: `Write the Namespace in Git, in the Kustomization that applies the HelmRelease, and leave createNamespace out.`,
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
	Why: `The namespace default is everybody's: it cannot be deleted, what ends up there by a forgotten -n sits beside
it, and roles, quotas and network policies for it hold for things that don't belong together.`,
	Fix: `Give the workload a namespace of its own.`,
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
