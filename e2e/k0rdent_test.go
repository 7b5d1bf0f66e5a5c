package e2e

import (
	"context"
	"encoding/base64"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	fluxkustomize "github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// management is a rendered management cluster of k0rdent.
type management struct {
	dir   string
	steps []*unstructured.Unstructured // the Kustomizations, in the order of their dependencies
}

// TestK0rdent serves the definitions of two releases of k0rdent, and lets its API server
// admit what is rendered for each, step by step. kcm itself doesn't run: the test writes
// the status.
func TestK0rdent(t *testing.T) {
	older, newer := definitions(t, "v1.11.4"), definitions(t, "v1.12.0-rc2")
	if os.Getenv("KCM") == "" {
		t.Log("with the schemas that Fleetwright embeds, since KCM does not name a folder with checkouts of github.com/k0rdent/kcm, v1.11.4 and v1.12.0-rc2")
		older, newer = embeddedK0rdent(t, "1.11"), embeddedK0rdent(t, "")
	}
	if os.Getenv(alone) == "" {
		t.Parallel()
	}
	cluster := harness.StartCluster(t, older...)
	first := renderK0rdent(t, "version: 1.11.4", "version: 1.11.4")
	first.apply(t, cluster)
	first.immutable(t, cluster)

	// The clusters are upgraded: new definitions, then the files that are rendered for them.
	cluster.Apply(newer...)
	renderK0rdent(t, "version: 1.11.4", "version: 1.12.0-rc2").apply(t, cluster)
	renderK0rdent(t, "versions: [1.0.42, 1.0.43]", "versions: [1.0.43]",
		"name: aws-standalone-cp\n        version: 1.0.42", "name: aws-standalone-cp\n        version: 1.0.43",
		"version: 1.11.4", "version: 1.12.0-rc2").apply(t, cluster)
}

func definitions(t *testing.T, release string) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(os.Getenv("KCM"), release, "templates/provider/kcm/templates/crds/*.yaml"))
	must(t, err)
	if len(files) == 0 && os.Getenv("KCM") != "" {
		t.Fatal("no definitions of " + release)
	}
	var out []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		out = append(out, harness.Objects(t, text)...)
	}
	return out
}

// renderK0rdent renders the example with replaced strings.
func renderK0rdent(t *testing.T, changes ...string) *management {
	t.Helper()
	spec, out := t.TempDir(), t.TempDir()
	must(t, os.CopyFS(spec, os.DirFS(filepath.Join(harness.Root(t), "examples", "k0rdent"))))
	file := filepath.Join(spec, "fleet", "k0rdent.yaml")
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.NewReplacer(changes...).Replace(string(text))), 0o644))
	output, err := exec.Command(filepath.Join(harness.Root(t), "bin", "fleetwright"), "render", spec, "--out", out).CombinedOutput()
	if err != nil {
		t.Fatalf("rendering: %v\n%s", err, output)
	}
	m := &management{dir: filepath.Join(out, "platform")}
	text, err = os.ReadFile(filepath.Join(m.dir, "clusters", "management", "k0rdent.yaml"))
	must(t, err)
	m.order(t, harness.Objects(t, text))
	return m
}

// order sorts the Kustomizations so that each follows its dependencies.
func (m *management) order(t *testing.T, all []*unstructured.Unstructured) {
	t.Helper()
	done := map[string]bool{"infra-controllers": true}
	for len(m.steps) < len(all) {
		before := len(m.steps)
		for _, k := range all {
			ready := func(d any) bool { return done[d.(map[string]any)["name"].(string)] }
			deps, _, _ := unstructured.NestedSlice(k.Object, "spec", "dependsOn")
			if !done[k.GetName()] && !slices.ContainsFunc(deps, func(d any) bool { return !ready(d) }) {
				done[k.GetName()] = true
				m.steps = append(m.steps, k)
			}
		}
		if len(m.steps) == before {
			t.Fatalf("the steps behind %d of %d wait for each other", before, len(all))
		}
	}
}

// decrypt changes an encrypted Secret to the form in which Flux applies it, except for the values: without metadata of
// SOPS, and with data in base64.
func decrypt(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	if _, sealed := o.Object["sops"]; !sealed {
		return
	}
	delete(o.Object, "sops")
	data, there, err := unstructured.NestedStringMap(o.Object, "data")
	must(t, err)
	for key := range data {
		data[key] = base64.StdEncoding.EncodeToString([]byte(key))
	}
	if there {
		must(t, unstructured.SetNestedStringMap(o.Object, data, "data"))
	}
}

// apply applies the steps in their order, and evaluates their health checks on objects
// with the status that kcm writes.
func (m *management) apply(t *testing.T, cluster *harness.Cluster) {
	t.Helper()
	n := 0
	for _, k := range m.steps {
		path, _, _ := unstructured.NestedString(k.Object, "spec", "path")
		objects := harness.Build(t, filepath.Join(m.dir, path))
		for _, o := range objects {
			decrypt(t, o)
		}
		cluster.DefineKinds(objects)
		cluster.Apply(objects...)
		for _, o := range objects {
			if o.GroupVersionKind().Group == "k0rdent.mirantis.com" {
				n++
				healthy(t, cluster, k, o)
			}
		}
	}
	t.Logf("%d objects of k0rdent are admitted in %d steps", n, len(m.steps))
	if n < 30 {
		t.Errorf("only %d objects of k0rdent", n)
	}
}

// reports are the statuses that kcm writes: while it works, and when an object is ready.
var reports = map[string][2]map[string]any{
	"Release":              {{"ready": false}, {"ready": true}},
	"ProviderTemplate":     {{"valid": false}, {"valid": true}},
	"ClusterTemplate":      {{"valid": false}, {"valid": true}},
	"ServiceTemplate":      {{"valid": false}, {"valid": true}},
	"ClusterTemplateChain": {{}, {"valid": true}},
	"ServiceTemplateChain": {{}, {"valid": true}},
	"Credential":           {{"ready": false}, {"ready": true}},
	"Management":           {{"conditions": []any{condition("False")}}, {"conditions": []any{condition("True")}}},
	"AccessManagement":     {{"observedGeneration": int64(1), "error": "chain is not found"}, {"observedGeneration": int64(1)}},
}

func condition(state string) map[string]any {
	return map[string]any{"type": "Ready", "status": state, "reason": "Tested", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
}

// healthy evaluates a step's expression for an object as kustomize-controller does: not
// healthy while kcm works, and healthy when it is done.
func healthy(t *testing.T, cluster *harness.Cluster, k, o *unstructured.Unstructured) {
	t.Helper()
	report, known := reports[o.GetKind()]
	if !known {
		return // nothing waits for it
	}
	expression := expressionFor(k, o.GetKind())
	if expression == "" {
		t.Errorf("%s doesn't say when a %s is healthy", k.GetName(), o.GetKind())
		return
	}
	evaluator, err := cel.NewStatusEvaluator(&fluxkustomize.HealthCheckExpressions{Current: expression})
	must(t, err)
	resource, err := cluster.Resource(o.GroupVersionKind(), o.GetNamespace())
	must(t, err)
	for i, want := range []status.Status{status.InProgressStatus, status.CurrentStatus} {
		live, err := resource.Get(context.Background(), o.GetName(), metav1.GetOptions{})
		must(t, err)
		now := maps.Clone(report[i])
		if _, observes := now["observedGeneration"]; observes {
			now["observedGeneration"] = live.GetGeneration()
		}
		live.Object["status"] = now
		live, err = resource.UpdateStatus(context.Background(), live, metav1.UpdateOptions{})
		if err != nil {
			t.Errorf("status of %s %s: %v", o.GetKind(), o.GetName(), err)
			return
		}
		if _, has := live.Object["status"]; !has {
			continue // it is in progress whatever the expression's result
		}
		got, err := evaluator.Evaluate(context.Background(), live)
		if err != nil || got.Status != want {
			t.Errorf("%s %s with status %v is %v, want %s (%v)", o.GetKind(), o.GetName(), report[i], got, want, err)
		}
	}
}

func expressionFor(k *unstructured.Unstructured, kind string) string {
	list, _, _ := unstructured.NestedSlice(k.Object, "spec", "healthCheckExprs")
	for _, item := range list {
		if e := item.(map[string]any); e["kind"] == kind {
			return e["current"].(string)
		}
	}
	return ""
}

// immutable makes the edits that the rule k0rdent-template-edited reports: the API server refuses
// them.
func (m *management) immutable(t *testing.T, cluster *harness.Cluster) {
	t.Helper()
	for _, k := range m.steps {
		path, _, _ := unstructured.NestedString(k.Object, "spec", "path")
		for _, o := range harness.Build(t, filepath.Join(m.dir, path)) {
			switch o.GetKind() {
			case "ClusterTemplate", "ProviderTemplate":
				must(t, unstructured.SetNestedField(o.Object, "9.9.9", "spec", "helm", "chartSpec", "version"))
			case "ClusterTemplateChain", "ServiceTemplateChain":
				must(t, unstructured.SetNestedSlice(o.Object, []any{map[string]any{"name": "other"}}, "spec", "supportedTemplates"))
			default:
				continue
			}
			if err := cluster.Client.Apply(context.Background(), o); err == nil || !strings.Contains(err.Error(), "immutable") {
				t.Errorf("%s %s was edited: %v", o.GetKind(), o.GetName(), err)
			}
		}
	}
}
