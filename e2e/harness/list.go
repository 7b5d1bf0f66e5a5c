package harness

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// List are the namespace's objects of every kind that the API server has, or the cluster's
// when the namespace is empty, in the order of their IDs. Events are left out: they outlive
// what they speak of.
func (c Client) List(t testing.TB, namespace string, options metav1.ListOptions) []unstructured.Unstructured {
	t.Helper()
	lists, err := c.Kube.Discovery().ServerPreferredResources()
	must(t, err)
	listable := discovery.ResourcePredicateFunc(func(_ string, r *metav1.APIResource) bool {
		return slices.Contains(r.Verbs, "list") && r.Kind != "Event" && (r.Namespaced || namespace == "")
	})
	var objects []unstructured.Unstructured
	for _, list := range discovery.FilteredBy(listable, lists) {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		must(t, err)
		for _, r := range list.APIResources {
			found, err := c.Any.Resource(group.WithResource(r.Name)).Namespace(namespace).List(t.Context(), options)
			must(t, err)
			objects = append(objects, found.Items...)
		}
	}
	slices.SortFunc(objects, func(a, b unstructured.Unstructured) int { return cmp.Compare(ID(&a), ID(&b)) })
	return objects
}

// ID names an object: KIND NAMESPACE/NAME, or KIND NAME for one without a namespace.
func ID(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/")
}
