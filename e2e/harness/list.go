package harness

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// List returns the metadata of the namespace's objects of every kind that the API server has, or
// of the cluster-scoped ones if the namespace is empty, sorted by ID. It omits Events, as
// they outlive the objects that they are about.
func (c Client) List(t testing.TB, namespace string, options metav1.ListOptions) []metav1.PartialObjectMetadata {
	t.Helper()
	lists, err := c.Kinds.ServerPreferredResources()
	must(t, err)
	listable := discovery.ResourcePredicateFunc(func(_ string, r *metav1.APIResource) bool {
		return slices.Contains(r.Verbs, "list") && r.Kind != "Event" && (r.Namespaced || namespace == "")
	})
	var objects []metav1.PartialObjectMetadata
	for _, list := range discovery.FilteredBy(listable, lists) {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		must(t, err)
		for _, r := range list.APIResources {
			found, err := c.Meta.Resource(group.WithResource(r.Name)).Namespace(namespace).List(t.Context(), options)
			must(t, err)
			for _, object := range found.Items {
				object.SetGroupVersionKind(group.WithKind(r.Kind))
				objects = append(objects, object)
			}
		}
	}
	slices.SortFunc(objects, func(a, b metav1.PartialObjectMetadata) int { return cmp.Compare(ID(a), ID(b)) })
	return objects
}

// ID returns KIND NAMESPACE/NAME, or KIND NAME for an object without a namespace.
func ID(object metav1.PartialObjectMetadata) string {
	return object.Kind + " " + strings.TrimPrefix(object.Namespace+"/"+object.Name, "/")
}
