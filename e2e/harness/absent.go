package harness

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// limit is how long the tests wait for anything.
const limit = 60 * time.Second

// DeclareAbsent stands for what a test has no network or machine for, until the test
// ends: it declares pods running and those of Jobs done, charts' sources (suspended) and
// HelmReleases ready. Everything else that is ready is so by itself.
func (c *Cluster) DeclareAbsent(n *Internet) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	c.t.Cleanup(func() { cancel(); <-done })
	sources := c.As("flux-system", "source-controller") // nobody else may say what a tenant's source is
	go func() {
		defer close(done)
		for tick := time.NewTicker(200 * time.Millisecond); ; {
			c.declarePods(ctx)
			for _, kind := range []string{"OCIRepository", "HelmRepository"} {
				c.declare(ctx, sources, schema.GroupVersionKind{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: kind}, n)
			}
			c.declare(ctx, c.Client, schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"}, n)
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
}

// declare makes the kind's objects ready, as somebody, that nobody here can make so.
func (c *Cluster) declare(ctx context.Context, as Client, kind schema.GroupVersionKind, n *Internet) {
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	list, err := c.Any.Resource(resource).List(ctx, all)
	if err != nil {
		return // not installed yet
	}
	for _, item := range list.Items {
		address, isSource, _ := unstructured.NestedString(item.Object, "spec", "url")
		if ready, _ := condition(&item, "Ready"); isSource && n.Serves(address) || ready {
			continue
		}
		patches := []map[string]any{{"status": readyStatus(&item)}}
		if suspended, _, _ := unstructured.NestedBool(item.Object, "spec", "suspend"); isSource && !suspended {
			patches = []map[string]any{{"spec": map[string]any{"suspend": true}}}
		}
		for _, patch := range patches {
			as.merge(ctx, resource, &item, patch)
		}
	}
}

// merge patches an object or its status; an object that has gone or changed meanwhile is
// seen again on the next round.
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

func readyStatus(object *unstructured.Unstructured) map[string]any {
	return map[string]any{
		"observedGeneration": object.GetGeneration(),
		"conditions": []any{map[string]any{
			"type": "Ready", "status": "True", "reason": "Declared", "message": "declared by the test",
			"observedGeneration": object.GetGeneration(), "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}},
	}
}

// declarePods stands for the kubelets.
func (c *Cluster) declarePods(ctx context.Context) {
	pods, err := c.Kube.CoreV1().Pods("").List(ctx, all)
	if err != nil {
		return
	}
	for _, pod := range pods.Items {
		phase, ready := corev1.PodRunning, corev1.ConditionTrue
		if owner := metav1.GetControllerOf(&pod); owner != nil && owner.Kind == "Job" {
			phase, ready = corev1.PodSucceeded, corev1.ConditionFalse // its work is done
		}
		if pod.Status.Phase == phase || strings.HasPrefix(pod.Namespace, "kube-") {
			continue
		}
		pod.Status.Phase = phase
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Now(),
		})
		_, _ = c.Kube.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, &pod, metav1.UpdateOptions{})
	}
}

// DefineKinds serves the kinds of add-ons' custom resources among the objects: their
// definitions come with charts, which nobody installs here. Any field is accepted. It
// returns the kinds.
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

// clusterScoped are the examples' kinds of add-ons that have no namespace.
var clusterScoped = map[string]bool{
	"ClusterIssuer": true, "ClusterPolicy": true, "ClusterSecretStore": true, "GatewayClass": true,
	"CiliumLoadBalancerIPPool": true, "CiliumL2AnnouncementPolicy": true,
}

func definition(kind schema.GroupVersionKind, clusterScoped bool) *unstructured.Unstructured {
	plural, singular := meta.UnsafeGuessKindToResource(kind)
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
