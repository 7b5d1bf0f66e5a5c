package tenant

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/generators/emit"
)

const admissionComment = `What the API server refuses in the tenant's namespaces, whoever asks: sources that
are not the tenant's, Flux objects that would run as somebody else, and artifacts that
Flux has not pulled.`

// fluxReconcilers, fluxSources and fluxArtifacts are what the policies judge. A
// HelmChart needs no rule but that of its status: it can only name a source of its
// own namespace, and helm-controller makes it. What the Flux Operator makes of a
// ResourceSet it makes as cluster-admin, unless that names an account; its manifests
// let Kubernetes' own roles edit and admin write them
// (https://fluxoperator.dev/docs/crd/resourceset/#role-based-access-control).
var (
	fluxReconcilers = []admissionv1.NamedRuleWithOperations{
		resourceRule("kustomize.toolkit.fluxcd.io", "kustomizations"),
		resourceRule("helm.toolkit.fluxcd.io", "helmreleases"),
		resourceRule("fluxcd.controlplane.io", "resourcesets"),
	}
	fluxSources = []admissionv1.NamedRuleWithOperations{
		resourceRule("source.toolkit.fluxcd.io", "buckets", "gitrepositories", "helmrepositories", "ocirepositories"),
	}
	fluxArtifacts = []admissionv1.NamedRuleWithOperations{
		resourceRule("source.toolkit.fluxcd.io", "*/status"),
	}
)

func resourceRule(group string, resources ...string) admissionv1.NamedRuleWithOperations {
	return admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
		Rule: admissionv1.Rule{
			APIGroups:   []string{group},
			APIVersions: []string{"*"}, // older ones that a cluster still serves, too
			Resources:   resources,
		},
	}}
}

// admissionObjects are the tenant's policies and their bindings, by the label of its
// namespaces. They are cluster-wide objects; no two tenants' names meet, since
// all end in a word of which there are three, and the rest is the tenant's name.
func admissionObjects(spec *v1alpha1.Spec, t *v1alpha1.Tenant) []any {
	var objects []any
	add := func(suffix string, rules []admissionv1.NamedRuleWithOperations, variables []admissionv1.Variable, validations []admissionv1.Validation) {
		name := "tenant-" + t.Metadata.Name + "-" + suffix
		objects = append(objects, admissionPolicy(t, name, rules, variables, validations), admissionBinding(t, name))
	}
	add("accounts", fluxReconcilers, []admissionv1.Variable{specVariable}, accountRules(t))
	add("sources", fluxSources, []admissionv1.Variable{specVariable, {Name: "url", Expression: sourceURL}}, sourceRules(spec, t))
	add("artifacts", fluxArtifacts, nil, artifactRules())
	return objects
}

// specVariable takes the object's spec without a type: the policies judge kinds
// with different fields, and the API server would warn about each that one of
// them lacks.
var specVariable = admissionv1.Variable{Name: "spec", Expression: "dyn(object.spec)"}

func admissionPolicy(t *v1alpha1.Tenant, name string, rules []admissionv1.NamedRuleWithOperations, variables []admissionv1.Variable, validations []admissionv1.Validation) *admissionv1.ValidatingAdmissionPolicy {
	return &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta:   emit.TypeMeta(admissionv1.SchemeGroupVersion, "ValidatingAdmissionPolicy"),
		ObjectMeta: objectMeta(t, name, ""),
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(admissionv1.Fail),
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: rules},
			// The removal of a finalizer is an update: without this, an object
			// from before the policy could never be deleted.
			MatchConditions: []admissionv1.MatchCondition{
				{Name: "not-being-deleted", Expression: "!has(object.metadata.deletionTimestamp)"},
			},
			Variables:   variables,
			Validations: validations,
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

// accountRules keep Flux's controllers from acting as somebody else, on another
// cluster, or with another namespace's source.
func accountRules(t *v1alpha1.Tenant) []admissionv1.Validation {
	return []admissionv1.Validation{
		validation(
			"variables.spec.?serviceAccountName.orValue(\"\") ==\n  (object.metadata.namespace == "+celString(t.Spec.SyncNamespace)+
				" ? "+celString(kustomizeAccount(t))+" : "+celString(helmAccount(t))+")",
			"spec.serviceAccountName must be "+helmAccount(t)+", and in "+t.Spec.SyncNamespace+" "+kustomizeAccount(t)),
		validation("!has(variables.spec.kubeConfig)",
			"spec.kubeConfig is not allowed: a tenant deploys to this cluster"),
		validation(`[
  variables.spec.?sourceRef.?namespace,
  variables.spec.?chartRef.?namespace,
  variables.spec.?chart.?spec.?sourceRef.?namespace
].all(ns, ns.orValue("") in ["", string(object.metadata.namespace)])`,
			"a source of another namespace is not allowed"),
	}
}

// sourceURL is where a source is pulled from. A Bucket has no URL of its own: it
// is judged as https://ENDPOINT/BUCKET.
const sourceURL = `has(variables.spec.url) ? variables.spec.url :
  (variables.spec.?insecure.orValue(false) ? "http://" : "https://") +
  variables.spec.endpoint + "/" + variables.spec.bucketName`

// deceptive matches URLs that may lead elsewhere than their beginning says:
// escapes, queries, empty and dot segments.
const deceptive = `[\s\\%?#]|//.*//|/\.\.?(/|$)`

// sourceRules let only the tenant's sources through: its own, the chart of the
// starter in its repository, and what spec.allowedSources begins with. A prefix
// ends at a slash: https://host/org is no prefix of https://host/org-evil.
func sourceRules(spec *v1alpha1.Spec, t *v1alpha1.Tenant) []admissionv1.Validation {
	exact := []string{t.Spec.Source.URL}
	if hasTarget(t) {
		exact = append(exact, starterChart)
	}
	prefixes := make([]string, 0, len(t.Spec.AllowedSources))
	for _, allowed := range t.Spec.AllowedSources {
		exact = append(exact, allowed)
		prefixes = append(prefixes, strings.TrimRight(allowed, "/")+"/")
	}
	allowed := "variables.url in " + celList(exact)
	if len(prefixes) > 0 {
		allowed += " ||\n  (!variables.url.matches(" + celString(deceptive) + ") &&\n  " +
			celList(prefixes) + ".exists(prefix, variables.url.startsWith(prefix)))"
	}
	rules := []admissionv1.Validation{
		validation(allowed, "the source's URL is not allowed: the platform lists a tenant's in spec.allowedSources of Tenant "+t.Metadata.Name),
		validation("!variables.spec.?recurseSubmodules.orValue(false)",
			"spec.recurseSubmodules is not allowed: submodules may come from anywhere"),
	}
	if spec.OnPlatformRepository(t) {
		rules = append(rules, branchRule(spec, t))
	}
	return rules
}

// branchRule keeps a tenant on a branch of the platform repository from reading
// another one: its credentials open the whole repository.
func branchRule(spec *v1alpha1.Spec, t *v1alpha1.Tenant) admissionv1.Validation {
	branch := t.Spec.Source.Branch
	return validation(
		"!variables.url.lowerAscii().matches("+celString(repositoryPattern(spec.Fleet.Spec.Repository.URL))+") ||\n"+
			`  (variables.spec.?ref.?branch.orValue("") == `+celString(branch)+" &&\n"+
			`  !["tag", "semver", "name", "commit"].exists(other, other in variables.spec.ref))`,
		"in the platform repository only spec.ref.branch "+strconv.Quote(branch)+" is allowed")
}

// repositoryPattern matches the URLs of a repository in lower case, whatever the
// protocol, user, port, and what Git hosts ignore.
func repositoryPattern(url string) string {
	_, rest, _ := strings.Cut(strings.ToLower(url), "://")
	host, path, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndex(host, "@")+1:]
	host, _, _ = strings.Cut(host, ":")
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	return "^[a-z]+://([^/]*@)?" + regexp.QuoteMeta(host) + "(:[0-9]*)?/+" + strings.ReplaceAll(regexp.QuoteMeta(path), "/", "/+") + `(\.git)?/*$`
}

// artifactRules let nobody but Flux's controllers write a source's status. It says
// where an artifact is pulled from and what its digest is, so that who writes it
// deploys from anywhere. The ClusterRole admin, to which Flux adds its kinds with
// all subresources, lets a tenant do so.
func artifactRules() []admissionv1.Validation {
	return []admissionv1.Validation{validation(
		celString("system:serviceaccounts:"+emit.FluxNamespace)+" in request.userInfo.groups",
		"the status of a source is written by Flux's controllers only: it says what is deployed")}
}

// celString is a string literal of CEL, whose escapes are those of Go.
func celString(s string) string { return strconv.QuoteToASCII(s) }

// celList is a list of distinct string literals, in order.
func celList(values []string) string {
	var literals []string
	for _, v := range values {
		if l := celString(v); !slices.Contains(literals, l) {
			literals = append(literals, l)
		}
	}
	return "[" + strings.Join(literals, ", ") + "]"
}
