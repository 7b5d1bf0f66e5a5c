package schemas

import (
	"encoding/json"
	"os"
	"path"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func gvk(apiVersion, kind string) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(apiVersion, kind)
}

// object decodes YAML into the values that Validate takes.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return integers(m).(map[string]any)
}

func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = integers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case int:
		return int64(v)
	}
	return v
}

func problems(t *testing.T, text string) []string {
	t.Helper()
	o := object(t, text)
	s, ok := Lookup(gvk(o["apiVersion"].(string), o["kind"].(string)))
	if !ok {
		t.Fatalf("no schema for %s %s", o["apiVersion"], o["kind"])
	}
	var got []string
	for _, p := range s.Validate(o) {
		line := string(p.Kind) + ": " + Field(p.Path) + ": " + p.Message
		if p.Hint != "" {
			line += " (" + p.Hint + ")"
		}
		got = append(got, line)
	}
	return got
}

func TestEverySchemaCompiles(t *testing.T) {
	kinds := Kinds()
	if len(kinds) < 100 {
		t.Fatalf("only %d kinds are embedded", len(kinds))
	}
	for _, k := range append(kinds, metadataKind) {
		if _, err := load(k); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
	if len(editions()) == 0 {
		t.Error("no kind has an earlier edition")
	}
	for of, compiled := range editions() {
		if _, err := compiled(); err != nil {
			t.Errorf("%s of %s: %v", of.gvk, of.release, err)
		}
	}
}

func TestProvenanceNamesEveryFile(t *testing.T) {
	text, err := os.ReadFile("PROVENANCE.json")
	if err != nil {
		t.Fatal(err)
	}
	var origin map[string]struct{ Module, File string }
	if err := json.Unmarshal(text, &origin); err != nil {
		t.Fatal(err)
	}
	files, err := data.ReadDir("data")
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, f := range files {
		from, ok := origin[path.Join("data", f.Name())]
		if !ok || !strings.Contains(from.Module, "@v") && !isOurs(from.Module, from.File) || from.File == "" {
			t.Errorf("%s has no provenance", f.Name())
		}
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if len(origin) != len(files) {
		t.Errorf("%d files, %d origins", len(files), len(origin))
	}
	if total > 3<<20 {
		t.Errorf("the embedded schemas take %d bytes; at most 3 MB are allowed", total)
	}
}

// isOurs says that a file is made of our own description, which is there.
func isOurs(module, file string) bool {
	_, err := os.Stat(path.Join("..", file))
	return module == "github.com/fleetwright/fleetwright" && err == nil
}

func TestKindsOfFluxAndKubernetes(t *testing.T) {
	for _, k := range []schema.GroupVersionKind{
		gvk("helm.toolkit.fluxcd.io/v2", "HelmRelease"),
		gvk("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
		gvk("source.toolkit.fluxcd.io/v1", "GitRepository"),
		gvk("source.toolkit.fluxcd.io/v1", "OCIRepository"),
		gvk("source.toolkit.fluxcd.io/v1", "HelmRepository"),
		gvk("source.toolkit.fluxcd.io/v1", "Bucket"),
		gvk("notification.toolkit.fluxcd.io/v1beta3", "Alert"),
		gvk("notification.toolkit.fluxcd.io/v1", "Receiver"),
		gvk("image.toolkit.fluxcd.io/v1", "ImagePolicy"),
		gvk("fluxcd.controlplane.io/v1", "FluxInstance"),
		gvk("fluxcd.controlplane.io/v1", "ResourceSet"),
		gvk("v1", "Namespace"), gvk("v1", "LimitRange"), gvk("v1", "ResourceQuota"), gvk("v1", "ServiceAccount"),
		gvk("apps/v1", "Deployment"), gvk("batch/v1", "CronJob"),
		gvk("rbac.authorization.k8s.io/v1", "RoleBinding"), gvk("networking.k8s.io/v1", "NetworkPolicy"),
		gvk("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"),
		gvk("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
		gvk("kustomize.config.k8s.io/v1beta1", "Kustomization"),
	} {
		if _, ok := Lookup(k); !ok {
			t.Errorf("there is no schema for %s", k)
		}
	}
	if _, ok := Lookup(gvk("example.com/v1", "Nothing")); ok {
		t.Error("there is a schema for a kind that doesn't exist")
	}
	for kind, want := range map[schema.GroupVersionKind]bool{
		gvk("v1", "Namespace"): false, gvk("v1", "ConfigMap"): true, gvk("v1", "Node"): false,
		gvk("rbac.authorization.k8s.io/v1", "ClusterRole"): false, gvk("rbac.authorization.k8s.io/v1", "Role"): true,
		gvk("helm.toolkit.fluxcd.io/v2", "HelmRelease"): true,
	} {
		if s, _ := Lookup(kind); s == nil || s.Namespaced != want {
			t.Errorf("%s: namespaced is not %v", kind, want)
		}
	}
}

func TestValidateSideBySide(t *testing.T) {
	o := object(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replica: 1}\n")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, _ := Lookup(gvk("apps/v1", "Deployment"))
			if n := len(s.Validate(o)); n != 3 {
				t.Errorf("%d problems, want 3", n)
			}
		})
	}
	wg.Wait()
}

// release is a HelmRelease with the fields that they have in repositories.
const release = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: apps, labels: {app.kubernetes.io/name: web}}
spec:
  interval: 1h
  chartRef: {kind: OCIRepository, name: web}
  install: {remediation: {retries: 3}}
  upgrade: {cleanupOnFail: true, remediation: {retries: 3, strategy: rollback}}
  dependsOn: [{name: db, namespace: data}]
  values:
    replicas: 2
    ingress: {enabled: true, hosts: [a.example.com, b.example.com]}
    resources: {requests: {cpu: 100m, memory: 128Mi}}
`

// BenchmarkValidate measures an object of a kind that is known already: as it is
// validated, and by the API server's code alone.
func BenchmarkValidate(b *testing.B) {
	for name, text := range map[string]string{"Deployment": deployment, "HelmRelease": release} {
		var m map[string]any
		if err := yaml.Unmarshal([]byte(text), &m); err != nil {
			b.Fatal(err)
		}
		o := integers(m).(map[string]any)
		delete(o["metadata"].(map[string]any), "creationTimestamp")
		s, _ := Lookup(gvk(o["apiVersion"].(string), o["kind"].(string)))
		for how, validate := range map[string]func(map[string]any, Options) []Problem{"": s.ValidateWith, "Thorough": s.thorough} {
			b.Run(name+how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if p := validate(o, Options{}); len(p) != 0 {
						b.Fatal(p)
					}
				}
			})
		}
	}
}

// BenchmarkCold measures the first object of a kind: the schema is decompressed
// and compiled, its rules too where it has some.
func BenchmarkCold(b *testing.B) {
	meta, err := metadata()
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{"Deployment": deployment, "HelmRelease": release} {
		var m map[string]any
		if err := yaml.Unmarshal([]byte(text), &m); err != nil {
			b.Fatal(err)
		}
		o := integers(m).(map[string]any)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := load(gvk(o["apiVersion"].(string), o["kind"].(string)))
				if err != nil {
					b.Fatal(err)
				}
				s.meta = meta
				if p := s.Validate(o); len(p) != 0 {
					b.Fatal(p)
				}
			}
		})
	}
}
