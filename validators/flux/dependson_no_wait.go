package flux

import (
	"fmt"
	"slices"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// DependsOnNoWait is flux-dependson-no-wait.
var DependsOnNoWait = rule.Rule{
	ID:       "flux-dependson-no-wait",
	Title:    "a dependency on a Kustomization that does not wait for its objects",
	Severity: finding.Warning,
	Why: `A Kustomization without wait: true and without healthChecks is ready as soon as its objects are applied, even if
its HelmReleases are not installed and its Deployments do not run yet. Dependents start at once and often fail
until the next retry, because CRDs, webhooks or services that they need do not exist yet.

The finding is reported once, on the Kustomization that others depend on, and only if it applies HelmReleases or
workloads, which take time to become ready. ConfigMaps, other Kustomizations or custom resources alone do not
count, nor does a dependency with a readyExpr.`,
	Fix: `Set spec.wait: true on the Kustomization that others depend on, or list the objects that they need in
spec.healthChecks. If only the order of the apply matters, ignore the finding and say so.`,
	Run: func(p *rule.Pass) {
		var found gathered
		each(p, func(w *world) { w.noWait(&found) })
		found.report(p, func(f finding.Finding, names []string) string { return f.Message + "; " + dependOn(names) + " on it" })
	},
}

func (w *world) noWait(found *gathered) {
	dependents := map[reconcile.Identity][]*reconcile.Object{}
	for _, o := range w.depending() {
		for _, d := range dependencies(o) {
			if isKustomization(o) && !d.expression && d.on != o.Identity {
				dependents[d.on] = append(dependents[d.on], o)
			}
		}
	}
	for _, k := range w.cluster.Kustomizations {
		by := dependents[idOf(k)]
		if len(by) == 0 || k.Spec.Wait || len(k.Spec.HealthChecks) > 0 || k.Object == nil {
			continue
		}
		at := slices.IndexFunc(k.Objects, takesTime)
		if at < 0 {
			continue
		}
		hint := "set wait: true, or list the required objects in healthChecks"
		var names []string
		for _, o := range by {
			names = append(names, o.Namespace+"/"+o.Name)
			for by := o.Kustomization; by != nil && by.Parent != by; by = by.Parent {
				if by == k {
					hint = fmt.Sprintf("list the required objects in healthChecks (not wait: true: %s would wait for %s, which it applies and which depends on it)", k, names[len(names)-1])
				}
			}
		}
		found.add(k.Object.Position("spec", "wait"), k.String(), finding.Finding{
			Message: fmt.Sprintf("Kustomization %s becomes ready before its %s", k, k.Objects[at]),
			Hint:    hint,
		}, k.Object, names...)
	}
}

func dependOn(by []string) string {
	if len(by) == 1 {
		return by[0] + " depends"
	}
	return some(by) + " depend"
}

// takesTime reports whether an object needs some time to become ready after it is applied.
func takesTime(o *reconcile.Object) bool {
	switch o.Group {
	case "apps":
		return o.Kind == "Deployment" || o.Kind == "StatefulSet" || o.Kind == "DaemonSet"
	case "batch":
		return o.Kind == "Job"
	case "":
		return o.Kind == "Pod"
	case fluxapi.OperatorGroup:
		return o.Kind == "ResourceSet" || o.Kind == "FluxInstance"
	}
	return isHelmRelease(o)
}
