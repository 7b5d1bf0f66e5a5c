package apiserver

import (
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// podPolicies returns the evaluator of the admission plugin PodSecurity.
var podPolicies = sync.OnceValues(func() (policy.Evaluator, error) {
	return policy.NewEvaluator(policy.DefaultChecks(), nil)
})

// PodRefused returns the reasons for which the admission plugin PodSecurity refuses the pods of a template at a level
// (such as restricted) and version (such as v1.34 or latest), in the words of the API server. It returns nothing for a level
// or version that does not exist, for a template that cannot be decoded, and for values that contain variables.
func PodRefused(level, version string, template map[string]any) []string {
	if unbounded(template) {
		return nil
	}
	l, wrongLevel := api.ParseLevel(level)
	v, wrongVersion := api.ParseVersion(version)
	evaluator, failed := podPolicies()
	var pod corev1.PodTemplateSpec
	if wrongLevel != nil || wrongVersion != nil || failed != nil ||
		runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"metadata": template["metadata"], "spec": template["spec"]}, &pod) != nil {
		return nil
	}
	var refused []string
	for _, result := range evaluator.EvaluatePod(api.LevelVersion{Level: l, Version: v}, &pod.ObjectMeta, &pod.Spec) {
		text := result.ForbiddenReason
		if result.ForbiddenDetail != "" {
			text += " (" + result.ForbiddenDetail + ")"
		}
		if !result.Allowed && !strings.Contains(text, "${") {
			refused = append(refused, text)
		}
	}
	return refused
}

// PodLabelsRefused returns the errors of the admission plugin PodSecurity for the labels of a Namespace.
func PodLabelsRefused(labels map[string]string) field.ErrorList {
	_, refused := api.PolicyToEvaluate(labels, api.Policy{})
	return refused
}
