package k0rdent

import (
	"cmp"
	"fmt"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// ReleaseOrder is k0rdent-release-order.
var ReleaseOrder = rule.Rule{
	ID:       "k0rdent-release-order",
	Title:    "a Management that is applied before its Release is ready",
	Severity: finding.Warning,
	Why: `kcm's webhook refuses a Management until the status of its Release is ready, which requires that all provider
templates are valid. kustomize-controller validates all objects of a Kustomization with a dry run before it
applies any. If the Management is in one Kustomization with its Release, the dry run fails, so the Release is
never applied either, and a new cluster never becomes ready.

In a separate Kustomization, the Management is refused until the Release is ready and retried after
spec.retryInterval, by default a whole interval. To wait instead, that Kustomization needs a dependsOn, and the
Kustomization of the Release needs healthCheckExprs, because Flux treats a Release as healthy as soon as it
exists.`,
	Fix: `Move the Management to a Kustomization that depends on the one with the Release, and set wait: true on the
latter, with

  healthCheckExprs:
  - apiVersion: k0rdent.mirantis.com/v1beta1
    kind: Release
    current: has(status.ready) && status.ready`,
	Run: func(p *rule.Pass) {
		for _, w := range managementClusters(p) {
			if w.Cluster == nil {
				continue
			}
			for _, o := range w.Of(management) {
				r := w.All[reconcile.Identity{Group: group, Kind: release, Name: o.Text("spec", "release")}]
				if r == nil || r.Kustomization == nil || o.Kustomization == nil {
					continue // reported by another rule
				}
				w.order(p, o, r)
			}
		}
	},
}

// order reports a Management that does not wait for its Release.
func (w *managementCluster) order(p *rule.Pass, m, r *reconcile.Object) {
	switch {
	case m.Kustomization == r.Kustomization:
		p.ReportBuilt(m, finding.Finding{
			Severity: finding.Error,
			Message:  fmt.Sprintf("%s is applied together with %s: kcm refuses the Management until the Release is ready, and Kustomization %s applies nothing", m, r, m.Kustomization),
			Hint:     "move it to a Kustomization that depends on the one with the Release",
		}, "kind")
	case !before(w.Cluster, m.Kustomization)[r.Kustomization]:
		p.ReportBuilt(m, finding.Finding{
			Message: fmt.Sprintf("Kustomization %s applies %s without waiting for %s, which applies %s: kcm refuses the Management until the Release is ready", m.Kustomization, m, r.Kustomization, r),
			Hint:    fmt.Sprintf("add %s to its dependsOn", r.Kustomization),
		}, "kind")
	case !waits(r):
		p.ReportBuilt(m, finding.Finding{
			Message: fmt.Sprintf("Kustomization %s has no health check for %s: kcm refuses %s until the Release's status is ready", r.Kustomization, r, m),
			Hint:    "set wait: true, and healthCheckExprs for Release: current: has(status.ready) && status.ready",
		}, "kind")
	}
}

// waits reports whether the Kustomization of a Release becomes ready only after the Release is ready.
func waits(r *reconcile.Object) bool {
	spec := r.Kustomization.Spec
	checked := spec.Wait
	for _, check := range spec.HealthChecks {
		checked = checked || check.Kind == release && check.Name == r.Name
	}
	for _, e := range spec.HealthCheckExprs {
		if e.Kind == release && e.Current != "" {
			return checked
		}
	}
	return false
}

// before returns the Kustomizations that Flux applies before k. The value is true if Flux waits until the Kustomization is
// ready, because k, or a Kustomization before k, depends on it. It is false for a parent, which only applies k or a
// Kustomization before k.
func before(c *reconcile.Cluster, k *reconcile.Kustomization) map[*reconcile.Kustomization]bool {
	seen := map[*reconcile.Kustomization]bool{}
	open := []*reconcile.Kustomization{k}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, d := range at.Spec.DependsOn {
			dep, ok := c.Kustomization(cmp.Or(d.Namespace, at.Namespace), d.Name)
			if ok && !seen[dep] {
				seen[dep] = true
				open = append(open, dep)
			}
		}
		if _, known := seen[at.Parent]; at.Parent != nil && !known {
			seen[at.Parent] = false
			open = append(open, at.Parent)
		}
	}
	return seen
}
