package reconcile

import (
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/fleetwright/fleetwright/internal/fluxapi"
)

// Kept says why Flux leaves an object on the cluster that a later state of it no longer applies,
// "" where it deletes it. to is that state, nil where the whole cluster is gone: then nothing is
// said to stay.
//
// A Kustomization that is still there prunes what it no longer applies, unless it has
// prune: false. One that is gone is itself an object that its parent prunes or leaves; what becomes
// of its own objects its deletionPolicy says. Source: kustomize-controller v1.9, prune, finalize and
// deleteObjects in internal/controller/kustomization_controller.go; helm-controller v1.6,
// reconcileDelete in internal/controller/helmrelease_controller.go.
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

// protections are the labels or annotations with which kustomize-controller deletes no object.
var protections = [][2]string{
	{fluxapi.KustomizeGroup + "/prune", kustomizev1.DisabledValue},
	{fluxapi.KustomizeGroup + "/reconcile", kustomizev1.DisabledValue},
	{fluxapi.KustomizeGroup + "/ssa", kustomizev1.IgnoreValue},
}

// Carries says whether a label or annotation has a value, in whatever case
// (github.com/fluxcd/pkg/ssa/utils, AnyInMetadata).
func (o *Object) Carries(key, value string) bool {
	return strings.EqualFold(o.Text("metadata", "labels", key), value) || strings.EqualFold(o.Text("metadata", "annotations", key), value)
}

// keeps is why what a Kustomization applied stays when it no longer does, "" where it goes.
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
		return "" // a root: what syncs it instead isn't known
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

// unpruned says that a Kustomization is told not to prune; the API server wants the field.
func (k *Kustomization) unpruned() bool {
	return k.Object != nil && k.Object.Field("spec", "prune") == false
}

// keptByRelease is why an object of a chart stays: Helm keeps what it is told to, and the definitions
// in a chart's crds folder.
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

// definedBy says whether a definition is one of a chart's crds folder.
func (c *Cluster) definedBy(definition *Object) bool {
	return slices.ContainsFunc(c.Releases, func(r *Release) bool {
		return r.Object == definition.HelmRelease && slices.Contains(r.Definitions, definition)
	})
}
