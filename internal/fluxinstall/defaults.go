package fluxinstall

import (
	"cmp"
	"fmt"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/sorting"
	"slices"
	"strings"
)

// TextOfDefault returns a value in the form of [InstanceDefaults]: the items of a list separated by
// commas.
func TextOfDefault(v *located.Value) string {
	if !v.IsList {
		return fmt.Sprint(v.Scalar)
	}
	texts := make([]string, len(v.Items))
	for i, item := range v.Items {
		texts[i] = fmt.Sprint(item.Scalar)
	}
	return strings.Join(texts, ",")
}

// instanceDefault is the default of a field of a FluxInstance: of one that is an object in Git, and of one that its
// chart creates; "" if the default is not fixed.
type instanceDefault struct {
	Path            []string
	Object, inChart string
}

// InstanceDefaults are the defaults of the fields of a FluxInstance.
// Source: api/v1/fluxinstance_types.go of github.com/controlplaneio-fluxcd/flux-operator
// v0.58, and the values of its chart flux-instance.
var InstanceDefaults = []instanceDefault{
	{[]string{"distribution", "version"}, "", "2.x"},
	{[]string{"distribution", "registry"}, "", "ghcr.io/fluxcd"},
	{[]string{"distribution", "artifact"}, "", ""},
	{[]string{"components"}, "helm-controller,kustomize-controller,notification-controller,source-controller",
		"helm-controller,kustomize-controller,notification-controller,source-controller"},
	{[]string{"cluster", "type"}, "kubernetes", "kubernetes"},
	{[]string{"cluster", "domain"}, "cluster.local", "cluster.local"},
	{[]string{"cluster", "networkPolicy"}, "true", "true"},
	{[]string{"cluster", "multitenant"}, "false", "false"},
	{[]string{"cluster", "multitenantWorkloadIdentity"}, "false", "false"},
	{[]string{"cluster", "tenantDefaultServiceAccount"}, "default", "default"},
	{[]string{"sharding", "key"}, "sharding.fluxcd.io/key", "sharding.fluxcd.io/key"},
	{[]string{"sync", "interval"}, "1m", "1m"},
	{[]string{"sync", "kind"}, "", "GitRepository"},
	{[]string{"sync", "name"}, "flux-system", "flux-system"},
	{[]string{"wait"}, "true", "true"},
	{[]string{"migrateResources"}, "true", "true"},
}

// DefaultInstance returns the default of the field at a path of a FluxInstance, "" if it has none.
func DefaultInstance(d Definition, at ...string) string {
	for _, known := range InstanceDefaults {
		if slices.Equal(known.Path, at) {
			if d.FromChart {
				return known.inChart
			}
			return known.Object
		}
	}
	return ""
}

// normalInstance returns the spec of a FluxInstance without empty fields: the chart omits
// them, and the API server treats them as absent.
func normalInstance(spec *located.Value, fromChart bool) *located.Value {
	if !located.IsMap(spec) {
		return located.EmptyMap(finding.Place{})
	}
	out := located.WithoutEmpty(spec)
	for field, needs := range map[string]string{"sync": "url", "sharding": "shards", "storage": "size"} {
		if fromChart && out.At(field, needs) == nil {
			delete(out.Fields, field)
		}
	}
	if list := out.At("components"); located.IsList(list) {
		sorted := *list
		sorted.Items = slices.Clone(list.Items)
		sorting.StableFunc(sorted.Items, func(a, b *located.Value) int {
			return cmp.Compare(fmt.Sprint(a.Scalar), fmt.Sprint(b.Scalar))
		})
		out.Fields["components"] = &sorted
	}
	return out
}
