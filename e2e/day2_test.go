package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// dayTwo contains an edit of a value and the removal of an add-on, for each example, with all objects
// that may change on the cluster that the test observes.
var dayTwo = map[string]struct {
	old, new string
	changed  []string
	addon    string
	flags    []string // that allow the removal of the add-on, which may keep data
	removed  []string
}{
	"acme": {
		old: `INGRESS_REPLICAS: "3"`, new: `INGRESS_REPLICAS: "4"`,
		changed: []string{"ConfigMap flux-system/cluster-vars", "HelmRelease flux-system/ingress-nginx"},
		addon:   "velero",
		flags:   []string{"--allow-removal", "addon/velero"},
		removed: []string{"HelmRelease flux-system/velero", "HelmRepository flux-system/velero"},
	},
	"homelab": {
		old: "txtPrefix: k8s.", new: "txtPrefix: ${CLUSTER_NAME}.",
		changed: []string{"HelmRelease network/external-dns"},
		addon:   "jellyfin",
		flags:   []string{"--allow-removal", "addon/jellyfin"},
		removed: []string{
			"ClusterRoleBinding helm-installer-media", "HelmRelease media/jellyfin", "Kustomization flux-system/jellyfin",
			"OCIRepository media/jellyfin", "ServiceAccount media/helm-installer",
		},
	},
	"classic": {
		old: "CLUSTER_DOMAIN: classic.example", new: "CLUSTER_DOMAIN: shop.example",
		changed: []string{"ConfigMap flux-system/cluster-vars", "HelmRelease flux-system/ingress-nginx"},
		addon:   "metrics-server",
		flags:   []string{"--allow-removal", "addon/metrics-server"},
		removed: []string{"HelmRelease flux-system/metrics-server", "HelmRepository flux-system/metrics-server"},
	},
}

// day2 renders again: an untouched specification changes no object, an edited one changes
// only the edited object, and an add-on that is removed is pruned.
func (s *site) day2(t *testing.T) {
	edit := dayTwo[s.fleet.Name]
	before := s.settled(t)

	head := s.fleet.Head(s.fleet.PlatformURL(), "main")
	s.fleet.Render()
	if now := s.fleet.Head(s.fleet.PlatformURL(), "main"); now != head {
		t.Errorf("rendering again made commit %s", now)
	}
	s.sync(t)
	s.again(t)
	s.wantChanges(t, "nothing", before, nil, nil)

	s.fleet.Edit(edit.old, edit.new)
	s.fleet.Commit("Change a value")
	s.sync(t)
	before = s.wantChanges(t, "a changed value", before, edit.changed, nil)

	s.fleet.Remove("Addon", edit.addon)
	s.fleet.Commit("Take an add-on out", edit.flags...)
	s.sync(t)
	s.wantChanges(t, "a removed add-on", before, nil, edit.removed)
}

// sync lets Flux fetch the platform repository, and waits until all of it is applied.
func (s *site) sync(t *testing.T) {
	t.Helper()
	s.flux.Reconcile(harness.GitRepositories, "flux-system", "flux-system")
	s.flux.Ready(patience)
}

// again makes Flux apply again all that it has applied already.
func (s *site) again(t *testing.T) {
	t.Helper()
	list, err := s.flux.Any.Resource(harness.Kustomizations).Namespace("flux-system").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	asked := map[string]string{}
	for _, item := range list.Items {
		asked[item.GetName()] = s.flux.Nudge(harness.Kustomizations, "flux-system", item.GetName())
	}
	for name, request := range asked {
		s.flux.Handled(harness.Kustomizations, "flux-system", name, request)
	}
	s.flux.Ready(patience)
}

// wantChanges compares the cluster with an earlier snapshot, and returns the current one.
func (s *site) wantChanges(t *testing.T, what string, before map[string]string, changed, removed []string) map[string]string {
	t.Helper()
	after := s.snapshot(t)
	var gotChanged, gotRemoved []string
	for name, print := range before {
		switch now, still := after[name]; {
		case !still:
			gotRemoved = append(gotRemoved, name)
		case now != print:
			gotChanged = append(gotChanged, name)
		}
	}
	for name := range after {
		if _, known := before[name]; !known {
			gotChanged = append(gotChanged, "new "+name)
		}
	}
	slices.Sort(gotChanged)
	slices.Sort(gotRemoved)
	if !slices.Equal(gotChanged, changed) || !slices.Equal(gotRemoved, removed) {
		t.Errorf("%s: changed %q and removed %q, want %q and %q", what, gotChanged, gotRemoved, changed, removed)
	}
	s.proved(t, "%s: %d of %d objects changed, %d pruned", what, len(gotChanged), len(before), len(gotRemoved))
	return after
}

// comesAndGoes are the kinds that no Git repository contains.
var comesAndGoes = []string{
	"Event", "Lease", "Endpoints", "EndpointSlice", "Pod", "ReplicaSet", "ControllerRevision", "ComponentStatus", "APIService",
	"IPAddress", "FlowSchema", "PriorityLevelConfiguration", "ServiceCIDR",
}

// snapshot returns a fingerprint for each object of the cluster: of its generation and all its content
// except status and bookkeeping.
func (s *site) snapshot(t *testing.T) map[string]string {
	t.Helper()
	prints := map[string]string{}
	for _, resource := range s.resources(t) {
		list, err := s.flux.Any.Resource(resource).List(t.Context(), metav1.ListOptions{})
		must(t, err)
		for _, item := range list.Items {
			name := strings.TrimPrefix(item.GetNamespace()+"/"+item.GetName(), "/")
			prints[item.GetKind()+" "+name] = fingerprint(t, &item)
		}
	}
	return prints
}

// settled returns the first snapshot that equals another one, taken a while later: the controllers of
// Kubernetes have finished adding to objects then.
func (s *site) settled(t *testing.T) map[string]string {
	t.Helper()
	last := s.snapshot(t)
	harness.Eventually(t, patience, "nothing changes any more", func(ctx context.Context) (bool, string) {
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
		now := s.snapshot(t)
		still := maps.Equal(now, last)
		last = now
		return still, "something does"
	})
	return last
}

// resources returns the resources that can be listed, of each kind the preferred version.
func (s *site) resources(t *testing.T) []schema.GroupVersionResource {
	t.Helper()
	lists, err := s.flux.Kube.Discovery().ServerPreferredResources()
	must(t, err)
	lists = discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "get"}}, lists)
	resources, err := discovery.GroupVersionResources(lists)
	must(t, err)
	for _, list := range lists {
		for _, r := range list.APIResources {
			if slices.Contains(comesAndGoes, r.Kind) {
				group, err := schema.ParseGroupVersion(list.GroupVersion)
				must(t, err)
				delete(resources, group.WithResource(r.Name))
			}
		}
	}
	return slices.SortedFunc(maps.Keys(resources), func(a, b schema.GroupVersionResource) int {
		return strings.Compare(a.String(), b.String())
	})
}

func fingerprint(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	object = object.DeepCopy()
	delete(object.Object, "status")
	object.SetManagedFields(nil)
	object.SetResourceVersion("")
	annotations := object.GetAnnotations()
	delete(annotations, harness.RequestedAt)
	if len(annotations) == 0 {
		annotations = nil // as before the first request
	}
	object.SetAnnotations(annotations)
	text, err := json.Marshal(object.Object)
	must(t, err)
	return fmt.Sprintf("%d %x", object.GetGeneration(), sha256.Sum256(text))
}

func unstructuredKind(group, version, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
}
