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
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// Release is a HelmRelease as Flux applies it to a cluster.
type Release struct {
	located.Place
	// Applied is the object; one that no cluster applies is as its file has it, and then
	// belongs to no Kustomization.
	Applied *reconcile.Object
	// The names that Helm uses, as helm-controller makes them.
	Name, Namespace, Storage string
	Ignores                  map[string]string // reasons by rule
	Orphan                   bool
	// set is the ResourceSet that makes it, nil where none does.
	set *reconcile.Object

	whole *located.Value // the object with its places, once it is asked for
}

const maxHelmReleases = 20_000

// unit is the HelmRelease as what is compared.
func (h *Release) unit() bounds.Unit {
	return bounds.Unit{Kind: "comparison", File: h.File, Line: h.Line, Name: h.Applied.String()}
}

// room says whether there are fewer HelmReleases than are compared, and notes that one is not.
func (h *Release) room(among []*Release) bool {
	if len(among) < maxHelmReleases {
		return true
	}
	if len(among) == maxHelmReleases {
		bounds.Refuse(bounds.Unit{Kind: "comparison", Name: "HelmReleases"}, fmt.Sprintf("there are more than %d", maxHelmReleases))
	}
	return false
}

// isFragment says whether the HelmRelease has no chart: it is a part that others are patched
// with.
func (h *Release) isFragment() bool {
	return h.Field("spec", "chart") == nil && h.Field("spec", "chartRef") == nil
}

// newHelmRelease reads the names of a HelmRelease.
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

// Field is a field of the object, nil where it has none.
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

// TextOf is a scalar as text.
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

// In says whether the HelmRelease is applied to a cluster of this name.
func (h *Release) In(cluster string) bool {
	k := h.Applied.Kustomization
	if k == nil {
		return repository.ClusterOf(h.File) == cluster
	}
	return k.Cluster.Is(cluster) || slices.Contains(strings.Split(k.Cluster.Root.Path, "/"), cluster)
}

// Document is what the HelmRelease is written in: its own, or the ResourceSet that makes it.
func (h *Release) Document() *repository.Object {
	if h.set != nil {
		return h.set.Source
	}
	return h.Applied.Source
}

// MetadataNamespace is the HelmRelease's own, "" where it is not known.
func (h *Release) MetadataNamespace() string {
	return cmp.Or(h.Applied.Namespace, h.text("metadata", "namespace"))
}

func isHelmRelease(o *reconcile.Object) bool {
	return o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease"
}

// helmReleasesOf are those that the clusters of a fleet apply. One that a Kustomization applies
// beside another that it brings itself, as a folder without a kustomization.yaml does, counts
// as the latter's.
func helmReleasesOf(fleet *reconcile.Fleet) []*Release {
	var all []*Release
	for _, c := range fleet.Clusters {
		by := map[*repository.Object][]*reconcile.Kustomization{}
		var objects []*reconcile.Object
		for _, o := range c.Objects() {
			if o.Group == fluxapi.HelmGroup && o.Kind == "HelmRelease" && o.HelmRelease == nil {
				by[o.Source] = append(by[o.Source], o.Kustomization)
				objects = append(objects, o)
			}
		}
		for _, o := range objects {
			again := o.Source != nil && slices.ContainsFunc(by[o.Source], func(k *reconcile.Kustomization) bool {
				return k != o.Kustomization && leadsTo(o.Kustomization, k)
			})
			h := newHelmRelease(o)
			if !again && !h.isFragment() && h.room(all) {
				all = append(all, h)
			}
		}
	}
	return all
}

// leadsTo says whether one Kustomization brings another.
func leadsTo(from, to *reconcile.Kustomization) bool {
	for k := to.Parent; k != nil; k = k.Parent {
		if k == from {
			return true
		}
	}
	return false
}

// ClusterName is the cluster that the HelmRelease is applied to, as messages name it.
func (h *Release) ClusterName() string {
	if k := h.Applied.Kustomization; k != nil {
		return k.Cluster.Name
	}
	return "that none of the repository's is"
}

// LikelyIn says whether a HelmRelease whose namespace is set nowhere in the
// repository belongs to a namespace: its folders are named so, by convention
// apps/NAMESPACE/NAME, or its Flux Kustomization stands there.
func (h *Release) LikelyIn(namespace string) bool {
	folders := strings.Split(h.File, "/")
	k := h.Applied.Kustomization
	return slices.Contains(folders[:len(folders)-1], namespace) || k != nil && k.Namespace == namespace
}
