package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// strategies are the API server's own code for the kinds that create pods.
var strategies = map[string]rest.RESTCreateStrategy{
	"Deployment": deployment.Strategy, "StatefulSet": statefulset.Strategy, "DaemonSet": daemonset.Strategy,
	"ReplicaSet": replicaset.Strategy, "Job": job.Strategy, "CronJob": cronjob.Strategy,
}

// TestWorkloads compares what schema-invalid reports about selectors and restart policies with the
// API server's answer for each kind.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kinds, specs []string }{
		{[]string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"}, []string{
			`selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a, b: c}}, spec: POD}`,
			`selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}, spec: POD}`,
			`selector: {matchLabels: {app: a, tier: b}}, template: {metadata: {labels: {app: a}}, spec: POD}`,
			`selector: {matchLabels: {app: a}}, template: {spec: POD}`,
			`selector: {}, template: {metadata: {labels: {app: a}}, spec: POD}`,
			`selector: {matchExpressions: [{key: app, operator: In, values: [a, b]}]}, template: {metadata: {labels: {app: b}}, spec: POD}`,
			`selector: {matchExpressions: [{key: app, operator: In, values: [a, b]}]}, template: {metadata: {labels: {app: c}}, spec: POD}`,
			`selector: {matchExpressions: [{key: app, operator: DoesNotExist}]}, template: {metadata: {labels: {b: c}}, spec: POD}`,
			`selector: {matchExpressions: [{key: app, operator: Exists, values: [a]}]}, template: {metadata: {labels: {app: c}}, spec: POD}`,
			`selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: NEVER}`,
			`selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: ALWAYS}`,
		}},
		{[]string{"Job"}, []string{
			`template: {spec: NEVER}`, `template: {spec: FAILURE}`, `template: {spec: POD}`, `template: {spec: ALWAYS}`,
			`selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: NEVER}`,
			`selector: {}, template: {metadata: {labels: {app: a}}, spec: NEVER}`,
			`manualSelector: true, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: NEVER}`,
			`manualSelector: true, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: b}}, spec: NEVER}`,
			`manualSelector: true, selector: {}, template: {metadata: {labels: {app: b}}, spec: NEVER}`,
			`manualSelector: true, template: {metadata: {labels: {app: b}}, spec: NEVER}`,
		}},
		{[]string{"CronJob"}, []string{
			`jobTemplate: {spec: {template: {spec: NEVER}}}`, `jobTemplate: {spec: {template: {spec: POD}}}`, `jobTemplate: {spec: {template: {spec: ALWAYS}}}`,
			`jobTemplate: {spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: NEVER}}}`,
			`jobTemplate: {spec: {selector: {}, template: {spec: NEVER}}}`,
			`jobTemplate: {spec: {manualSelector: true, template: {spec: NEVER}}}`,
			`jobTemplate: {spec: {manualSelector: true, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: NEVER}}}`,
		}},
	} {
		for _, kind := range c.kinds {
			for i, spec := range c.specs {
				t.Run(fmt.Sprintf("%s %d", kind, i), func(t *testing.T) { sameVerdict(t, kind, podsOf(kind, spec)) })
			}
		}
	}
}

// podsOf returns an object of a kind, with the fields that a spec omits.
func podsOf(kind, spec string) string {
	apiVersion := "apps/v1"
	switch kind {
	case "Job":
		apiVersion = "batch/v1"
	case "CronJob":
		apiVersion, spec = "batch/v1", `schedule: "0 1 * * *", `+spec
	case "StatefulSet":
		spec = "serviceName: a, " + spec
	}
	pod := "containers: [{name: a, image: a}]"
	spec = strings.NewReplacer("POD", "{"+pod+"}", "NEVER", "{"+pod+", restartPolicy: Never}", "FAILURE", "{"+pod+", restartPolicy: OnFailure}",
		"ALWAYS", "{"+pod+", restartPolicy: Always}").Replace(spec)
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: a, namespace: default}\nspec: {%s}\n", apiVersion, kind, spec)
}

func sameVerdict(t *testing.T, kind, text string) {
	t.Helper()
	object, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), []byte(text)) // with defaults
	must(t, err)
	accessor, err := meta.Accessor(object)
	must(t, err)
	rest.FillObjectMetaSystemFields(accessor)
	ctx := request.WithNamespace(t.Context(), metav1.NamespaceDefault)
	refused := rest.BeforeCreate(strategies[kind], ctx, object)

	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600))
	cmd := exec.CommandContext(t.Context(), filepath.Join(harness.Root(t), "bin", "fleetwright"), "validate", dir, "--rules", "schema-*", "--format", "json")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var report struct {
		Findings []struct{ Message string }
	}
	must(t, json.Unmarshal(out, &report))
	if (refused != nil) != (len(report.Findings) > 0) {
		t.Errorf("%sthe API server says %v, and fleetwright %v", text, refused, report.Findings)
	}
	if refused != nil {
		t.Logf("%v\n%v", refused, report.Findings)
	}
}
