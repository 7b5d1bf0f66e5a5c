package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// offboarding removes a tenant: Active, Draining, Removed, and then the removal from the specification.
// Before, it shows what happens if a tenant is removed in other ways; all of that is undone.
func (s *site) offboarding(t *testing.T) {
	tenants := s.tenants(t)
	leaving, other := tenants[0], tenants[len(tenants)-1]
	s.deploy(t, leaving)
	if other != leaving {
		s.deploy(t, other)
	}
	s.shortcuts(t, leaving)
	s.withoutAccount(t, other)
	s.withoutRoles(t, other)
	s.draining(t, leaving)
	s.removed(t, leaving)
	s.gone(t, leaving)
}

// deploy creates workloads of the tenant in each of its namespaces, from its own source.
func (s *site) deploy(t *testing.T, tenant *tenant) {
	t.Helper()
	var files []string
	for _, namespace := range tenant.namespaces {
		files = append(files, fmt.Sprintf(workload, namespace))
	}
	s.publish(t, tenant, map[string]string{"workload.yaml": strings.Join(files, "---\n")}, nil)
	s.fetch(tenant)
	s.flux.Ready(patience)
	if applied := s.applied(t, tenant); len(applied) < 3*len(tenant.namespaces) {
		t.Fatalf("tenant %s deployed only %v", tenant.name, slices.Sorted(maps.Keys(applied)))
	}
}

// workload is what the tenant deploys in a namespace, besides its Helm release. It is ready
// once it exists, since kustomize-controller only checks every five seconds.
const workload = `apiVersion: batch/v1
kind: CronJob
metadata: {name: web, namespace: %[1]s}
spec:
  schedule: "0 3 1 1 *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          securityContext: {runAsNonRoot: true, runAsUser: 10001, seccompProfile: {type: RuntimeDefault}}
          containers:
          - name: web
            image: example.com/web:1.0.0
            securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: %[1]s}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: %[1]s}
`

// shortcuts shows that Fleetwright refuses removals that would leave objects behind.
func (s *site) shortcuts(t *testing.T, leaving *tenant) {
	t.Helper()
	head := s.fleet.Head(s.fleet.PlatformURL(), "main")
	for _, shortcut := range []struct {
		take    func()
		message string
	}{
		{func() { s.fleet.RemoveTenant(leaving.name) }, fmt.Sprintf("tenant %q is Active and was removed from the specification", leaving.name)},
		{func() { s.fleet.SetState(leaving.name, "Removed") }, fmt.Sprintf("tenant %q was Active and cannot become Removed in one step", leaving.name)},
	} {
		shortcut.take()
		code, out := s.fleet.Refused()
		if code != 2 || !strings.Contains(out, shortcut.message) || !strings.Contains(out, "Active → Draining → Removed") {
			t.Errorf("fleetwright commit exits with %d, want 2 and %q and the way out:\n%s", code, shortcut.message, out)
		}
	}
	if now := s.fleet.Head(s.fleet.PlatformURL(), "main"); now != head {
		t.Errorf("what was refused made commit %s", now)
	}
	s.proved(t, "Fleetwright refuses to take %s out of the specification, or to remove it at once, while it is Active", leaving.name)
}

// withoutAccount deletes the tenant's Kustomization after the account with which it prunes:
// the Kustomization is deleted, and all objects that it applied are orphaned.
func (s *site) withoutAccount(t *testing.T, tenant *tenant) {
	t.Helper()
	before := s.applied(t, tenant)
	must(t, s.flux.Kube.CoreV1().ServiceAccounts(tenant.sync).Delete(t.Context(), tenant.name, metav1.DeleteOptions{}))
	s.flux.Reconcile(harness.Kustomizations, tenant.sync, tenant.name) // Flux has then seen the deletion
	s.deleteSync(t, tenant)
	s.wantSyncGone(t, tenant, "")
	if after := s.applied(t, tenant); !maps.Equal(after, before) {
		t.Errorf("Flux prunes without the account of %s: it had %v and has %v; least privilege needs no order then", tenant.name, before, after)
	}
	s.resync(t)
	if after := s.applied(t, tenant); !maps.Equal(after, before) {
		t.Errorf("once the account of %s is back it has %v, want the very objects %v", tenant.name, after, before)
	}
	s.proved(t, "wrong order: without the account of %s its Kustomization ends and %d objects are orphaned", tenant.name, len(before))
}

// withoutRoles deletes the tenant's Kustomization after the roles that allow its account to prune: the
// deletion hangs until they are restored.
func (s *site) withoutRoles(t *testing.T, tenant *tenant) {
	t.Helper()
	before := s.applied(t, tenant)
	for _, namespace := range tenant.namespaces {
		must(t, s.flux.Kube.RbacV1().RoleBindings(namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, ofTenant(tenant)))
		s.wantPowerless(t, tenant, namespace)
	}
	hanging := s.deleteSync(t, tenant)
	harness.Eventually(t, patience, "pruning fails again and again", func(ctx context.Context) (bool, string) {
		times := s.pruningFailed(ctx, hanging)
		return times > 1, fmt.Sprintf("it failed %d times", times)
	})
	if after := s.applied(t, tenant); !maps.Equal(after, before) {
		t.Errorf("Flux prunes without the roles of %s: it had %v and has %v", tenant.name, before, after)
	}
	if now := s.tenantSync(t.Context(), tenant); now == nil || now.GetUID() != hanging || now.GetDeletionTimestamp() == nil {
		t.Errorf("without the roles of %s the deletion of its Kustomization doesn't hang: %v", tenant.name, now)
	}
	s.flux.Reconcile(harness.Kustomizations, "flux-system", "tenants")
	s.wantSyncGone(t, tenant, hanging)
	s.resync(t)
	s.proved(t, "wrong order: without the roles of %s the deletion of its Kustomization hangs, until they are back", tenant.name)
}

// wantPowerless waits until the authorizer has seen that the tenant's account may no longer
// prune in the namespace.
func (s *site) wantPowerless(t *testing.T, tenant *tenant, namespace string) {
	t.Helper()
	account := harness.Account{Namespace: tenant.sync, Name: tenant.name}
	prune := harness.Action{Verb: "delete", Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Namespace: namespace}
	harness.Eventually(t, patience, account.User()+" may not "+prune.String(), func(context.Context) (bool, string) {
		allowed, why := s.flux.Authorized(t, account, prune)
		return !allowed, why
	})
}

// draining shows that a draining tenant's objects are deleted while its accounts and roles remain.
// Its Helm release is uninstalled as its account, and its Kustomization waits for that.
func (s *site) draining(t *testing.T, tenant *tenant) {
	t.Helper()
	want := slices.DeleteFunc(s.labelled(t, tenant), func(id string) bool {
		return strings.HasSuffix(id, "Repository "+tenant.sync+"/"+tenant.name) || id == "Kustomization "+tenant.sync+"/"+tenant.name
	})
	finish := s.release(t, tenant)
	s.fleet.SetState(tenant.name, "Draining")
	s.fleet.Commit("Drain " + tenant.name)
	s.flux.Reconcile(harness.GitRepositories, "flux-system", "flux-system")
	finish()
	s.sync(t)
	s.wantSyncGone(t, tenant, "")
	if left := s.applied(t, tenant); len(left) > 0 {
		t.Errorf("tenant %s is drained and still has %v", tenant.name, left)
	}
	s.wantNoOrphans(t, tenant)
	if got := s.labelled(t, tenant); !slices.Equal(got, want) {
		t.Errorf("of tenant %s the platform has\n%s\nwant accounts, roles and limits as they were:\n%s", tenant.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s.proved(t, "%s is Draining: its workloads are pruned, its release is uninstalled, its accounts and roles stay", tenant.name)
}

// release installs the chart of the tenant's HelmRelease as helm-controller does, which
// keeps the HelmRelease until it is uninstalled. The returned function does
// helm-controller's part once the HelmRelease is deleted. A tenant that started without a release has none.
func (s *site) release(t *testing.T, tenant *tenant) (finish func()) {
	t.Helper()
	if s.fleet.TenantSpec(tenant.name).Starter != "podinfo" {
		return func() {}
	}
	controller := s.flux.As("flux-system", "helm-controller")
	namespace := s.fleet.TenantSpec(tenant.name).Namespaces[0] // the namespace in the starter
	helm := controller.Helm(t, namespace, tenant.name+"-helm")
	must(t, helm.Install("podinfo", newChart(), map[string]any{"message": "", "extra": false, "identities": false}))
	object := controller.Any.Resource(harness.HelmReleases).Namespace(namespace)
	hold := func(finalizers string) {
		patch := []byte(`{"metadata":{"finalizers":` + finalizers + `}}`)
		_, err := object.Patch(t.Context(), "podinfo", types.MergePatchType, patch, metav1.PatchOptions{})
		must(t, err)
	}
	hold(`["finalizers.fluxcd.io"]`)
	return func() {
		harness.Eventually(t, patience, "the HelmRelease is deleted", func(ctx context.Context) (bool, string) {
			got, err := object.Get(ctx, "podinfo", metav1.GetOptions{})
			must(t, err)
			return got.GetDeletionTimestamp() != nil, "it is not"
		})
		if s.tenantSync(t.Context(), tenant) == nil {
			t.Errorf("the Kustomization of %s is gone before its HelmRelease", tenant.name)
		}
		must(t, helm.Uninstall("podinfo"))
		hold(`null`)
	}
}

// removed shows that of a removed tenant only the namespaces are left, and nothing hangs.
func (s *site) removed(t *testing.T, tenant *tenant) {
	t.Helper()
	s.fleet.SetState(tenant.name, "Removed")
	s.fleet.Commit("Remove " + tenant.name)
	s.sync(t)
	var want []string
	for _, namespace := range slices.Sorted(slices.Values(append([]string{tenant.sync}, tenant.namespaces...))) {
		want = append(want, "Namespace "+namespace)
		got, err := s.flux.Kube.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		must(t, err)
		if _, kept := got.Annotations["kustomize.toolkit.fluxcd.io/prune"]; kept {
			t.Errorf("Flux would never delete namespace %s of removed tenant %s", namespace, tenant.name)
		}
	}
	if got := s.labelled(t, tenant); !slices.Equal(got, want) {
		t.Errorf("of tenant %s the platform has\n%s\nwant\n%s", tenant.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	s.wantNoneHanging(t)
	s.proved(t, "%s is Removed: accounts, roles, limits and policies are gone", tenant.name)
}

// gone shows that a tenant that was removed from the specification has left no trace.
func (s *site) gone(t *testing.T, tenant *tenant) {
	t.Helper()
	s.fleet.RemoveTenant(tenant.name)
	s.fleet.Commit("Take " + tenant.name + " out")
	s.sync(t)
	namespaces := append([]string{tenant.sync}, tenant.namespaces...)
	s.flux.Kinds.Invalidate() // list all current kinds
	harness.Eventually(t, patience, "no trace is left of tenant "+tenant.name, func(context.Context) (bool, string) {
		var left []string
		for _, object := range s.flux.List(t, "", metav1.ListOptions{}) {
			if object.GetLabels()[tenantLabel] == tenant.name || slices.Contains(namespaces, object.GetNamespace()) ||
				object.Kind == "Namespace" && slices.Contains(namespaces, object.GetName()) ||
				strings.HasPrefix(object.GetName(), "tenant-"+tenant.name+"-") {
				left = append(left, harness.ID(object))
			}
		}
		return len(left) == 0, strings.Join(left, "\n")
	})
	s.wantNoneHanging(t)
	s.proved(t, "%s is out of the specification: of all kinds of the API server no object is left", tenant.name)
}

// tenantLabel is a label of everything that the platform creates for a tenant.
const tenantLabel = "toolkit.fluxcd.io/tenant"

func ofTenant(tenant *tenant) metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: tenantLabel + "=" + tenant.name}
}

// labelled returns the IDs of the platform's objects for the tenant.
func (s *site) labelled(t *testing.T, tenant *tenant) []string {
	t.Helper()
	var ids []string
	for _, object := range s.flux.List(t, "", ofTenant(tenant)) {
		ids = append(ids, harness.ID(object))
	}
	return ids
}

// applied returns the objects that the tenant's Kustomization has applied and that are not
// being deleted, by ID. It omits a Service's endpoints, which have its labels.
func (s *site) applied(t *testing.T, tenant *tenant) map[string]types.UID {
	t.Helper()
	objects := map[string]types.UID{}
	for _, object := range s.flux.List(t, "", metav1.ListOptions{LabelSelector: "kustomize.toolkit.fluxcd.io/namespace=" + tenant.sync}) {
		if object.GetDeletionTimestamp() == nil && !slices.Contains(comesAndGoes, object.Kind) {
			objects[harness.ID(object)] = object.GetUID()
		}
	}
	return objects
}

// tenantSync returns the tenant's Kustomization, or nil.
func (s *site) tenantSync(ctx context.Context, tenant *tenant) *unstructured.Unstructured {
	k, err := s.flux.Any.Resource(harness.Kustomizations).Namespace(tenant.sync).Get(ctx, tenant.name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return k
}

// deleteSync deletes the tenant's Kustomization, and returns its UID.
func (s *site) deleteSync(t *testing.T, tenant *tenant) types.UID {
	t.Helper()
	k := s.tenantSync(t.Context(), tenant)
	must(t, s.flux.Any.Resource(harness.Kustomizations).Namespace(tenant.sync).Delete(t.Context(), tenant.name, metav1.DeleteOptions{}))
	return k.GetUID()
}

// wantSyncGone waits until the tenant has no Kustomization, or another one than that with the UID.
func (s *site) wantSyncGone(t *testing.T, tenant *tenant, uid types.UID) {
	t.Helper()
	harness.Eventually(t, patience, "the Kustomization of "+tenant.name+" is gone", func(ctx context.Context) (bool, string) {
		k, err := s.flux.Any.Resource(harness.Kustomizations).Namespace(tenant.sync).Get(ctx, tenant.name, metav1.GetOptions{})
		if err == nil && (uid == "" || k.GetUID() == uid) {
			return false, fmt.Sprint(k.Object["status"])
		}
		return err == nil || apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}

// resync makes the platform's Kustomization of tenants restore objects that were deleted by hand.
func (s *site) resync(t *testing.T) {
	t.Helper()
	s.flux.Reconcile(harness.Kustomizations, "flux-system", "tenants")
	s.flux.Ready(patience)
}

// pruningFailed returns how often kustomize-controller reported a failed pruning of the Kustomization.
func (s *site) pruningFailed(ctx context.Context, uid types.UID) int {
	events, err := s.flux.Kube.CoreV1().Events("").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(uid)})
	if err != nil {
		return 0
	}
	times := 0
	for _, event := range events.Items {
		if event.Type == corev1.EventTypeWarning && event.Message == "pruning for deleted resource failed" {
			times += int(event.Count)
		}
	}
	return times
}

// wantNoOrphans waits until the tenant's workload namespaces contain only the platform's
// objects and those that every namespace has.
func (s *site) wantNoOrphans(t *testing.T, tenant *tenant) {
	t.Helper()
	harness.Eventually(t, patience, "tenant "+tenant.name+" leaves no orphans", func(context.Context) (bool, string) {
		var orphans []string
		for _, namespace := range tenant.namespaces {
			for _, object := range s.flux.List(t, namespace, metav1.ListOptions{}) {
				if object.GetLabels()[tenantLabel] != tenant.name && object.GetName() != "kube-root-ca.crt" {
					orphans = append(orphans, harness.ID(object))
				}
			}
		}
		return len(orphans) == 0, strings.Join(orphans, "\n")
	})
}

// wantNoneHanging waits until no object of the cluster is being deleted.
func (s *site) wantNoneHanging(t *testing.T) {
	t.Helper()
	harness.Eventually(t, patience, "nothing hangs", func(context.Context) (bool, string) {
		var hanging []string
		for _, object := range s.flux.List(t, "", metav1.ListOptions{}) {
			if object.GetDeletionTimestamp() != nil {
				hanging = append(hanging, harness.ID(object))
			}
		}
		return len(hanging) == 0, strings.Join(hanging, "\n")
	})
}
