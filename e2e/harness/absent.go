package harness

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// limit is how long the tests wait for anything. Waiting takes seconds, but the machine may be busy with other
// work.
const limit = 5 * time.Minute

// DeclareAbsent replaces the parts for which a test has no network or machine, until the test ends: it declares pods running,
// pods of Jobs done, the sources of charts (suspended) and HelmReleases ready, as soon as they appear or change. Everything else
// becomes ready by itself.
func (c *Cluster) DeclareAbsent(n *Internet) {
	// Only these controllers may write the status of a tenant's source or release.
	sources, releases := c.As("flux-system", "source-controller"), c.As("flux-system", "helm-controller")
	ctx, cancel := context.WithCancel(context.Background())
	watched := dynamicinformer.NewDynamicSharedInformerFactory(c.Any, time.Second) // a refused patch is repeated then
	c.t.Cleanup(func() { cancel(); watched.Shutdown() })
	for _, kind := range []struct {
		schema.GroupVersionResource
		as      Client
		missing func(*unstructured.Unstructured) map[string]any // a patch, or nil
	}{
		{pods, c.Client, podStatus},
		{OCIRepositories, sources, func(source *unstructured.Unstructured) map[string]any { return chartSource(source, n) }},
		{HelmRepositories, sources, func(source *unstructured.Unstructured) map[string]any { return chartSource(source, n) }},
		{HelmReleases, releases, readyStatus},
	} {
		declare := func(seen any) {
			object := seen.(*unstructured.Unstructured)
			if patch := kind.missing(object); patch != nil {
				kind.as.merge(ctx, kind.GroupVersionResource, object, patch)
			}
		}
		_, err := watched.ForResource(kind.GroupVersionResource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: declare, UpdateFunc: func(_, now any) { declare(now) },
		})
		must(c.t, err)
	}
	watched.Start(ctx.Done())
}

// merge patches an object or its status. A patch that is refused, since the object was deleted or changed meanwhile, is repeated
// when the object is seen again.
func (c Client) merge(ctx context.Context, resource schema.GroupVersionResource, object *unstructured.Unstructured, patch map[string]any) {
	text, err := json.Marshal(patch)
	if err != nil {
		return
	}
	var subresources []string
	if _, status := patch["status"]; status {
		subresources = []string{"status"}
	}
	_, _ = c.Any.Resource(resource).Namespace(object.GetNamespace()).
		Patch(ctx, object.GetName(), types.MergePatchType, text, metav1.PatchOptions{FieldManager: "absent"}, subresources...)
}

// chartSource returns the patch that suspends a source that the Internet doesn't serve, or that declares it ready once it is
// suspended.
func chartSource(source *unstructured.Unstructured, n *Internet) map[string]any {
	address, _, _ := unstructured.NestedString(source.Object, "spec", "url")
	suspended, _, _ := unstructured.NestedBool(source.Object, "spec", "suspend")
	switch ready := readyStatus(source); {
	case n.Serves(address), ready == nil:
		return nil
	case suspended:
		return ready
	}
	return map[string]any{"spec": map[string]any{"suspend": true}}
}

func readyStatus(object *unstructured.Unstructured) map[string]any {
	if ready, _ := condition(object, "Ready"); ready {
		return nil
	}
	return map[string]any{"status": map[string]any{
		"observedGeneration": object.GetGeneration(),
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Declared", "message": "declared by the test",
			"observedGeneration": object.GetGeneration(), "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}},
	}}
}

// podStatus returns the status that a kubelet would write.
func podStatus(pod *unstructured.Unstructured) map[string]any {
	phase, ready := "Running", "True"
	if owner := metav1.GetControllerOf(pod); owner != nil && owner.Kind == "Job" {
		phase, ready = "Succeeded", "False" // its work is done
	}
	now, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	if now == phase || strings.HasPrefix(pod.GetNamespace(), "kube-") {
		return nil
	}
	return map[string]any{"status": map[string]any{
		"phase": phase,
		"conditions": []any{map[string]any{
			"type": "Ready", "status": ready, "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}},
	}}
}

// DefineKinds defines the kinds of add-ons' custom resources among the objects: their definitions are in charts, which the tests
// do not install. Any field is accepted. It returns the kinds.
func (c *Cluster) DefineKinds(objects []*unstructured.Unstructured) []string {
	c.t.Helper()
	var defined []string
	for _, object := range objects {
		kind := object.GroupVersionKind()
		if _, err := c.Mapper.RESTMapping(kind.GroupKind(), kind.Version); err == nil {
			continue
		}
		c.apply(definition(kind, clusterScoped[kind.Kind]))
		c.established()
		defined = append(defined, kind.GroupKind().String())
	}
	return defined
}

// clusterScoped contains the cluster-scoped kinds of add-ons in the examples.
var clusterScoped = map[string]bool{
	"AWSClusterStaticIdentity": true, "VSphereClusterIdentity": true,
	"ClusterIssuer": true, "ClusterPolicy": true, "ClusterSecretStore": true, "GatewayClass": true,
	"CiliumLoadBalancerIPPool": true, "CiliumL2AnnouncementPolicy": true,
}

func definition(kind schema.GroupVersionKind, clusterScoped bool) *unstructured.Unstructured {
	plural, singular := meta.UnsafeGuessKindToResource(kind)
	if kind.Kind == "Gateway" {
		plural.Resource = "gateways" // and not gatewaies
	}
	scope := "Namespaced"
	if clusterScoped {
		scope = "Cluster"
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural.Resource + "." + kind.Group, "annotations": map[string]any{
			"api-approved.kubernetes.io": "https://example.com/for-tests-only",
		}},
		"spec": map[string]any{
			"group": kind.Group, "scope": scope,
			"names": map[string]any{"kind": kind.Kind, "plural": plural.Resource, "singular": singular.Resource},
			"versions": []any{map[string]any{
				"name": kind.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}}
}
