// Package e2e tests what Fleetwright generates on a real Kubernetes API server with
// the real Flux controllers. Start with TestFleet: it contains the whole story.
package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/kustomize"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// patience is how long a cluster may take to reach the state in Git: usually seconds, but the machine may
// be busy.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	quiet := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(quiet)
	_ = quiet.Parse([]string{"-logtostderr=false", "-stderrthreshold=FATAL", "-alsologtostderr=false"})
	klog.SetOutput(io.Discard)
	ctrllog.SetLogger(klog.NewKlogr())
	if os.Getenv("FLUX_MANIFESTS") == "" {
		fmt.Fprintln(os.Stderr, "FLUX_MANIFESTS is not set; run `make e2e`")
		os.Exit(2)
	}
	temp, err := filepath.EvalSymlinks(os.TempDir()) // Flux's library only writes below the resolved folder
	if err == nil {
		err = os.Setenv("TMPDIR", temp)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if os.Getenv(alone) == "" {
		if err := harness.UseTools("sops", "source-controller", "kustomize-controller"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	os.Exit(m.Run())
}

// A site is one cluster of an example's fleet, with Flux on it.
type site struct {
	fleet   *harness.Fleet
	cluster string
	flux    *harness.Flux
	signer  harness.Signer
}

// sites are a cluster of every example, for the whole story. The other clusters of its
// fleet differ in values, overrides and the tenants' files: the same API server judges their
// objects, too.
var sites = []struct {
	example, cluster, path string
	others                 []string
}{
	{"acme", "production-eu", "clusters/production-eu", []string{"production-us", "staging"}},
	{"homelab", "home", "kubernetes/flux/cluster", nil},
	{"classic", "production", "clusters/production", []string{"staging"}},
}

// TestFleet starts a cluster of every example: Fleetwright commits and pushes the platform's and the tenants'
// repositories, and Flux applies them to a cluster
// whose API server judges each object.
func TestFleet(t *testing.T) {
	if os.Getenv(alone) == "" {
		t.Parallel() // other tests run meanwhile
	}
	proofs := make([][]string, len(sites))
	t.Cleanup(func() { t.Logf("proved on real API servers:\n%s", strings.Join(slices.Concat(proofs...), "\n")) })
	for i, site := range sites {
		t.Run(site.example+"/"+site.cluster, func(t *testing.T) {
			if os.Getenv(alone) == "" {
				t.Parallel()
				proofs[i] = inProcess(t)
				return
			}
			s := start(t, site.example, site.cluster, site.path)
			t.Run("accepted", s.accepted)
			for _, other := range site.others {
				t.Run("accepted of "+other, func(t *testing.T) { s.othersAccepted(t, other) })
			}
			t.Run("works", s.works)
			t.Run("day 2", s.day2)
			t.Run("confined", s.confined)
			t.Run("threats", s.threats)
			t.Run("helm", s.helm)
			t.Run("offboarding", s.offboarding)
		})
	}
}

// alone is the environment variable that is set in a test's own process.
const alone = "E2E_ALONE"

// inProcess runs the test in a process of its own, since a process can contain only one controller
// manager, and returns what it proved.
func inProcess(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	cmd.Env = append(os.Environ(), alone+"=true")
	out, err := cmd.CombinedOutput()
	var proofs []string
	for line := range strings.Lines(string(out)) {
		if proof, ok := strings.CutPrefix(line, proof); ok {
			proofs = append(proofs, strings.TrimSpace(proof))
		}
	}
	if err != nil || len(proofs) == 0 {
		t.Errorf("%v\n%s", err, out)
	}
	return proofs
}

// proof begins the lines of a test's output that say what it proved.
const proof = "proved: "

// proved prints what a chapter has shown, unless the chapter failed.
func (s *site) proved(t *testing.T, format string, args ...any) {
	t.Helper()
	if !t.Failed() {
		chapter := strings.TrimPrefix(t.Name(), "TestFleet/")
		fmt.Printf("\n%s%-46s %s\n", proof, chapter, fmt.Sprintf(format, args...))
	}
}

// start sets a cluster up, in the steps that the platform engineer takes.
func start(t *testing.T, example, cluster, path string) *site {
	t.Helper()
	s := &site{fleet: harness.NewFleet(t, example), cluster: cluster, signer: harness.NewSigner(t)}
	s.fleet.SyncSecrets()
	s.fleet.Commit("Start the fleet")
	s.fleet.Put(s.fleet.PlatformURL(), "main", map[string]string{
		path + "/platform-secret.sops.yaml": secret("flux-system", "platform-secret", platformSecret),
	})
	s.fleet.Pull()
	s.ownFiles(t)
	components, sync := s.bootstrap(t, path)
	control := harness.StartCluster(t, slices.Concat(harness.FluxKinds(t), harness.GatewayKinds(), harness.CertManagerKinds(), components)...)
	s.flux = harness.StartFlux(t, control, components, s.fleet.Internet)
	s.proved(t, "excepted, since charts bring their definitions: %s", strings.Join(control.DefineKinds(s.rendered(t)), ", "))
	control.DeclareAbsent(s.fleet.Internet)
	s.gitSecret(t, "flux-system", s.pullSecret(sync), s.fleet.PlatformURL())
	s.secret(t, "flux-system", "sops-age", map[string][]byte{"age.agekey": []byte(s.fleet.Key("clusters/" + cluster))})
	control.Apply(sync...)
	s.tenantSecrets(t)
	s.flux.Ready(patience)
	return s
}

// bootstrap returns what the bootstrap applies: Flux's components, and the root sync.
func (s *site) bootstrap(t *testing.T, path string) (components, sync []*unstructured.Unstructured) {
	t.Helper()
	if s.fleet.Name == "classic" {
		for _, object := range harness.Build(t, filepath.Join(s.fleet.Dir, path, "flux-system")) {
			if object.GroupVersionKind().Group == "kustomize.toolkit.fluxcd.io" || object.GroupVersionKind().Group == "source.toolkit.fluxcd.io" {
				sync = append(sync, object)
			} else {
				components = append(components, object)
			}
		}
		return components, sync
	}
	for _, object := range s.rendered(t) {
		if object.GetKind() == "HelmRelease" && object.GetName() == "flux-instance" {
			instance, _, _ := unstructured.NestedMap(object.Object, "spec", "values", "instance")
			if p, _, _ := unstructured.NestedString(instance, "sync", "path"); strings.TrimPrefix(p, "./") == path {
				return harness.Components(t), harness.Sync(t, instance)
			}
		}
	}
	t.Fatalf("no FluxInstance syncs %s", path)
	return nil, nil
}

// rendered returns the objects in the files of the platform repository, unbuilt.
func (s *site) rendered(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	files, err := exec.Command("git", "-C", s.fleet.Dir, "ls-files", "*.yaml").Output()
	must(t, err)
	for file := range strings.SplitSeq(strings.TrimSpace(string(files)), "\n") {
		text, err := os.ReadFile(filepath.Join(s.fleet.Dir, file))
		must(t, err)
		for _, object := range harness.Objects(t, text) {
			if object.GetAnnotations()["config.kubernetes.io/local-config"] == "" && !strings.HasPrefix(file, ".") &&
				object.GroupVersionKind().Group != "kustomize.config.k8s.io" && object.GroupVersionKind().Group != "kpt.dev" &&
				object.GetKind() != "" && object.GetName() != "" {
				objects = append(objects, object)
			}
		}
	}
	return objects
}

// accepted compares the objects that the API server has accepted from Flux with the repository's: not one
// object is missing.
func (s *site) accepted(t *testing.T) {
	list, err := s.flux.Any.Resource(harness.Kustomizations).Namespace("flux-system").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	objects := 0
	for _, item := range list.Items {
		want := s.wanted(t, &item)
		got := inventory(&item)
		if !slices.Equal(got, want) {
			t.Errorf("%s applied\n%s\nbut the repository has\n%s", item.GetName(), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		objects += len(got)
	}
	s.proved(t, "%d objects of %d Kustomizations are admitted and all there", objects, len(list.Items))
}

// othersAccepted sends what Flux would apply to another cluster of the fleet to this API
// server as a dry run: admission is that of an apply, and one cluster is not two.
func (s *site) othersAccepted(t *testing.T, cluster string) {
	objects := s.fleet.Build(cluster)
	for _, object := range objects {
		if !isEncrypted(object) { // Flux decrypts it first
			must(t, s.flux.Admit(t.Context(), object))
		}
	}
	if len(objects) == 0 {
		t.Error("Flux would apply nothing")
	}
	s.proved(t, "%d objects are admitted", len(objects))
}

// isEncrypted reports whether an object is a Secret with values that SOPS encrypted.
func isEncrypted(object *unstructured.Unstructured) bool {
	values, _, _ := unstructured.NestedStringMap(object.Object, "data")
	for _, value := range values {
		if object.GetKind() == "Secret" && strings.HasPrefix(value, "ENC[") {
			return true
		}
	}
	return false
}

// wanted returns the IDs of the objects of a Kustomization, built as kustomize-controller builds them.
func (s *site) wanted(t *testing.T, k *unstructured.Unstructured) []string {
	t.Helper()
	copied := t.TempDir()
	must(t, os.CopyFS(copied, os.DirFS(s.fleet.Dir)))
	path, _, _ := unstructured.NestedString(k.Object, "spec", "path")
	dir := filepath.Join(copied, path)
	_, err := kustomize.NewGenerator(copied, *k).WriteFile(dir)
	must(t, err)
	built, err := kustomize.SecureBuild(copied, dir, false)
	must(t, err)
	ids := map[string]bool{}
	for _, r := range built.Resources() {
		ids[fmt.Sprintf("%s %s", r.GetGvk().Kind, r.GetName())] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

// inventory returns the IDs of the objects that a Kustomization has applied.
func inventory(k *unstructured.Unstructured) []string {
	entries, _, _ := unstructured.NestedSlice(k.Object, "status", "inventory", "entries")
	ids := map[string]bool{}
	for _, entry := range entries {
		parts := strings.Split(entry.(map[string]any)["id"].(string), "_")
		ids[parts[3]+" "+strings.ReplaceAll(parts[1], "__", ":")] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

// pullSecret returns the name of the Secret that the root source reads, "" if it reads none.
func (s *site) pullSecret(sync []*unstructured.Unstructured) string {
	for _, object := range sync {
		if name, ok, _ := unstructured.NestedString(object.Object, "spec", "secretRef", "name"); ok {
			return name
		}
	}
	return ""
}

func secret(namespace, name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata:\n  name: %s\n  namespace: %s\nstringData:\n  value: %s\n", name, namespace, value)
}

func (s *site) secret(t *testing.T, namespace, name string, data map[string][]byte) {
	t.Helper()
	kind := corev1.SecretTypeOpaque
	if data[corev1.DockerConfigJsonKey] != nil {
		kind = corev1.SecretTypeDockerConfigJson
	}
	_, err := s.flux.Kube.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: kind, Data: data,
	}, metav1.CreateOptions{})
	must(t, err)
}

// gitSecret creates the Secret with a token that opens one repository.
func (s *site) gitSecret(t *testing.T, namespace, name, url string) {
	t.Helper()
	s.secret(t, namespace, name, map[string][]byte{"username": []byte("git"), "password": []byte(s.fleet.Internet.Grant(url))})
}

func registryLogin(host, password string) []byte {
	text, _ := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]string{"username": "flux", "password": password}}})
	return text
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
