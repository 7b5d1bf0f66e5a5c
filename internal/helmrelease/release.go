package helmrelease

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/charts"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/fluxapi"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Release is a HelmRelease as Flux applies it to a cluster.
type Release struct {
	finding.Place
	// Applied is the object. If no cluster applies it, it is the object in its file, and
	// belongs to no Kustomization.
	Applied *reconcile.Object
	// Name, Namespace and Storage are the names in Helm, as helm-controller computes them.
	Name, Namespace, Storage string
	Ignores                  map[string]string // reasons by rule
	Orphan                   bool
	// set is the ResourceSet that creates the HelmRelease, nil if none does.
	set *reconcile.Object

	whole *located.Value // the object with its places, nil until it is needed
}

// unit returns the comparison of the HelmRelease as a unit of the run.
func (h *Release) unit() bounds.Unit {
	return bounds.Unit{Kind: "comparison", File: h.File, Line: h.Line, Name: h.Applied.String()}
}

// hasRoom reports whether a list can take another HelmRelease. If the list is full, hasRoom records that the HelmRelease is
// not compared.
func (h *Release) hasRoom(among []*Release) bool {
	if len(among) < limits.HelmReleases {
		return true
	}
	if len(among) == limits.HelmReleases {
		bounds.Refuse(bounds.Unit{Kind: "comparison", Name: "HelmReleases"}, fmt.Sprintf("there are more than %d", limits.HelmReleases))
	}
	return false
}

// isFragment reports whether the HelmRelease has no chart: it is a patch of others.
func (h *Release) isFragment() bool {
	return h.Field("spec", "chart") == nil && h.Field("spec", "chartRef") == nil
}

// newHelmRelease returns a HelmRelease with its names.
func newHelmRelease(o *reconcile.Object) *Release {
	h := &Release{Place: located.At(o.File, o.Line), Applied: o}
	typed := helmv2.HelmRelease{}
	typed.Name, typed.Namespace = o.Name, o.Namespace
	typed.Spec.ReleaseName = h.text("spec", "releaseName")
	typed.Spec.TargetNamespace = h.text("spec", "targetNamespace")
	typed.Spec.StorageNamespace = h.text("spec", "storageNamespace")
	h.Name, h.Namespace, h.Storage = charts.ReleaseName(&typed), typed.GetReleaseNamespace(), typed.GetStorageNamespace()
	annotations, _ := h.Field("metadata", "annotations").(map[string]any)
	if value, ok := annotations[finding.Annotation].(string); ok {
		h.Ignores = map[string]string{}
		for _, i := range finding.ParseAnnotation(value) {
			if i.Mistake == "" {
				h.Ignores[i.Rule] = i.Reason
			}
		}
	}
	return h
}

// Field returns the field of the object at a path, nil if there is none.
func (h *Release) Field(names ...string) any { return FieldOf(h.Applied.Value, names...) }

// FieldOf returns the field of an object at a path, nil if it has none.
func FieldOf(of any, names ...string) any {
	for _, name := range names {
		fields, _ := of.(map[string]any)
		of = fields[name]
	}
	return of
}

func (h *Release) text(names ...string) string { return TextOf(h.Applied.Value, names...) }

// TextOf returns the scalar at a path of an object as a string, "" if there is none.
func TextOf(of any, names ...string) string {
	switch v := FieldOf(of, names...).(type) {
	case nil, map[string]any, []any:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// In reports whether the HelmRelease is applied to the cluster with a name.
func (h *Release) In(cluster string) bool {
	k := h.Applied.Kustomization
	if k == nil {
		return repository.ClusterOf(h.File) == cluster
	}
	return k.Cluster.Is(cluster) || slices.Contains(strings.Split(k.Cluster.Root.Path, "/"), cluster)
}

// Document returns the document that the HelmRelease is written in: its own, or the ResourceSet that creates it.
func (h *Release) Document() *repository.Object {
	if h.set != nil {
		return h.set.Source
	}
	return h.Applied.Source
}

// MetadataNamespace returns the HelmRelease's own namespace, "" if it is unknown.
func (h *Release) MetadataNamespace() string {
	return cmp.Or(h.Applied.Namespace, h.text("metadata", "namespace"))
}

func isHelmRelease(o *reconcile.Object) bool {
	return o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease"
}

// helmReleasesOf returns the HelmReleases that the clusters of a fleet apply. If a Kustomization and another one
// that it applies both apply a HelmRelease, as in a folder without a kustomization.yaml, the HelmRelease counts
// for the latter.
func helmReleasesOf(fleet *reconcile.Fleet) []*Release {
	var all []*Release
	for _, c := range fleet.Clusters {
		by := map[*repository.Object][]*reconcile.Kustomization{}
		var objects []*reconcile.Object
		for _, o := range c.Objects() {
			if o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease" && o.HelmRelease == nil && o.ResourceSet() == nil {
				by[o.Source] = append(by[o.Source], o.Kustomization)
				objects = append(objects, o)
			}
		}
		for _, o := range objects {
			again := o.Source != nil && slices.ContainsFunc(by[o.Source], func(k *reconcile.Kustomization) bool {
				return k != o.Kustomization && leadsTo(o.Kustomization, k)
			})
			h := newHelmRelease(o)
			if !again && !h.isFragment() && h.hasRoom(all) {
				all = append(all, h)
			}
		}
	}
	return all
}

// leadsTo reports whether a Kustomization applies another one, directly or through others.
func leadsTo(from, to *reconcile.Kustomization) bool {
	for k := to.Parent; k != nil; k = k.Parent {
		if k == from {
			return true
		}
	}
	return false
}

// ClusterName returns the name of the cluster that the HelmRelease is applied to, for messages.
func (h *Release) ClusterName() string {
	if k := h.Applied.Kustomization; k != nil {
		return k.Cluster.Name
	}
	return "(none in this repository)"
}

// LikelyIn reports whether a HelmRelease without a namespace in the repository probably belongs to
// a namespace: one of its folders has that name, by the convention apps/NAMESPACE/NAME, or its Flux
// Kustomization is in the namespace.
func (h *Release) LikelyIn(namespace string) bool {
	folders := strings.Split(h.File, "/")
	k := h.Applied.Kustomization
	return slices.Contains(folders[:len(folders)-1], namespace) || k != nil && k.Namespace == namespace
}
