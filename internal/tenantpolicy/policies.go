// Package tenantpolicy returns the admission policies of a tenant: what the API server refuses in its namespaces, beyond its
// roles. Rendering a platform generates them, and validate judges a tenant's repository by the same policies.
package tenantpolicy

import (
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tenant contains what a platform allows a tenant.
type Tenant struct {
	Name string
	// SyncNamespace is the namespace of the tenant's source, which Flux applies as SyncAccount; in the Namespaces,
	// Flux acts as Account.
	SyncNamespace, SyncAccount, Account string
	Namespaces, Hosts                   []string
	// URLs are the allowed URLs of sources; URLs that begin with one of the Prefixes, which end in a slash, are also allowed.
	URLs, Prefixes []string
	// Admin reports whether the tenant's accounts have Kubernetes' role admin.
	Admin bool
	// Repository is the URL of the platform's repository if the tenant's source is a Branch of it; else "".
	Repository, Branch string
	// Controllers are the groups of the accounts of Flux and its operator.
	Controllers []string
}

// Policy is one of a tenant's admission policies. Its name ends in Suffix.
type Policy struct {
	Suffix string
	Spec   admissionv1.ValidatingAdmissionPolicySpec
}

// Of returns the policies of a tenant.
func Of(t Tenant) []Policy {
	var all []Policy
	for _, p := range []policy{accountPolicy(t), sourcePolicy(t), referencePolicy(t), statusPolicy(t), podPolicy(t), exposurePolicy(t)} {
		all = append(all, Policy{p.suffix, admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(admissionv1.Fail),
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: p.resources},
			MatchConditions:  p.exempt,
			Variables:        p.variables,
			Validations:      p.validations,
		}})
	}
	return all
}

// policy is the content of a policy.
type policy struct {
	suffix      string
	resources   []admissionv1.NamedRuleWithOperations
	exempt      []admissionv1.MatchCondition
	variables   []admissionv1.Variable
	validations []admissionv1.Validation
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
