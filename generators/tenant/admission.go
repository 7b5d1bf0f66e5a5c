package tenant

import (
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
)

const admissionComment = `What the API server refuses in the tenant's namespaces for every user: fields that reach
outside of them, in Flux's objects and in the tenant's own. docs/tenants.md lists each case.`

// policy is one of a tenant's admission policies. Its name ends in suffix.
type policy struct {
	suffix      string
	resources   []admissionv1.NamedRuleWithOperations
	exempt      []admissionv1.MatchCondition
	variables   []admissionv1.Variable
	validations []admissionv1.Validation
}

// admissionObjects returns the tenant's policies and their bindings, which select its namespaces by label. They
// are cluster-scoped, but the names of different tenants do not collide: each name is the tenant's name and one
// of a few suffixes.
func admissionObjects(spec *v1alpha1.Spec, t *v1alpha1.Tenant) []any {
	var objects []any
	for _, p := range []policy{
		accountPolicy(t),
		sourcePolicy(spec, t),
		referencePolicy(spec, t),
		statusPolicy(spec),
		podPolicy(t),
		exposurePolicy(t),
	} {
		name := "tenant-" + t.Metadata.Name + "-" + p.suffix
		objects = append(objects, admissionPolicy(t, name, p), admissionBinding(t, name))
	}
	return objects
}

// specVariable and annotationsVariable read parts of the object without a type. The policies check kinds with
// different fields, and the API server would otherwise warn about each field that a kind lacks.
var (
	specVariable        = admissionv1.Variable{Name: "spec", Expression: "dyn(object.spec)"}
	annotationsVariable = admissionv1.Variable{Name: "annotations", Expression: "dyn(object.metadata).?annotations.orValue({})"}
)

// Removing a finalizer is an update. Without an exemption, an object that is older than the policy could never
// be deleted. But a tenant could set a finalizer of its own, and Flux uses the object until it is gone.
// Therefore only an update is exempt that changes no checked field.
var (
	sameSpec = []admissionv1.MatchCondition{{Name: "unless-deleted-and-unchanged", Expression: `!has(object.metadata.deletionTimestamp) || oldObject == null ||
  dyn(object).?spec != dyn(oldObject).?spec`}}
	sameSpecAndAnnotations = []admissionv1.MatchCondition{{Name: "unless-deleted-and-unchanged", Expression: sameSpec[0].Expression + ` ||
  dyn(object).metadata.?annotations != dyn(oldObject).metadata.?annotations`}}
)

func resourceRule(group string, resources ...string) admissionv1.NamedRuleWithOperations {
	return operationRule([]admissionv1.OperationType{admissionv1.Create, admissionv1.Update}, group, resources)
}

// createRule matches the creation of objects whose checked fields are immutable.
func createRule(group string, resources ...string) admissionv1.NamedRuleWithOperations {
	return operationRule([]admissionv1.OperationType{admissionv1.Create}, group, resources)
}

func operationRule(operations []admissionv1.OperationType, group string, resources []string) admissionv1.NamedRuleWithOperations {
	return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: operations,
		Rule: admissionv1.Rule{
			APIGroups:   []string{group},
			APIVersions: []string{"*"}, // older ones that a cluster still serves, too
			Resources:   resources,
		},
	}}
}

// inGroups adds API groups to a rule.
func inGroups(rule admissionv1.NamedRuleWithOperations, groups ...string) admissionv1.NamedRuleWithOperations {
	rule.APIGroups = append(rule.APIGroups, groups...)
	return rule
}

func admissionPolicy(t *v1alpha1.Tenant, name string, p policy) *admissionv1.ValidatingAdmissionPolicy {
	return &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta:   emit.TypeMeta(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicy"),
		ObjectMeta: objectMeta(t, name, ""),
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(admissionv1.Fail),
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: p.resources},
			MatchConditions:  p.exempt,
			Variables:        p.variables,
			Validations:      p.validations,
		},
	}
}

func admissionBinding(t *v1alpha1.Tenant, name string) *admissionv1.ValidatingAdmissionPolicyBinding {
	return &admissionv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   emit.TypeMeta(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicyBinding"),
		ObjectMeta: objectMeta(t, name, ""),
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{emit.LabelTenant: t.Metadata.Name}},
			},
		},
	}
}

func validation(expression, message string) admissionv1.Validation {
	return admissionv1.Validation{Expression: expression, Message: message, Reason: new(metav1.StatusReasonForbidden)}
}

// celString returns a string literal for CEL, which has the same escapes as Go.
func celString(s string) string { return strconv.QuoteToASCII(s) }

// celList returns a CEL list of distinct string literals, in order.
func celList(values []string) string {
	var literals []string
	for _, v := range values {
		if l := celString(v); !slices.Contains(literals, l) {
			literals = append(literals, l)
		}
	}
	return "[" + strings.Join(literals, ", ") + "]"
}
