package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// podinfoChart is the chart of the release in a tenant's starter, if the specification allows it.
const podinfoChart = "oci://ghcr.io/stefanprodan/charts/podinfo"

// A verdict is admission's answer to an object that the cluster's administrator, who passes
// every authorization, creates in a namespace of a tenant.
type verdict struct {
	what      string
	namespace string
	object    string // of apiVersion, kind and spec
	refused   string // part of the message; empty if the object is admitted
}

// Parts of the messages.
const (
	badAccount   = "spec.serviceAccountName must be"
	badCluster   = "spec.kubeConfig is not allowed"
	badNamespace = "a source in another namespace is not allowed"
	badURL       = "the source's URL is not allowed"
	badBranch    = "in the platform repository, only spec.ref.branch"
	badModules   = "spec.recurseSubmodules is not allowed"
	badPod       = "violates PodSecurity"
	overQuota    = "exceeded quota"
	overLimit    = "maximum memory usage per Container"
)

// admission sends each object to the API server as a dry run.
func (s *site) admission(t *testing.T, tenant *tenant, all []*tenant) {
	verdicts := slices.Concat(s.reconcilers(tenant), s.sources(t, tenant, all), s.shares(tenant))
	admitted := 0
	for _, v := range verdicts {
		object := harness.Objects(t, []byte(v.object))[0]
		object.SetName("judged")
		object.SetNamespace(v.namespace)
		resource, err := s.flux.Resource(object.GroupVersionKind(), v.namespace)
		must(t, err)
		_, err = resource.Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		switch {
		case v.refused == "" && err != nil:
			t.Errorf("%s in %s: it should be admitted: %v", v.what, v.namespace, err)
		case v.refused != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), v.refused)):
			t.Errorf("%s in %s: it should be refused since %q: %v", v.what, v.namespace, v.refused, err)
		case v.refused == "":
			admitted++
		}
	}
	s.changes(t, tenant)
	s.limits(t, tenant)
	s.proved(t, "%d objects as the administrator brings them: %d admitted, %d refused by policies, pod security %s, quota and limits",
		len(verdicts), admitted, len(verdicts)-admitted, s.fleet.TenantSpec(tenant.name).PodSecurity)
}

// reconcilers returns Flux objects that would act as the tenant, or as others.
func (s *site) reconcilers(tenant *tenant) []verdict {
	here, helm := tenant.namespaces[0], tenant.name+"-helm"
	kustomization := func(spec string) string {
		return `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, spec: {interval: 1h, prune: true, ` + spec + `}}`
	}
	release := func(spec string) string {
		return `{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, spec: {interval: 1h, ` + spec + `}}`
	}
	source := `sourceRef: {kind: GitRepository, name: web}`
	chart := `chartRef: {kind: OCIRepository, name: web}`
	repository := `chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: web`
	as := func(account string) string { return "serviceAccountName: " + account + ", " }
	elsewhere := strings.NewReplacer("name: web", "name: web, namespace: flux-system").Replace
	return []verdict{
		{"a Kustomization as the tenant's account", here, kustomization(as(helm) + source), ""},
		{"a Kustomization that names its own namespace", here, kustomization(as(helm) + `sourceRef: {kind: GitRepository, name: web, namespace: ` + here + `}`), ""},
		{"a Kustomization without an account", here, kustomization(source), badAccount},
		{"a Kustomization as default", here, kustomization(as("default") + source), badAccount},
		{"a Kustomization as the reconciler of the sync namespace", here, kustomization(as(tenant.name) + source), badAccount},
		{"a Kustomization as the controller", here, kustomization(as("kustomize-controller") + source), badAccount},
		{"a Kustomization for another cluster", here, kustomization(as(helm) + `kubeConfig: {secretRef: {name: web}}, ` + source), badCluster},
		{"a Kustomization of the platform's source", here, kustomization(as(helm) + elsewhere(source)), badNamespace},
		{"a Kustomization as the tenant's account", tenant.sync, kustomization(as(tenant.name) + source), ""},
		{"a Kustomization without an account", tenant.sync, kustomization(source), badAccount},
		{"a Kustomization as helm's account", tenant.sync, kustomization(as(helm) + source), badAccount},
		{"a Kustomization of the platform's source", tenant.sync, kustomization(as(tenant.name) + elsewhere(source)), badNamespace},
		{"a HelmRelease as the tenant's account", here, release(as(helm) + chart), ""},
		{"a HelmRelease of a chart in a repository", here, release(as(helm) + repository + `}}}`), ""},
		{"a HelmRelease without an account", here, release(chart), badAccount},
		{"a HelmRelease as default", here, release(as("default") + chart), badAccount},
		{"a HelmRelease as the controller", here, release(as("helm-controller") + chart), badAccount},
		{"a HelmRelease for another cluster", here, release(as(helm) + `kubeConfig: {secretRef: {name: web}}, ` + chart), badCluster},
		{"a HelmRelease of the platform's chart", here, release(as(helm) + elsewhere(chart)), badNamespace},
		{"a HelmRelease of the platform's repository", here, release(as(helm) + repository + `, namespace: flux-system}}}`), badNamespace},
		{"a HelmRelease as helm's account", tenant.sync, release(as(helm) + chart), badAccount},
	}
}

// sources returns sources that the specification allows, and others that look like them.
func (s *site) sources(t *testing.T, tenant *tenant, all []*tenant) []verdict {
	t.Helper()
	spec, here, platform := s.fleet.TenantSpec(tenant.name), tenant.namespaces[0], s.fleet.PlatformURL()
	sharing := spec.Source.URL == platform // a branch of the platform repository
	starter := badURL
	if slices.ContainsFunc(spec.AllowedSources, func(allowed string) bool { return strings.HasPrefix(podinfoChart, allowed) }) {
		starter = ""
	}
	foreignBranch := badURL
	if sharing {
		foreignBranch = badBranch
	}
	verdicts := []verdict{
		{"its own source", here, source(spec.Source.URL, "ref: "+ref(t, tenant)), ""},
		{"its own source", tenant.sync, source(spec.Source.URL, "ref: "+ref(t, tenant)), ""},
		{"the chart of a starter", here, source(podinfoChart, ""), starter},
		{"anybody's repository", here, source("https://git.example.com/anybody/anything", ""), badURL},
		{"anybody's repository", tenant.sync, source("https://git.example.com/anybody/anything", ""), badURL},
		{"anybody's artifact", here, source("oci://registry.example.com/anybody/anything", ""), badURL},
		{"a repository beside its own", here, source(spec.Source.URL+"-evil", ""), badURL},
		{"anybody's charts", here, charts("https://charts.example.com"), badURL},
		{"anybody's bucket", here, `{apiVersion: source.toolkit.fluxcd.io/v1, kind: Bucket, spec: {interval: 1h, endpoint: s3.example.com, bucketName: any}}`, badURL},
		{"the platform's branch", here, source(platform, "ref: {branch: main}"), foreignBranch},
		{"the platform's default branch", here, source(platform, ""), foreignBranch},
		{"the platform's repository in capitals", here, source(strings.Replace(platform, "platform", "Platform", 1), "ref: {branch: main}"), badURL},
	}
	if tenant.source.GetKind() == "GitRepository" {
		verdicts = append(verdicts, verdict{"its own source with submodules", here,
			source(spec.Source.URL, "recurseSubmodules: true, ref: "+ref(t, tenant)), badModules})
	}
	if sharing {
		branch := tenant.field("ref", "branch")
		for _, other := range []string{"tag: v1", "commit: " + strings.Repeat("a", 40), "name: refs/heads/main", `semver: "*"`} {
			verdicts = append(verdicts, verdict{"its own branch and " + other, here, source(platform, "ref: {branch: "+branch+", "+other+"}"), badBranch})
		}
	}
	for _, allowed := range spec.AllowedSources {
		allowed = strings.TrimRight(allowed, "/")
		verdicts = append(verdicts,
			verdict{"below an allowed source", here, charts(allowed + "/web"), ""},
			verdict{"beside an allowed source", here, charts(allowed + "-evil/web"), badURL},
			verdict{"above an allowed source", here, charts(allowed + "/../web"), badURL},
			verdict{"above an allowed source, in disguise", here, charts(allowed + "/%2e%2e/web"), badURL})
	}
	for _, other := range all {
		if url := s.fleet.TenantSpec(other.name).Source.URL; other != tenant && (url != platform || !sharing) {
			verdicts = append(verdicts, verdict{"the source of tenant " + other.name, here, source(url, "ref: "+ref(t, other)), badURL})
		}
	}
	return verdicts
}

// source returns a GitRepository, or an OCIRepository for an oci:// URL.
func source(url, more string) string {
	kind := "GitRepository"
	if strings.HasPrefix(url, "oci://") {
		kind = "OCIRepository"
	}
	return fmt.Sprintf(`{apiVersion: source.toolkit.fluxcd.io/v1, kind: %s, spec: {interval: 1h, url: %q, %s}}`, kind, url, more)
}

func charts(url string) string {
	return fmt.Sprintf(`{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmRepository, spec: {interval: 1h, url: %q}}`, url)
}

// ref returns spec.ref of the tenant's own source.
func ref(t *testing.T, tenant *tenant) string {
	t.Helper()
	value, _, _ := unstructured.NestedMap(tenant.source.Object, "spec", "ref")
	text, err := json.Marshal(value)
	must(t, err)
	return string(text)
}

// shares returns pods that escape, and objects that exceed the tenant's share.
func (s *site) shares(tenant *tenant) []verdict {
	here := tenant.namespaces[0]
	pod := func(more, container string) string {
		return `{apiVersion: v1, kind: Pod, spec: {` + more + `containers: [{name: web, image: "example.com/web:1.0.0", ` + container + `}]}}`
	}
	careless := "" // the answer to a pod without a security context
	if s.fleet.TenantSpec(tenant.name).PodSecurity == "restricted" {
		careless = badPod
	}
	return []verdict{
		{"a careful pod", here, `{apiVersion: v1, kind: Pod, spec: ` + leastPod + `}`, ""},
		{"a careless pod", here, pod("", ""), careless},
		{"a careless pod", tenant.sync, pod("", ""), badPod},
		{"a privileged pod", here, pod("", `securityContext: {privileged: true}`), badPod},
		{"a pod with a capability", here, pod("", `securityContext: {capabilities: {add: [SYS_ADMIN]}}`), badPod},
		{"a pod in the host's network", here, pod("hostNetwork: true, ", ""), badPod},
		{"a pod among the host's processes", here, pod("hostPID: true, ", ""), badPod},
		{"a pod with a folder of the host", here, pod(`volumes: [{name: host, hostPath: {path: /}}], `, ""), badPod},
		{"a pod with a port of the host", here, pod("", `ports: [{containerPort: 80, hostPort: 80}]`), badPod},
		{"a container beyond the limit", here, strings.Replace(`{apiVersion: v1, kind: Pod, spec: `+leastPod+`}`,
			"securityContext: {allow", "resources: {limits: {memory: 1Ti}}, securityContext: {allow", 1), overLimit},
		{"a load balancer", here, `{apiVersion: v1, kind: Service, spec: {type: LoadBalancer, ports: [{port: 80}]}}`, overQuota},
		{"a port of every node", here, `{apiVersion: v1, kind: Service, spec: {type: NodePort, ports: [{port: 80}]}}`, overQuota},
		{"a volume beyond the quota", here, `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Pi}}}}`, overQuota},
	}
}

// changes tries changes of the tenant's own sync that not even the administrator can make.
func (s *site) changes(t *testing.T, tenant *tenant) {
	t.Helper()
	sources := harness.GitRepositories
	if tenant.source.GetKind() == "OCIRepository" {
		sources = harness.OCIRepositories
	}
	for _, change := range []struct{ patch, refused string }{
		{`{"spec":{"serviceAccountName":null}}`, badAccount},
		{`{"spec":{"serviceAccountName":"kustomize-controller"}}`, badAccount},
		{`{"spec":{"kubeConfig":{"secretRef":{"name":"web"}}}}`, badCluster},
		{`{"spec":{"sourceRef":{"namespace":"flux-system"}}}`, badNamespace},
		{`{"spec":{"url":"` + strings.Replace(tenant.field("url"), "://", "://evil.", 1) + `"}}`, badURL},
	} {
		changed := harness.Kustomizations
		if change.refused == badURL {
			changed = sources
		}
		_, err := s.flux.Any.Resource(changed).Namespace(tenant.sync).Patch(t.Context(), tenant.name, types.MergePatchType,
			[]byte(change.patch), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), change.refused) {
			t.Errorf("%s %s/%s changed by %s: it should be refused since %q: %v", changed.Resource, tenant.sync, tenant.name, change.patch, change.refused, err)
		}
	}
}

// limits compares the resources of a container that sets none with the specification.
func (s *site) limits(t *testing.T, tenant *tenant) {
	t.Helper()
	want := s.fleet.TenantSpec(tenant.name).Limits
	for _, namespace := range tenant.namespaces {
		pod := harness.Objects(t, []byte(`{apiVersion: v1, kind: Pod, metadata: {name: judged}, spec: `+leastPod+`}`))[0]
		resources, err := s.flux.Resource(pod.GroupVersionKind(), namespace)
		must(t, err)
		got, err := resources.Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		must(t, err)
		containers, _, _ := unstructured.NestedSlice(got.Object, "spec", "containers")
		for field, quantities := range map[string]map[string]string{"limits": want.Default, "requests": want.DefaultRequest} {
			for name, quantity := range quantities {
				has, _, _ := unstructured.NestedString(containers[0].(map[string]any), "resources", field, name)
				if q, err := resource.ParseQuantity(has); err != nil || q.Cmp(resource.MustParse(quantity)) != 0 {
					t.Errorf("a container in %s gets %s of %s %q, want %q", namespace, field, name, has, quantity)
				}
			}
		}
	}
}

// outdated shows that objects that are older than the policies of their namespace can be deleted: the
// removal of a finalizer is an update, of an object that the policies refuse.
func (s *site) outdated(t *testing.T, tenant *tenant) {
	const name = "outdated"
	namespaces := s.flux.Kube.CoreV1().Namespaces()
	_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	must(t, err)
	object := harness.Objects(t, []byte(source("https://git.example.com/anybody/anything", "suspend: true")))[0]
	object.SetName(name)
	object.SetNamespace(name)
	object.SetFinalizers([]string{"example.com/hold"})
	must(t, s.flux.Client.Apply(t.Context(), object))
	label := func(value string) {
		_, err := namespaces.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"`+tenantLabel+`":`+value+`}}}`), metav1.PatchOptions{})
		must(t, err)
	}
	label(`"` + tenant.name + `"`)
	sources := s.flux.Any.Resource(harness.GitRepositories).Namespace(name)
	release := func() error {
		_, err := sources.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		return err
	}
	harness.Eventually(t, patience, "the policy judges the namespace", func(context.Context) (bool, string) {
		_, err := sources.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec":{"interval":"2h"}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err), fmt.Sprint(err)
	})
	must(t, sources.Delete(t.Context(), name, metav1.DeleteOptions{}))
	if err := release(); err != nil {
		t.Errorf("the policies don't let go what is older than they are: %v", err)
	}
	label("null")
	must(t, namespaces.Delete(t.Context(), name, metav1.DeleteOptions{}))
	s.proved(t, "a source from before the policies, which they refuse, can be deleted")
}
