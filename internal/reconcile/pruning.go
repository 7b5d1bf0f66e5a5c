package reconcile

import (
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// Kept returns why Flux leaves an object on the cluster that a later state of it no longer applies, "" if Flux deletes
// it. to is that state, nil if the whole cluster is gone: then it returns "".
//
// A Kustomization that still exists prunes what it no longer applies, unless it has prune: false. One that is gone is
// itself an object that its parent prunes or leaves; its deletionPolicy decides about its own objects. Source:
// kustomize-controller v1.9, prune, finalize and deleteObjects in internal/controller/kustomization_controller.go;
// helm-controller v1.6, reconcileDelete in internal/controller/helmrelease_controller.go.
func (o *Object) Kept(to *Cluster) string {
	switch {
	case to == nil || o.Kustomization == nil:
		return ""
	case o.HelmRelease != nil:
		return o.keptByRelease(to)
	}
	for _, protection := range protections {
		if o.Carries(protection[0], protection[1]) {
			return fmt.Sprintf("%s is %s for it", protection[0], protection[1])
		}
	}
	return o.Kustomization.keeps(to)
}

// protections are the labels and annotations that keep kustomize-controller from deleting an object.
var protections = [][2]string{
	{fluxapi.KustomizeGroup + "/prune", kustomizev1.DisabledValue},
	{fluxapi.KustomizeGroup + "/reconcile", kustomizev1.DisabledValue},
	{fluxapi.KustomizeGroup + "/ssa", kustomizev1.IgnoreValue},
}

// Carries reports whether a label or annotation has a value, in any case (github.com/fluxcd/pkg/ssa/utils,
// AnyInMetadata).
func (o *Object) Carries(key, value string) bool {
	return strings.EqualFold(o.Text("metadata", "labels", key), value) || strings.EqualFold(o.Text("metadata", "annotations", key), value)
}

// keeps returns why an object remains that a Kustomization no longer applies, "" if Flux deletes it.
func (k *Kustomization) keeps(to *Cluster) string {
	if now, there := to.Kustomization(k.Namespace, k.Name); there {
		switch {
		case now.Spec.Suspend:
			return fmt.Sprintf("Kustomization %s is suspended", k)
		case now.unpruned():
			return fmt.Sprintf("Kustomization %s has prune: false", k)
		}
		return ""
	}
	if k.Object == nil || k.Parent == nil || k.Parent == k {
		return "" // a root: the object that syncs it instead is unknown
	}
	if why := k.Object.Kept(to); why != "" {
		return fmt.Sprintf("Kustomization %s is kept: %s", k, why)
	}
	switch policy := k.Spec.DeletionPolicy; {
	case k.Spec.Suspend:
		return fmt.Sprintf("Kustomization %s is removed while it is suspended", k)
	case policy == kustomizev1.DeletionPolicyOrphan:
		return fmt.Sprintf("Kustomization %s is removed with deletionPolicy: %s", k, policy)
	case (policy == "" || policy == kustomizev1.DeletionPolicyMirrorPrune) && k.unpruned():
		return fmt.Sprintf("Kustomization %s is removed with prune: false", k)
	}
	return ""
}

// unpruned reports whether a Kustomization has prune: false; the API server requires the field.
func (k *Kustomization) unpruned() bool {
	return k.Object != nil && k.Object.Field("spec", "prune") == false
}

// keptByRelease returns why an object of a chart remains: Helm keeps objects with its keep policy, and the definitions in
// a chart's crds folder.
func (o *Object) keptByRelease(to *Cluster) string {
	release := o.HelmRelease
	if strings.EqualFold(strings.TrimSpace(o.Text("metadata", "annotations", "helm.sh/resource-policy")), "keep") {
		return "it has helm.sh/resource-policy: keep"
	}
	if o.Kind == "CustomResourceDefinition" && o.Kustomization.Cluster.definedBy(o) {
		return "it is in the crds folder of its chart, and Helm never deletes CRDs"
	}
	if now := to.Find(release.Identity); len(now) > 0 {
		if now[0].Field("spec", "suspend") == true {
			return release.String() + " is suspended"
		}
		return ""
	}
	if why := release.Kept(to); why != "" {
		return release.String() + " is kept: " + why
	}
	if release.Field("spec", "suspend") == true {
		return release.String() + " is removed while it is suspended"
	}
	return ""
}

// definedBy reports whether a definition is in a chart's crds folder.
func (c *Cluster) definedBy(definition *Object) bool {
	return slices.ContainsFunc(c.Releases, func(r *Release) bool {
		return r.Object == definition.HelmRelease && slices.Contains(r.Definitions, definition)
	})
}
