package builds

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// referring are objects that refer to others by all fields that kustomize looks at, and those
// with one of these fields spoilt in each way.
func referring() (whole, spoilt []string) {
	const pod = `serviceAccountName: s
priorityClassName: p
imagePullSecrets: [{name: s}]
volumes:
- {name: a, configMap: {name: a}}
- {name: b, secret: {secretName: s}}
- {name: c, persistentVolumeClaim: {claimName: c}}
- {name: d, projected: {sources: [{configMap: {name: a}}, {secret: {name: s}}]}}
initContainers:
- name: web
  env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: b}}}, {name: B, valueFrom: {secretKeyRef: {name: s, key: b}}}]
  envFrom: [{configMapRef: {name: a}}, {secretRef: {name: s}}]
containers:
- name: web
  env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: b}}}, {name: B, valueFrom: {secretKeyRef: {name: s, key: b}}}]
  envFrom: [{configMapRef: {name: a}}, {secretRef: {name: s}}]
`
	object := func(api, kind, path, fields string) string {
		text := "apiVersion: " + api + "\nkind: " + kind + "\nmetadata: {name: x, namespace: other, labels: {env: production}}\n"
		indent := ""
		for field := range strings.SplitSeq(path, "/") {
			text += indent + field + ":\n"
			indent += "  "
		}
		return text + indent + strings.ReplaceAll(strings.TrimSpace(fields), "\n", "\n"+indent) + "\n"
	}
	whole = []string{
		object("v1", "Pod", "spec", pod), object("v1", "PodTemplate", "template/spec", pod),
		object("batch/v1", "Job", "spec/template/spec", pod), object("batch/v1", "CronJob", "spec/jobTemplate/spec/template/spec", pod),
		object("v1", "PersistentVolumeClaim", "spec", "volumeName: v\nstorageClassName: s"),
		object("v1", "ReplicationController", "spec/template/spec", pod),
		object("v1", "ServiceAccount", "imagePullSecrets", "[{name: s}]"), object("v1", "Service", "spec", "selector: {name: a}"),
		object("autoscaling/v2", "HorizontalPodAutoscaler", "spec", "scaleTargetRef: {kind: Deployment, name: x}"),
		object("networking.k8s.io/v1", "Ingress", "spec", "ingressClassName: i\ntls: [{secretName: s}]\ndefaultBackend: {service: {name: a}}\n"+
			"rules: [{http: {paths: [{backend: {service: {name: a}}}]}}]"),
		"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: i\n  annotations: {nginx.ingress.kubernetes.io/auth-secret: s}\n",
		object("rbac.authorization.k8s.io/v1", "Role", "rules", "- {resources: [secrets], resourceNames: [s, a]}"),
		object("rbac.authorization.k8s.io/v1", "RoleBinding", "subjects", "- {kind: ServiceAccount, name: x}"),
		object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "subjects", "- kind: ServiceAccount\n  name: x\n  namespace: y"),
		object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "roleRef", "apiGroup: rbac.authorization.k8s.io\nkind: ClusterRole\nname: x"),
		object("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "spec", "policyName: x\nparamRef: {name: y}"),
	}
	for _, kind := range []string{"Deployment", "DaemonSet", "ReplicaSet"} {
		whole = append(whole, object("apps/v1", kind, "spec/template/spec", pod))
	}
	whole = append(whole, object("apps/v1", "StatefulSet", "spec", "serviceName: a\nvolumeClaimTemplates: [{spec: {storageClassName: s}}]"))
	for _, text := range whole {
		for i := range text {
			for _, value := range []string{"[]", "{}", "7", "null", "[{}]", "{name: {}}", "[[s]]", "[s]", "[null]", "[{}, s]"} {
				if from := text[i:]; strings.HasPrefix(from, ": ") && !strings.HasPrefix(from, ": [") && !strings.HasPrefix(from, ": {") && i > len("apiVersion") {
					end := strings.IndexAny(from, ",}]\n")
					spoilt = append(spoilt, text[:i]+": "+value+from[end:])
				}
			}
		}
	}
	return whole, spoilt
}

// FuzzList compares the objects of a kustomization that only lists files, and may set their
// namespace and labels, with kustomize's.
func FuzzList(f *testing.F) {
	addCases(f)
	whole, _ := referring()
	for _, seed := range slices.Concat(whole, heads()) {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, all := range []bool{false, true} {
			compareListed(t, data, all)
		}
	})
}

// TestListsSpoilt does the same with objects whose references are none.
func TestListsSpoilt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long: one build after the other")
	}
	_, spoilt := referring()
	for i, text := range spoilt {
		compareListed(t, []byte(text), i%2 == 0)
	}
}

// compareListed compares what a kustomization makes of a file, of a base and of another file with
// what kustomize makes of it, where it is listed. All says that it gives them a namespace and labels.
func compareListed(t *testing.T, data []byte, all bool) {
	t.Helper()
	content := map[string][]byte{
		"app/a.yaml": data, "app/b.yaml": []byte(object), "base/kustomization.yaml": []byte("resources:\n- c.yaml\n"),
		"base/c.yaml":            []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  namespace: other\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n"),
		"app/kustomization.yaml": []byte("resources: [a.yaml, ../base, b.yaml]\n"),
	}
	if all {
		content["app/kustomization.yaml"] = append(content["app/kustomization.yaml"], "namespace: one\nlabels: [{pairs: {a: b, c: \"2\"}}]\n"...)
		content["base/kustomization.yaml"] = append(content["base/kustomization.yaml"], "namespace: two\n"...)
	}
	compareLists(t, content)
}

// compareLists compares the objects that a list makes of the kustomization in app with kustomize's. It
// returns whether there is such a list.
func compareLists(t *testing.T, content map[string][]byte) (listed bool) {
	t.Helper()
	repo, err := repository.FromFiles(maps.All(content), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := &view{Files: &Files{Repo: repo, Base: ".", Budget: NewBudget(repo)}, ctx: t.Context(), seen: map[string]bool{}}
	if v.overlay, v.own, err = v.generate("app", &kustomizev1.KustomizationSpec{}); err != nil {
		return false
	}
	kustomized := sync.OnceValues(func() ([]*resource.Resource, error) { return kustomizeGivesUp(v) })
	for _, variables := range []bool{true, false} {
		objects, ok, err := listGivesUp(v, variables)
		if !ok {
			continue
		}
		listed = true
		resources, wrong := kustomized()
		var want []Result
		for _, r := range resources {
			var one Result
			if one, wrong = newResult(r, variables); wrong != nil {
				want = nil
				break
			}
			want = append(want, one)
		}
		if fmt.Sprint(err) != fmt.Sprint(wrong) || !reflect.DeepEqual(objects, want) {
			t.Errorf("%s\n%v (%v)\nkustomize makes\n%v (%v)", txtar.Format(archiveOf(content)), objects, err, want, wrong)
		}
	}
	return listed
}

// kustomizeGivesUp runs kustomize, and makes an error of its panic as run does.
func kustomizeGivesUp(v *view) (resources []*resource.Resource, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("kustomize failed: %v", p)
		}
	}()
	return kustomize(v, "app", v.own)
}

// listGivesUp does the same with a list.
func listGivesUp(v *view, variables bool) (objects []Result, ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			objects, ok, err = nil, true, fmt.Errorf("kustomize failed: %v", p)
		}
	}()
	return v.list("app", v.own, variables)
}

func archiveOf(content map[string][]byte) *txtar.Archive {
	archive := &txtar.Archive{}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: content[name]})
	}
	return archive
}

// heads are objects with all that may stand around a name, and files with all that may stand
// around objects.
func heads() (seeds []string) {
	const simple = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n"
	for _, metadata := range []string{
		"namespace: ''", "namespace: default", "namespace: 7", "namespace: null", "namespace:", "labels: {}", "labels:", "labels: {a: b}",
		"labels: {a: 1}", "labels: {a: yes}", "labels: {a: true}", "labels: {1: b}", "annotations: {}", "annotations:", "annotations: {a: b}",
		"annotations: {a: 2020-01-01}", "annotations: {config.kubernetes.io/local-config: 'true'}", "annotations: {a: ''}", "labels: [a]",
		"annotations: {internal.config.kubernetes.io/index: '7'}", "name: y", "? [a]\n  : b", "<<: {labels: {a: b}}", "namespace: !!str 7",
		"creationTimestamp: 2020-01-01T00:00:00Z", "creationTimestamp: null", "generation: 0x10", "generation: 1.0", "generation: 1.5", "generation: 1e3",
		"generation: 18446744073709551615", "generation: 9007199254740993", "generation: .inf", "generation: 0o7", "generation: 07", "generation: 1_000",
	} {
		seeds = append(seeds, simple+"  "+metadata+"\n")
	}
	for _, data := range []string{
		"data: {a: on, b: 'x', c: \"\\u2028\"}", "data:\n  a: |\n    x\n    ---\n    y\n", "data:\n  a: |+\n    x\n\n\n---\n" + strings.ReplaceAll(simple, "x", "y"),
		"data:\n  a: >\n    x\n      y\n", "data: {a: &a x, b: *a}", "data: {a: &a |\n   x\n   y\n, b: *a}", "data: {&a a: &b 1, b: *a, *a : c}", "data: {a: &a {b: &c 2001-01-01, d: *c}, e: *a}", "data: {a: &a ~, b: *a}", "data: {a: &a 0x10, b: *a, <<: {c: *a}}", "data: &a {b: c}", "data: {a: x, a: y}", "data: {A: \"${V}\"}", "data: {a: \"x\\ty\"}", "binaryData: {a: !!binary aGk=}",
		"data: {? a : b}", "data: {~: b}", "data: {true: b}", "data: {2020-01-01: b}", "data: {a: ~}", "data: {a: }", "data: [a, [b], {c: d}]",
	} {
		seeds = append(seeds, simple+data+"\n", "kind: Secret\n"+strings.Replace(simple, "kind: ConfigMap\n", "", 1)+data+"\n")
	}
	other := strings.ReplaceAll(simple, "x", "y")
	for _, between := range []string{"---\n", "--- # then\n", "---\n---\n", "---\n---\n---\n", "...\n---\n", "...\n", "--- \n", "---\t\n", "---\r\n", "---\n# only this\n---\n", "---\n{}\n---\n", "---\n~\n---\n"} {
		seeds = append(seeds, simple+between+other, between+simple+between+other, simple+between)
	}
	for _, kind := range []string{"Namespace", "CustomResourceDefinition", "ClusterRole", "Node", "APIService", "ConfigMapList", "List", "Kustomization", "Widget"} {
		for _, name := range []string{"one", "two", "x"} {
			seeds = append(seeds, "apiVersion: v1\nkind: "+kind+"\nmetadata: {name: "+name+"}\n", "apiVersion: example.com/v1\nkind: "+kind+"\nmetadata: {name: "+name+", namespace: one}\n")
		}
	}
	return append(seeds, "%YAML 1.1\n---\n"+simple, "\ufeff"+simple, strings.ReplaceAll(simple, "\n", "\r\n"), simple+"---\n"+simple,
		strings.Replace(simple, "name: x", "name: a", 1), "kind: ''\n"+other, "apiVersion: v1\nkind: 7\nmetadata: {name: x}\n",
		"apiVersion: 1\nkind: ConfigMap\nmetadata: {name: x}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 7}\n",
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '7'}\n", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec: {conversion: {webhook: {clientConfig: {service: {name: y, namespace: z}}}}}\n",
	)
}

// FuzzValue compares the value of an object with what it is once kustomize has written it.
func FuzzValue(f *testing.F) {
	for _, text := range []string{
		"a: >\n  x\n    y\n", "a: |2\n   x\n  y\n", "{a, b: ~, c: }", "[0777, 0o7, 0x1f, 1_0, 1e3, 2001-01-01, .inf, 1.0, !!str 1]",
		"a: &x [1]\nb: *x\n", "\"\\u0085\\u2028\\uFEFF\\0\\a\"", "{1: a, true: b}", "|+\n  x\n\n", "'a\n\n  b'", "# c\na: b # d\n", "!!binary aGk=",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return
		}
		resources, err := parseObjects("apiVersion: v1\nkind: Sample\nmetadata:\n  name: x\nspec:\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n")
		if err != nil {
			return
		}
		for _, r := range resources {
			value, err := ValueOf(&r.RNode)
			want, failed := rewritten(&r.RNode)
			if (err != nil) != (failed != nil) || err == nil && !reflect.DeepEqual(value, want) {
				t.Fatalf("%#v, %v\nkustomize has\n%#v, %v", value, err, want, failed)
			}
		}
	})
}

// TestListsBases: a base whose apiVersion or kind is no text is left to kustomize.
func TestListsBases(t *testing.T) {
	for base, want := range map[string]bool{
		"apiVersion: {}\n": false, "kind: []\n": false, "apiVersion: kustomize.config.k8s.io/v1beta1\n": true, "metadata: {name: x}\n": true,
	} {
		listed := compareLists(t, map[string][]byte{
			"app/kustomization.yaml": []byte("resources: [../base]\n"),
			"base/b.yaml":            []byte(object), "base/kustomization.yaml": []byte(base + "resources: [b.yaml]\n"),
		})
		if listed != want {
			t.Errorf("%q: listed: %v", base, listed)
		}
	}
}

// TestListsReferrers: objects that refer to others are listed without kustomize.
func TestListsReferrers(t *testing.T) {
	whole, _ := referring()
	for _, text := range whole {
		repo, err := repository.FromFiles(maps.All(map[string][]byte{
			"app/a.yaml": []byte(text), "app/kustomization.yaml": []byte("resources: [a.yaml]\n"),
		}), repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		v := &view{Files: &Files{Repo: repo, Base: ".", Budget: NewBudget(repo)}, ctx: t.Context(), seen: map[string]bool{}}
		_, listed, err := v.list("app", &types.Kustomization{Resources: []string{"a.yaml"}}, true)
		if err != nil || !listed {
			t.Errorf("listed: %v (%v):\n%s", listed, err, text)
		}
	}
}

const object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  key: ${A}\n"

// parseObjects parses objects as kustomize does, which panics on some texts.
func parseObjects(text string) (resources []*resource.Resource, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return provider.NewDefaultDepProvider().GetResourceFactory().SliceFromBytes([]byte(text))
}

// addCases adds the files with objects of the cases that reconciling is tested with.
func addCases(f *testing.F) {
	f.Helper()
	cases, err := filepath.Glob("../../testdata/builds/*.txtar")
	if err != nil || len(cases) == 0 {
		f.Fatal("no cases", err)
	}
	for _, file := range cases {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if !repository.IsKustomization(file.Name) && strings.HasSuffix(file.Name, ".yaml") {
				f.Add(file.Data)
			}
		}
	}
}
