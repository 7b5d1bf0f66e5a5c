package manifest_test

import (
	"bytes"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/kyaml/kio"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/manifest"
)

func TestYAML(t *testing.T) {
	port := intstr.FromInt32(53)
	tests := []struct {
		name    string
		comment string
		objects []any
		want    string
	}{
		{"typed object without status or times", "Who wrote it.\nAnd why.", []any{&kustomizev1.Kustomization{
			TypeMeta:   metav1.TypeMeta{APIVersion: "kustomize.toolkit.fluxcd.io/v1", Kind: "Kustomization"},
			ObjectMeta: metav1.ObjectMeta{Name: "infra", Namespace: "flux-system", Labels: map[string]string{"b": "2", "a": "1"}},
			Spec: kustomizev1.KustomizationSpec{
				Interval: metav1.Duration{Duration: 10 * time.Minute}, Path: "./infra", Prune: true,
				SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "GitRepository", Name: "flux-system"},
			},
		}}, `# Who wrote it.
# And why.
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: infra
  namespace: flux-system
  labels:
    a: "1"
    b: "2"
spec:
  interval: 10m0s
  path: ./infra
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
`},
		{"an empty line in the comment", "Who.\n\n  Why. ", []any{map[string]any{"a": 1}}, "# Who.\n#\n#   Why.\na: 1\n"},
		{"scalars of the API", "", []any{&corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"cpu": resource.MustParse("500m"), "pods": resource.MustParse("10")}}},
			&networkingv1.NetworkPolicyPort{Port: &port}},
			"spec:\n  hard:\n    cpu: 500m\n    pods: \"10\"\n---\nport: 53\n"},
		{"what people write", "", []any{&rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}},
			&networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{"Ingress"}}},
			"apiGroups:\n- \"\"\nresources:\n- pods\nverbs:\n- get\n---\npodSelector: {}\npolicyTypes:\n- Ingress\n"},
		{"values", "", []any{map[string]any{
			"text": "a\nb\n", "yes": "no", "empty": "", "number": "1.34", "octal": "0644", "n": int64(3), "f": 1.5, "whole": 2.0,
			"null": nil, "list": []any{}, "map": map[string]any{}, "nested": []any{map[string]any{"z": true, "a": []any{"x"}}},
			"version": "v1.2.3", "range": "1.2.3", "date": "2024-01-01", "hex": "0x1f", "sexagesimal": "12:30:45",
		}}, `date: "2024-01-01"
empty: ""
f: 1.5
hex: "0x1f"
list: []
map: {}
"n": 3
nested:
- a:
  - x
  z: true
"null": null
number: "1.34"
octal: "0644"
range: 1.2.3
sexagesimal: "12:30:45"
text: |
  a
  b
version: v1.2.3
whole: 2.0
"yes": "no"
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := manifest.YAML(tt.comment, tt.objects...)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// kpt and kustomize read and write files through kyaml: ours must survive that
// unchanged, or a render by kpt would look like an edit.
func TestYAMLSurvivesKyaml(t *testing.T) {
	want, err := manifest.YAML("Header.", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"},
		"data": map[string]any{"a": "1\n2\n", "b": "yes", "c": "", "d": "x: y", "e": "- l\n- m", "f": "trail \nx\n", "g": "\ttab\n\n", "h": "#c", "long": string(bytes.Repeat([]byte("word "), 60)) + "end"},
		"list": []any{map[string]any{"a": []any{"b", "c"}}, []any{}, map[string]any{}},
	}, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "y"}})
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := (&kio.ByteReader{Reader: bytes.NewReader(want), PreserveSeqIndent: true}).Read()
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := (kio.ByteWriter{Writer: &got}).Write(nodes); err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("kyaml writes:\n%s\nwe write:\n%s", got.String(), want)
	}
}

// The API server reads what we write exactly as it reads the JSON of the same
// typed object.
func TestYAMLEqualsJSON(t *testing.T) {
	release := &helmv2.HelmRelease{
		TypeMeta:   metav1.TypeMeta{APIVersion: helmv2.GroupVersion.String(), Kind: "HelmRelease"},
		ObjectMeta: metav1.ObjectMeta{Name: "x"},
		Spec: helmv2.HelmReleaseSpec{
			Interval: metav1.Duration{Duration: time.Hour},
			Install:  &helmv2.Install{CRDs: helmv2.CreateReplace, Remediation: &helmv2.InstallRemediation{Retries: 3}},
		},
	}
	data, err := manifest.YAML("", release)
	if err != nil {
		t.Fatal(err)
	}
	var got helmv2.HelmRelease
	if err := sigsyaml.UnmarshalStrict(data, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got, release) {
		t.Errorf("got %+v\nwant %+v", got, release)
	}
}

func TestYAMLRefuses(t *testing.T) {
	for _, bad := range []any{nil, map[int]string{1: "x"}, map[string]any{"f": func() {}}} {
		if _, err := manifest.YAML("", bad); err == nil {
			t.Errorf("%T: no error", bad)
		}
	}
}

func FuzzYAMLKeepsStrings(f *testing.F) {
	for _, s := range []string{"", "yes", "a\nb", " lead", "trail ", "\ttab", "1.0", "0o7", "~", "é\u2028", "---", "a: b", "# c", "\r\n", "\n\n", "a\n\n", "|", "\x7f", "0x", "1_000", ".5", "=", "<<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) { // no YAML file can hold it
			return
		}
		data, err := manifest.YAML("", map[string]any{"k": s, s + "\nkey": int64(1)})
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := yaml.Unmarshal(data, &got); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if got["k"] != s || got[s+"\nkey"] != 1 {
			t.Fatalf("%q became %#v through %q", s, got["k"], data)
		}
	})
}

func BenchmarkYAML(b *testing.B) {
	k := &kustomizev1.Kustomization{
		TypeMeta:   metav1.TypeMeta{APIVersion: "kustomize.toolkit.fluxcd.io/v1", Kind: "Kustomization"},
		ObjectMeta: metav1.ObjectMeta{Name: "infra", Namespace: "flux-system", Labels: map[string]string{"b": "2", "a": "1"}},
		Spec:       kustomizev1.KustomizationSpec{Interval: metav1.Duration{Duration: 10 * time.Minute}, Path: "./infra", Prune: true},
	}
	for b.Loop() {
		if _, err := manifest.YAML("Header.", k); err != nil {
			b.Fatal(err)
		}
	}
}
