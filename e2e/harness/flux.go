package harness

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// The kinds that the tests read.
var (
	Kustomizations   = schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}
	GitRepositories  = schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"}
	OCIRepositories  = schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "ocirepositories"}
	HelmRepositories = schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "helmrepositories"}
	HelmReleases     = schema.GroupVersionResource{Group: "helm.toolkit.fluxcd.io", Version: "v2", Resource: "helmreleases"}
)

// lockdown are the flags of Flux's multi-tenancy lockdown, as the Flux Operator sets them
// for cluster.multitenant: https://fluxoperator.dev/docs/crd/fluxinstance/#cluster-configuration.
var lockdown = []string{"--no-cross-namespace-refs=true", "--no-remote-bases=true", "--default-service-account=default"}

// Flux consists of source-controller and kustomize-controller, as processes that act as their own accounts.
type Flux struct {
	*Cluster
	Storage string // where source-controller serves artifacts

	logs map[string]*logBuffer
}

// Build returns the objects that `kustomize build` prints.
func Build(t testing.TB, dir string) []*unstructured.Unstructured {
	t.Helper()
	return build(t, filesys.MakeFsOnDisk(), dir)
}

func build(t testing.TB, fs filesys.FileSystem, dir string) []*unstructured.Unstructured {
	t.Helper()
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = kustypes.LoadRestrictionsNone
	result, err := krusty.MakeKustomizer(options).Run(fs, dir)
	must(t, err)
	text, err := result.AsYaml()
	must(t, err)
	return Objects(t, text)
}

// Objects decodes a stream of YAML documents.
func Objects(t testing.TB, text []byte) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); err != nil {
			return objects
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// StartFlux starts the two controllers of the components, whose objects the cluster already has, with the flags of the lockdown:
// those in Git's patch of the Deployments, or else those of the Flux Operator.
func StartFlux(t testing.TB, c *Cluster, components []*unstructured.Unstructured, n *Internet) *Flux {
	t.Helper()
	return startFlux(t, c, lockdownOf(components), n)
}

// StartFluxUnlocked starts the two controllers without the lockdown, as on a platform without tenants: kustomize-controller
// applies Kustomizations without an account as itself.
func StartFluxUnlocked(t testing.TB, c *Cluster, n *Internet) *Flux {
	t.Helper()
	return startFlux(t, c, nil, n)
}

func startFlux(t testing.TB, c *Cluster, flags []string, n *Internet) *Flux {
	t.Helper()
	storage := freePort(t)
	f := &Flux{Cluster: c, Storage: storage, logs: map[string]*logBuffer{}}
	f.start(t, "source-controller", append(n.Env(), "TUF_ROOT="+t.TempDir()), nil,
		"--storage-addr="+storage, "--storage-adv-addr="+storage, "--storage-path="+t.TempDir())
	f.start(t, "kustomize-controller", append(os.Environ(), "TMPDIR="+t.TempDir()), flags,
		"--requeue-dependency=500ms", "--concurrent=8")
	return f
}

// lockdownOf returns the flags that a patch in Git adds to the components' kustomize-controller, or the Flux Operator's if no
// patch of that Deployment exists.
func lockdownOf(components []*unstructured.Unstructured) []string {
	for _, object := range components {
		if object.GetKind() != "Deployment" || object.GetName() != "kustomize-controller" {
			continue
		}
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		args, _, _ := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		var flags []string
		for _, arg := range args {
			if strings.HasPrefix(arg, "--no-") || strings.HasPrefix(arg, "--default-service-account") {
				flags = append(flags, arg)
			}
		}
		if len(flags) > 0 {
			return flags
		}
	}
	return slices.Clone(lockdown)
}

// start runs a controller as its account until the test ends.
func (f *Flux) start(t testing.TB, name string, env, flags []string, extra ...string) {
	t.Helper()
	args := append([]string{
		"--kube-api-qps=500", "--kube-api-burst=1000",
		"--watch-all-namespaces=true", "--log-level=info", "--enable-leader-election=false",
		"--metrics-addr=127.0.0.1:0", "--health-addr=127.0.0.1:0",
		"--min-retry-delay=200ms", "--max-retry-delay=2s", "--interval-jitter-percentage=0",
	}, append(flags, extra...)...)
	cmd := exec.Command(name, args...)
	cmd.Env = slices.Concat(env, []string{"RUNTIME_NAMESPACE=flux-system", "KUBECONFIG=" + writeKubeconfig(t, f.As("flux-system", name).Config)})
	log := &logBuffer{}
	cmd.Stdout, cmd.Stderr = log, log
	endsWithParent(cmd)
	must(t, cmd.Start())
	f.logs[name] = log
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("what %s complained of last:\n%s", name, log.errors(10))
		}
	})
}

// Sync does the part of the Flux Operator: it returns the root GitRepository and Kustomization of a FluxInstance's sync, with
// its patches and, since it is multitenant, kustomize-controller's account.
func Sync(t testing.TB, instance map[string]any) []*unstructured.Unstructured {
	t.Helper()
	sync, _, _ := unstructured.NestedMap(instance, "sync")
	ref := map[string]any{"name": sync["ref"]}
	source := object("source.toolkit.fluxcd.io/v1", "GitRepository", map[string]any{"interval": sync["interval"], "url": sync["url"], "ref": ref})
	if secret, ok := sync["pullSecret"]; ok {
		_ = unstructured.SetNestedField(source.Object, secret, "spec", "secretRef", "name")
	}
	root := object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", map[string]any{
		"interval": "10m", "path": sync["path"], "prune": true, "serviceAccountName": "kustomize-controller",
		"sourceRef": map[string]any{"kind": "GitRepository", "name": "flux-system"},
	})
	patches, _, _ := unstructured.NestedSlice(instance, "kustomize", "patches")
	fs := filesys.MakeFsInMemory()
	writeYAML(t, fs, "/source.yaml", source.Object)
	writeYAML(t, fs, "/root.yaml", root.Object)
	writeYAML(t, fs, "/kustomization.yaml", map[string]any{"resources": []any{"source.yaml", "root.yaml"}, "patches": patches})
	return build(t, fs, "/")
}

func object(apiVersion, kind string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "spec": spec,
		"metadata": map[string]any{"name": "flux-system", "namespace": "flux-system"},
	}}
}

// Ready waits until every Kustomization is ready at the revision of its source.
func (f *Flux) Ready(limit time.Duration) {
	f.t.Helper()
	Eventually(f.t, limit, "all Kustomizations are ready", func(ctx context.Context) (bool, string) {
		list, err := f.Any.Resource(Kustomizations).List(ctx, all)
		if err != nil || len(list.Items) == 0 {
			return false, fmt.Sprint("none: ", err)
		}
		var missing []string
		for _, item := range list.Items {
			if ready, message := condition(&item, "Ready"); !ready {
				missing = append(missing, item.GetNamespace()+"/"+item.GetName()+": "+message)
			}
		}
		if len(missing) == 0 {
			missing = f.outdated(ctx, list.Items)
		}
		return len(missing) == 0, strings.Join(missing, "\n")
	})
}

// Says waits until the Kustomization reports that it is ready or not ready, with a message that contains why.
func (f *Flux) Says(namespace, name string, ready bool, why string) {
	f.t.Helper()
	Eventually(f.t, limit, fmt.Sprintf("Kustomization %s/%s is ready: %t, %q", namespace, name, ready, why), func(ctx context.Context) (bool, string) {
		k, err := f.Any.Resource(Kustomizations).Namespace(namespace).Get(ctx, name, get)
		if err != nil {
			return false, err.Error()
		}
		is, message := condition(k, "Ready")
		return is == ready && strings.Contains(message, why), fmt.Sprintf("ready: %t, %s", is, message)
	})
}

// Message returns the message of the Kustomization's condition Ready.
func (f *Flux) Message(namespace, name string) string {
	f.t.Helper()
	k, err := f.Any.Resource(Kustomizations).Namespace(namespace).Get(f.t.Context(), name, get)
	must(f.t, err)
	_, message := condition(k, "Ready")
	return message
}

// outdated returns the Kustomizations that are not at their source's revision.
func (f *Flux) outdated(ctx context.Context, kustomizations []unstructured.Unstructured) []string {
	revisions := map[string]string{} // of the sources, by KIND NAMESPACE/NAME
	for _, resource := range []schema.GroupVersionResource{GitRepositories, OCIRepositories} {
		sources, err := f.Any.Resource(resource).List(ctx, all)
		if err != nil {
			return []string{err.Error()}
		}
		for _, source := range sources.Items {
			revision, _, _ := unstructured.NestedString(source.Object, "status", "artifact", "revision")
			revisions[source.GetKind()+" "+source.GetNamespace()+"/"+source.GetName()] = revision
		}
	}
	var outdated []string
	for _, k := range kustomizations {
		kind, _, _ := unstructured.NestedString(k.Object, "spec", "sourceRef", "kind")
		name, _, _ := unstructured.NestedString(k.Object, "spec", "sourceRef", "name")
		revision, known := revisions[kind+" "+k.GetNamespace()+"/"+name]
		if applied, _, _ := unstructured.NestedString(k.Object, "status", "lastAppliedRevision"); !known || applied != revision {
			outdated = append(outdated, fmt.Sprintf("%s/%s: at %q, its source at %q", k.GetNamespace(), k.GetName(), applied, revision))
		}
	}
	return outdated
}

// RequestedAt is the annotation that requests a reconciliation.
const RequestedAt = "reconcile.fluxcd.io/requestedAt"

// Reconcile requests the reconciliation of a source or Kustomization, as `flux reconcile` does, and waits for its end.
func (f *Flux) Reconcile(resource schema.GroupVersionResource, namespace, name string) {
	f.t.Helper()
	f.Handled(resource, namespace, name, f.Nudge(resource, namespace, name))
}

// Handled waits until a source or Kustomization has been reconciled for the request.
func (f *Flux) Handled(resource schema.GroupVersionResource, namespace, name, asked string) {
	f.t.Helper()
	Eventually(f.t, limit, "reconcile "+namespace+"/"+name, func(context.Context) (bool, string) {
		return f.HasHandled(resource, namespace, name, asked), "not handled"
	})
}

// HasHandled reports whether a source or Kustomization has been reconciled for the request.
func (f *Flux) HasHandled(resource schema.GroupVersionResource, namespace, name, asked string) bool {
	f.t.Helper()
	got, err := f.Any.Resource(resource).Namespace(namespace).Get(f.t.Context(), name, get)
	if err != nil {
		return false
	}
	handled, _, _ := unstructured.NestedString(got.Object, "status", "lastHandledReconcileAt")
	return handled == asked
}

// Nudge requests the reconciliation of a source or Kustomization, if it still exists, and does not wait. It returns the
// annotation's value.
func (f *Flux) Nudge(resource schema.GroupVersionResource, namespace, name string) string {
	f.t.Helper()
	now := time.Now().Format(time.RFC3339Nano)
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, RequestedAt, now)
	_, err := f.Any.Resource(resource).Namespace(namespace).Patch(f.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	if !apierrors.IsNotFound(err) {
		must(f.t, err)
	}
	return now
}

// condition returns the state and message of a condition of the object's current generation.
func condition(object *unstructured.Unstructured, kind string) (bool, string) {
	observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, value := range conditions {
		if c := value.(map[string]any); c["type"] == kind {
			return c["status"] == "True" && observed == object.GetGeneration(), fmt.Sprint(c["reason"], ": ", c["message"])
		}
	}
	return false, "no condition " + kind
}

// freePort returns an address on which no process listens. Its port is below the ports that systems assign to connections,
// any of which could occupy it before the controller listens there, and the processes of the tests begin their search at
// different ports.
func freePort(t testing.TB) string {
	t.Helper()
	const first, ports = 20_000, 10_000
	for i := range ports {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+(os.Getpid()*37+i)%ports))
		if err == nil {
			defer listener.Close()
			return listener.Addr().String()
		}
	}
	t.Fatalf("no port from %d to %d is free", first, first+ports-1)
	return ""
}

// Components returns the components of Flux from the classic example, as `flux bootstrap` installs them.
func Components(t testing.TB) []*unstructured.Unstructured {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command(filepath.Join(Root(t), "bin", "fleetwright"), "render", filepath.Join(Root(t), "examples", "classic"),
		"--out", out, "--flux-manifests", os.Getenv("FLUX_MANIFESTS"))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	text, err := os.ReadFile(filepath.Join(out, "platform", "clusters", "production", "flux-system", "gotk-components.yaml"))
	must(t, err)
	return Objects(t, text)
}
