package flux

import (
	"fmt"
	"slices"
	"strings"

	kubescheme "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// HealthCheckMissing is flux-healthcheck-missing.
var HealthCheckMissing = rule.Rule{
	ID:       "flux-healthcheck-missing",
	Title:    "a health check of an object that does not exist",
	Severity: finding.Error,
	Why: `A Kustomization waits for the objects of its spec.healthChecks, and is ready when all are. One that doesn't
exist never is: the Kustomization stays not ready ("timeout waiting for"), although all of it was applied, and what
depends on it waits for ever.

Looked at are health checks of Flux's own kinds, and of Kubernetes' workloads where all charts of the cluster are at
hand and nothing but built-in kinds is in the namespace. With wait: true the list isn't used. Where not all is known that
the cluster applies, the check is unresolved.`,
	Fix: `Correct the name, namespace or kind, or remove the entry. wait: true checks all that the Kustomization applies,
and needs no list.`,
	Run: func(p *rule.Pass) {
		var open questions
		each(p, func(w *world) {
			for _, k := range w.cluster.Kustomizations {
				if k.Spec.Suspend || k.Spec.Wait || k.Spec.KubeConfig != nil || k.Object == nil {
					continue
				}
				for i := range k.Spec.HealthChecks {
					w.checkHealth(p, &open, k, i)
				}
			}
		})
		open.report(p)
	},
}

// checkHealth looks at one health check of a Kustomization.
func (w *world) checkHealth(p *rule.Pass, open *questions, k *reconcile.Kustomization, i int) {
	check := k.Spec.HealthChecks[i]
	group := kubescheme.FromAPIVersionAndKind(check.APIVersion, check.Kind).Group
	id := reconcile.Identity{Group: group, Kind: check.Kind, Namespace: check.Namespace, Name: check.Name}
	if id.Name == "" || unknown(id.Name+id.Namespace) || w.isThere(id) || isSource(id) && id == sourceOf(w.cluster.Kustomizations[0]) || !w.mustBeThere(id) {
		return
	}
	at := w.locate(k.Object, id.Name, "spec", "healthChecks", i, "name")
	if why := w.doubt(id); why != "" {
		open.add(at, fmt.Sprintf("whether %s, which Kustomization %s waits for, exists", idText(id), k), why)
		return
	}
	p.ReportBuilt(k.Object, at.in(finding.Finding{
		Message: fmt.Sprintf("Kustomization %s has a health check for %s, which does not exist", k, idText(id)),
		Hint:    w.hint(id),
	}))
}

// workloads are the built-in kinds of which nothing else makes any by itself.
var workloads = []kind{{"apps", "Deployment"}, {"apps", "StatefulSet"}, {"apps", "DaemonSet"}, {"batch", "Job"}, {"batch", "CronJob"}}

// mustBeThere says whether an object of a kind comes from Git or not at all.
func (w *world) mustBeThere(id reconcile.Identity) bool {
	switch id.Group {
	case fluxapi.KustomizeGroup, fluxapi.HelmGroup, fluxapi.SourceGroup:
		return id.Kind != "ExternalArtifact" && id.Kind != "HelmChart"
	}
	if !slices.Contains(workloads, kind{id.Group, id.Kind}) || id.Namespace == w.cluster.Kustomizations[0].Namespace {
		return false // Flux's own controllers stand beside the root
	}
	return !slices.ContainsFunc(w.applied, func(o *reconcile.Object) bool {
		if isHelmRelease(o) {
			return w.cluster.Release(o) == nil
		}
		return o.Namespace == id.Namespace && strings.Contains(o.Group, ".") && !strings.HasSuffix(o.Group, ".k8s.io") && !strings.HasSuffix(o.Group, ".fluxcd.io")
	})
}
