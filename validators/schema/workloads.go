package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
)

// workload is a kind that creates pods from a template, with the API server's requirements that no schema covers.
type workload struct {
	apiVersion, kind string
	// spec is the path of the field that contains the template.
	spec []any
	// restart are the allowed restart policies. needed reports whether the policy is required.
	restart []string
	needed  bool
	// generated reports whether the API server sets the selector, unless spec.manualSelector is true.
	generated bool
}

// workloads are the kinds that the API server validates by more than their schemas.
// Source: k8s.io/kubernetes v1.36, pkg/apis/apps/validation (ValidateDeploymentSpec, ValidateStatefulSetSpec,
// ValidateDaemonSetSpec, ValidateReplicaSetSpec) and pkg/apis/batch/validation (ValidateJobSpec,
// validateGeneratedSelector, validateJobTemplateSpec).
var workloads = []workload{
	{apiVersion: "apps/v1", kind: "Deployment", spec: []any{"spec"}, restart: []string{"Always"}},
	{apiVersion: "apps/v1", kind: "StatefulSet", spec: []any{"spec"}, restart: []string{"Always"}},
	{apiVersion: "apps/v1", kind: "DaemonSet", spec: []any{"spec"}, restart: []string{"Always"}},
	{apiVersion: "apps/v1", kind: "ReplicaSet", spec: []any{"spec"}, restart: []string{"Always"}},
	{apiVersion: "batch/v1", kind: "Job", spec: []any{"spec"}, restart: []string{"OnFailure", "Never"}, needed: true, generated: true},
	{apiVersion: "batch/v1", kind: "CronJob", spec: []any{"spec", "jobTemplate", "spec"}, restart: []string{"OnFailure", "Never"}, needed: true, generated: true},
}

// restartPolicies are all restart policies; the schema reports other values.
var restartPolicies = []string{"Always", "OnFailure", "Never"}

// workloadProblems returns a problem if a workload's selector does not match its own pods, or if its pods cannot have
// their restart policy. Values with variables and encrypted values are not checked.
func workloadProblems(object map[string]any) []schemas.Problem {
	o := &reconcile.Object{Value: object}
	i := slices.IndexFunc(workloads, func(w workload) bool { return w.apiVersion == o.Text("apiVersion") && w.kind == o.Text("kind") })
	if i < 0 {
		return nil
	}
	w := workloads[i]
	if _, isMap := o.Field(w.at("template")...).(map[string]any); !isMap {
		return nil // the schema reports it
	}
	return append(w.selector(o), w.restarts(o)...)
}

// at returns a path below the workload's spec.
func (w workload) at(path ...any) []any { return slices.Concat(w.spec, path) }

// problem returns a problem of a workload at a path.
func (w workload) problem(path []any, hint, format string, args ...any) []schemas.Problem {
	return []schemas.Problem{{Kind: schemas.Invalid, Path: path, Required: true, Message: schemas.Field(path) + " " + fmt.Sprintf(format, args...), Hint: hint}}
}

func (w workload) restarts(o *reconcile.Object) []schemas.Problem {
	path := w.at("template", "spec", "restartPolicy")
	value := o.Field(path...)
	policy, isText := value.(string)
	wanted := `"` + strings.Join(w.restart, `" or "`) + `"`
	switch {
	case value == nil && w.needed && o.Field(w.at("template", "spec")...) != nil:
		return w.problem(path, `a `+w.kind+` does not allow "Always", the default`, "is required: %s", wanted)
	case isText && slices.Contains(restartPolicies, policy) && !slices.Contains(w.restart, policy):
		return w.problem(path, "", "is %q, but the pods of a %s can only have %s", policy, w.kind, wanted)
	}
	return nil
}

func (w workload) selector(o *reconcile.Object) []schemas.Problem {
	path, manual := w.at("selector"), o.Field(w.at("manualSelector")...) == true
	fields, isMap := o.Field(path...).(map[string]any)
	switch {
	case manual && w.kind == "CronJob":
		return w.problem(w.at("manualSelector"), "remove it", "is not allowed in a CronJob")
	case manual && o.Field(path...) == nil:
		return w.problem(path, "", "is required with manualSelector")
	}
	if !isMap || holdsUnknown(fields) || holdsUnknown(o.Field(w.at("template", "metadata", "labels")...)) {
		return nil
	}
	var s metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &s) != nil {
		return nil // the schema reports it
	}
	if w.generated && !manual {
		return w.notGenerated(s)
	}
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		if w.generated {
			return nil
		}
		return w.problem(path, "add a label to the template's pods, and select it", "is empty: the API server refuses it")
	}
	return w.mismatch(o, s)
}

// notGenerated reports a selector that the API server sets itself. It accepts one with the label names that the API
// server uses: this is a copy of an object in the cluster.
func (w workload) notGenerated(s metav1.LabelSelector) []schemas.Problem {
	if w.kind == "Job" {
		if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
			return nil
		}
		for key := range s.MatchLabels {
			if name := key[strings.LastIndexByte(key, '/')+1:]; name == "controller-uid" || name == "job-name" {
				return nil
			}
		}
	}
	return w.problem(w.at("selector"), "remove it", "is set by the API server, which refuses another value")
}

// mismatch returns the part of the selector that the labels of the template do not match.
func (w workload) mismatch(o *reconcile.Object, s metav1.LabelSelector) []schemas.Problem {
	path := w.at("template", "metadata", "labels")
	own := labels.Set{}
	fields, _ := o.Field(path...).(map[string]any)
	for key, value := range fields {
		text, isText := value.(string)
		if !isText {
			return nil // the schema reports it
		}
		own[key] = text
	}
	const hint = "the API server refuses a selector that does not match the template's labels"
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		want := s.MatchLabels[key]
		switch has, ok := own[key]; {
		case !ok:
			return w.problem(append(path, key), hint, "is missing, but spec.selector requires %q", want)
		case has != want:
			return w.problem(append(path, key), hint, "is %q, but spec.selector requires %q", has, want)
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: s.MatchExpressions})
	switch {
	case err != nil:
		return w.problem(w.at("selector", "matchExpressions"), "", "is refused: %v", err)
	case !selector.Matches(own):
		return w.problem(path, hint, "do not match %q of spec.selector", selector)
	}
	return nil
}

// holdsUnknown reports whether a string in a value, or the name of a field, contains a variable or is encrypted.
func holdsUnknown(value any) bool {
	switch value := value.(type) {
	case string:
		return strings.Contains(value, "${") || strings.HasPrefix(value, "ENC[")
	case []any:
		return slices.ContainsFunc(value, holdsUnknown)
	case map[string]any:
		for key, v := range value {
			if strings.Contains(key, "${") || holdsUnknown(v) {
				return true
			}
		}
	}
	return false
}
