// Package apiserver judges objects of Kubernetes' own kinds with the code of the API server: it returns the errors with
// which the API server refuses to create an object, beyond those of the kind's schema. It is the only importer of
// k8s.io/kubernetes.
package apiserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	appsv1 "k8s.io/kubernetes/pkg/apis/apps/v1"
	autoscalingv2 "k8s.io/kubernetes/pkg/apis/autoscaling/v2"
	batchv1 "k8s.io/kubernetes/pkg/apis/batch/v1"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	networkingv1 "k8s.io/kubernetes/pkg/apis/networking/v1"
	policyv1 "k8s.io/kubernetes/pkg/apis/policy/v1"
	rbacv1 "k8s.io/kubernetes/pkg/apis/rbac/v1"
	schedulingv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	storagev1 "k8s.io/kubernetes/pkg/apis/storage/v1"
	"k8s.io/kubernetes/pkg/capabilities"

	"github.com/fleetwright/fleetwright/internal/count"
)

// scheme returns the scheme of the supported kinds, with their defaults, conversions and generated validation.
var scheme = sync.OnceValues(func() (*runtime.Scheme, error) {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true}) // as all installers start the API server
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, autoscalingv2.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme,
		policyv1.AddToScheme, rbacv1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme,
	} {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	return s, nil
})

// Judges reports whether Validate supports a kind.
func Judges(gvk schema.GroupVersionKind) bool { return kinds[gvk].validate != nil }

// Validate returns the errors with which the API server refuses to create an object, sorted by field. The field paths are
// those of the API server's messages. Validate returns nothing for a kind that it does not support, for an object that
// cannot be decoded (the check against its schema reports that), and for an object with a string that may be a quantity of
// more digits than [count.Number] allows, because decoding it would never end. It ignores the status, managed fields
// and a missing namespace, as an apply does.
func Validate(object map[string]any) (refused field.ErrorList) {
	apiVersion, _ := object["apiVersion"].(string)
	name, _ := object["kind"].(string)
	gvk := schema.FromAPIVersionAndKind(apiVersion, name)
	k := kinds[gvk]
	if k.validate == nil {
		return nil
	}
	if unbounded(object) {
		return nil
	}
	s, err := scheme()
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	versioned, err := s.New(gvk)
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(asCreated(object, k.clusterScoped), versioned) != nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil { // as the API server does: it recovers and refuses the object
			refused = field.ErrorList{field.InternalError(nil, fmt.Errorf("the API server's code fails: %v", v))}
		}
	}()
	s.Default(versioned)
	internal := k.internal()
	if err := s.Convert(versioned, internal, nil); err != nil {
		return nil
	}
	refused = k.validate(internal)
	for _, e := range s.Validate(context.Background(), k.options, versioned) {
		if !e.IsAlpha() && !e.IsBeta() && e.Type != field.ErrorTypeInternal {
			refused = append(refused, e)
		}
	}
	return once(refused)
}

// unbounded reports whether a string in a value may be a number that takes too long to compute with.
func unbounded(value any) bool {
	switch v := value.(type) {
	case string:
		return count.Number(v) != nil
	case []any:
		return slices.ContainsFunc(v, unbounded)
	case map[string]any:
		for _, item := range v {
			if unbounded(item) {
				return true
			}
		}
	}
	return false
}

// asCreated returns a copy of an object as the API server creates it: with the fields that a client may omit, and without
// those that the API server drops.
func asCreated(object map[string]any, clusterScoped bool) map[string]any {
	object = maps.Clone(object)
	delete(object, "status")
	meta, isMap := object["metadata"].(map[string]any)
	if !isMap {
		return object
	}
	meta = maps.Clone(meta)
	for _, name := range []string{"managedFields", "creationTimestamp", "deletionTimestamp", "ownerReferences", "selfLink"} {
		delete(meta, name)
	}
	if clusterScoped {
		delete(meta, "namespace")
	} else if namespace, _ := meta["namespace"].(string); namespace == "" {
		meta["namespace"] = metav1.NamespaceDefault
	}
	object["metadata"] = meta
	return object
}

// once removes duplicate errors of a field: the generated validation repeats errors of the handwritten one.
func once(all field.ErrorList) field.ErrorList {
	type key struct {
		field string
		of    field.ErrorType
	}
	seen := map[key]bool{}
	all = slices.DeleteFunc(all, func(e *field.Error) bool {
		k := key{e.Field, e.Type}
		known := seen[k]
		seen[k] = true
		return known
	})
	return all
}
