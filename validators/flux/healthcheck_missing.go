package flux

import (
	"fmt"
	"slices"
	"strings"

	kubescheme "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// HealthCheckMissing is flux-healthcheck-missing.
var HealthCheckMissing = rule.Rule{
	ID:       "flux-healthcheck-missing",
	Title:    "a health check of an object that does not exist",
	Severity: finding.Error,
	Why: `A Kustomization with spec.healthChecks is ready when all listed objects are ready. If one does not exist, the
Kustomization stays not ready ("timeout waiting for") although all of its objects were applied, and dependents
wait forever.

The rule checks health checks of Flux's own kinds. It checks those of Kubernetes workloads if all charts of the
cluster are available locally, the namespace contains only built-in kinds, and no cluster-scoped custom resource of an
operator has a word of the name. It also checks any other object whose name is a typo of one that exists. With wait: true,
Flux does not use the list. If the objects of the cluster are only partly known, the check is unresolved.`,
	Fix: `Correct the name, namespace or kind, or remove the entry. wait: true checks all objects that the Kustomization
applies, and needs no list.`,
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

// checkHealth checks the i-th health check of a Kustomization.
func (w *world) checkHealth(p *rule.Pass, open *questions, k *reconcile.Kustomization, i int) {
	check := k.Spec.HealthChecks[i]
	of := kubescheme.FromAPIVersionAndKind(check.APIVersion, check.Kind)
	group := of.Group
	if m := schemas.MistakeOf(of); m != nil && len(schemas.Versions(of.GroupKind())) == 0 && check.APIVersion != "" && // Flux ignores the version
		!unknown(check.APIVersion+check.Kind) {
		p.ReportBuilt(k.Object, finding.Finding{Place: w.locate(k.Object, check.Kind, "spec", "healthChecks", i, m.Field),
			Severity: finding.Error,
			Message:  fmt.Sprintf("Kustomization %s has a health check for %s %s: %s", k, check.APIVersion, check.Kind, m.Message), Hint: m.Hint,
		})
		return
	}
	id := reconcile.Identity{Group: group, Kind: check.Kind, Namespace: check.Namespace, Name: check.Name}
	if id.Name == "" || unknown(id.Name+id.Namespace) || w.isThere(id) || isSource(id) && id == sourceOf(w.cluster.Kustomizations[0]) || !w.mustBeThere(id) && !w.misspelt(id) {
		return
	}
	at := w.locate(k.Object, id.Name, "spec", "healthChecks", i, "name")
	if why := w.doubt(id); why != "" {
		open.add(at, fmt.Sprintf("whether %s, which Kustomization %s waits for, exists", idText(id), k), why)
		return
	}
	p.ReportBuilt(k.Object, finding.Finding{Place: at,
		Message: fmt.Sprintf("Kustomization %s has a health check for %s, which does not exist", k, idText(id)),
		Hint:    w.hint(id),
	})
}

// workloads are the built-in kinds whose objects no controller creates on its own.
var workloads = []kind{{"apps", "Deployment"}, {"apps", "StatefulSet"}, {"apps", "DaemonSet"}, {"batch", "Job"}, {"batch", "CronJob"}}

// mustBeThere reports whether an object can only come from Git.
func (w *world) mustBeThere(id reconcile.Identity) bool {
	switch id.Group {
	case fluxapi.KustomizeGroup, fluxapi.HelmGroup, fluxapi.SourceGroup:
		return id.Kind != "ExternalArtifact" && id.Kind != "HelmChart"
	}
	if !slices.Contains(workloads, kind{id.Group, id.Kind}) || id.Namespace == w.cluster.Kustomizations[0].Namespace {
		return false // Flux's own controllers are in the root's namespace
	}
	mayHold := slices.ContainsFunc(w.applied, func(o *reconcile.Object) bool {
		if isHelmRelease(o) {
			return w.cluster.Release(o) == nil
		}
		return o.Namespace == id.Namespace && strings.Contains(o.Group, ".") && !strings.HasSuffix(o.Group, ".k8s.io") && !strings.HasSuffix(o.Group, ".fluxcd.io")
	})
	return !mayHold && !w.operators().namespaces[""].mayName(id.Name) // cluster-scoped custom resources, such as Gatekeeper's
}
