package tenant

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
	"github.com/fleetwright/fleetwright/internal/count"
)

// bounds returns the ResourceQuota and the LimitRange of each workload namespace. The LimitRange sets the
// default limits of containers, because the quota requires limits.
func bounds(t *v1alpha1.Tenant) ([]any, error) {
	hard, err := resources("quota", t.Spec.Quota)
	if err != nil {
		return nil, err
	}
	item := corev1.LimitRangeItem{Type: corev1.LimitTypeContainer}
	for _, field := range []struct {
		name   string
		values map[string]string
		list   *corev1.ResourceList
	}{
		{"limits.max", t.Spec.Limits.Max, &item.Max},
		{"limits.default", t.Spec.Limits.Default, &item.Default},
		{"limits.defaultRequest", t.Spec.Limits.DefaultRequest, &item.DefaultRequest},
	} {
		if *field.list, err = resources(field.name, field.values); err != nil {
			return nil, err
		}
	}
	var objects []any
	for _, ns := range t.Spec.Namespaces {
		objects = append(objects,
			&corev1.ResourceQuota{
				TypeMeta:   emit.TypeMeta(corev1.SchemeGroupVersion, "ResourceQuota"),
				ObjectMeta: objectMeta(t, t.Metadata.Name, ns),
				Spec:       corev1.ResourceQuotaSpec{Hard: hard},
			},
			&corev1.LimitRange{
				TypeMeta:   emit.TypeMeta(corev1.SchemeGroupVersion, "LimitRange"),
				ObjectMeta: objectMeta(t, t.Metadata.Name, ns),
				Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}},
			},
		)
	}
	return objects, nil
}

func resources(field string, values map[string]string) (corev1.ResourceList, error) {
	list := corev1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		q, err := count.Quantity(values[name])
		if err != nil {
			return nil, fmt.Errorf("spec.%s.%s: %q: %w", field, name, values[name], err)
		}
		list[corev1.ResourceName(name)] = q
	}
	return list, nil
}
