package tenant

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// The costs of an expression besides CEL's own cost. A policy that Fleetwright generates costs a few hundred.
const (
	// byteCost is the cost of each byte of a compiled expression.
	byteCost = 25
	// matchCost is the cost of each rule of a policy that is compared with an object. stepCost is the cost of
	// each evaluated expression.
	matchCost = 1
	stepCost  = 20
)

// evaluator evaluates the expressions of policies. All clusters share it, because they usually have the same
// policies and tenants.
type evaluator struct {
	env      *cel.Env
	programs map[string]cel.Program
	// passed caches the arguments that expressions pass to functions whose cost CEL does not limit.
	passed   map[string]passing
	verdicts map[[3]digest]verdict
	digests  map[*reconcile.Object]digest
	spent    uint64
	// unit is the policy that is being evaluated. exceeded are the policies that exceed a limit, with the
	// reason.
	unit     bounds.Unit
	exceeded map[*reconcile.Object]string
}

// verdict is the result of a policy for an object: the message if it rejects the object, else "". undecided
// reports that it could not be evaluated.
type verdict struct {
	message   string
	undecided bool
}

func newEvaluator() (*evaluator, error) {
	env, err := environment.MustBaseEnvSet(version.MajorMinor(1, 33)).Env(environment.StoredExpressions)
	if err != nil {
		return nil, err
	}
	return &evaluator{env: env, programs: map[string]cel.Program{}, passed: map[string]passing{}, verdicts: map[[3]digest]verdict{},
		digests: map[*reconcile.Object]digest{}, exceeded: map[*reconcile.Object]string{}}, nil
}

// admission checks objects against the ValidatingAdmissionPolicies of a cluster.
type admission struct {
	*evaluator
	cluster *cluster
	// byLabel are the policies whose binding selects namespaces by a label, by KEY=VALUE. others are all other policies.
	byLabel map[string][]boundPolicy
	others  []boundPolicy
	// parameterised are the policies with parameters, which are known only in the cluster.
	parameterised []boundPolicy
	// first is the first policy without parameters; nil if there is none.
	first  *reconcile.Object
	labels map[string]map[string]any
}

// withPolicies calls judge for each cluster that has tenants, with its admission policies.
func withPolicies(p *rule.Pass, judge func(*cluster, *admission)) {
	own := clusters(p)
	if len(own) == 0 {
		return
	}
	e, err := newEvaluator()
	if err != nil {
		p.Unresolved(finding.Place{}, "admission policies cannot be evaluated: "+err.Error())
		return
	}
	for _, c := range own {
		judge(c, e.admission(c))
	}
	e.report(p)
}

// boundPolicy is a policy with a binding whose action is Deny.
type boundPolicy struct{ policy, binding *reconcile.Object }

// refusal is a policy that rejects an object, or the pods of its template, with its message.
type refusal struct {
	policy  *reconcile.Object
	message string
	pods    bool
}

// what describes the refused object or pod.
func (r *refusal) what(o *reconcile.Object) string {
	if r.pods {
		return "a pod of " + o.String() + " is refused"
	}
	return o.String() + " is refused"
}

// admission collects the policies of a cluster whose bindings deny.
func (e *evaluator) admission(c *cluster) *admission {
	a := &admission{evaluator: e, cluster: c, byLabel: map[string][]boundPolicy{}, labels: map[string]map[string]any{}}
	for _, binding := range c.Objects() {
		if binding.Group != admissionGroup || binding.Kind != "ValidatingAdmissionPolicyBinding" || !slices.Contains(texts(binding, "spec", "validationActions"), "Deny") {
			continue
		}
		id := reconcile.Identity{Group: admissionGroup, Kind: "ValidatingAdmissionPolicy", Name: binding.Text("spec", "policyName")}
		for _, policy := range c.Find(id) {
			if policy.Field("spec", "paramKind") == nil {
				a.add(boundPolicy{policy, binding})
			} else {
				a.parameterised = append(a.parameterised, boundPolicy{policy, binding})
			}
		}
	}
	return a
}

func (a *admission) add(b boundPolicy) {
	a.first = cmp.Or(a.first, b.policy)
	labels, _ := b.binding.Field("spec", "matchResources", "namespaceSelector", "matchLabels").(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		at := fmt.Sprintf("%s=%v", key, labels[key])
		a.byLabel[at] = append(a.byLabel[at], b)
		return
	}
	a.others = append(a.others, b)
}

// errUndecided is the error for a policy that depends on something that is known only in the cluster.
var errUndecided = errors.New("not decided")

// request is an admission request: an object is created or updated.
type request struct {
	object *reconcile.Object
	// resource is the resource of the object in the rules of policies, with its subresource.
	resource string
	// old is the object before an update; nil if it is created.
	old map[string]any
	// by is the service account that sends the request; nil if it is unknown.
	by *account
	// generated limits the request to the policies that Fleetwright generates for this tenant; nil for all policies.
	generated *tenant
}

func (r request) operation() string {
	if r.old != nil {
		return "UPDATE"
	}
	return "CREATE"
}

// judge returns the first policy without parameters that rejects a request. undecided reports whether a policy
// could not be evaluated.
func (a *admission) judge(ctx context.Context, r request) (found *refusal, undecided bool) {
	o := r.object
	if a.isSpent() {
		a.exceed(a.first, errTotal)
		return nil, len(a.others)+len(a.byLabel) > 0
	}
	for _, b := range a.candidates(o.Namespace) {
		if r.generated != nil && !strings.HasPrefix(b.policy.Name, "tenant-"+r.generated.name+"-") {
			continue
		}
		a.spent += matchCost * uint64(1+len(b.policy.List("spec", "matchConstraints", "resourceRules"))+len(b.binding.List("spec", "matchResources", "resourceRules")))
		if !a.matches(b.policy, r, "matchConstraints") || !a.matches(b.binding, r, "matchResources") {
			continue
		}
		v := a.verdict(ctx, b.policy, r)
		if v.message != "" {
			return &refusal{policy: b.policy, message: v.message}, false
		}
		undecided = undecided || v.undecided
	}
	return nil, undecided
}

// refuses returns the first policy without parameters that rejects an object which an account applies, or a pod that a
// controller creates from its template. The account is used only if a policy depends on it, because all other results are
// the same for all accounts. With generated, only the policies that Fleetwright generates for that tenant are evaluated.
func (a *admission) refuses(ctx context.Context, o *reconcile.Object, by account, generated *tenant) (found *refusal, undecided bool) {
	gv, err := apischema.ParseGroupVersion(o.APIVersion)
	if err != nil {
		return nil, false
	}
	resource, _ := apimeta.UnsafeGuessKindToResource(gv.WithKind(o.Kind))
	r := request{object: o, resource: resource.Resource, generated: generated}
	found, undecided = a.judge(ctx, r)
	if undecided {
		r.by = &by
		found, undecided = a.judge(ctx, r)
	}
	if found != nil || o.Group != appsGroup && o.Group != batchGroup {
		return found, undecided
	}
	pod := podFrom(o)
	if pod.object.Field("spec") == nil {
		return nil, undecided
	}
	pod.generated = generated
	pod.by = nil // the cluster decides which account its controllers use
	found, later := a.judge(ctx, pod)
	if found != nil {
		found.pods = true
	}
	return found, found == nil && (undecided || later)
}

// decide is like judge, for callers that report requests that are not rejected. It also returns undecided if a policy
// with parameters may reject the request.
func (a *admission) decide(ctx context.Context, r request) (found *refusal, undecided bool) {
	found, undecided = a.judge(ctx, r)
	return found, undecided || found == nil && slices.ContainsFunc(a.parameterised, func(b boundPolicy) bool {
		return a.matches(b.policy, r, "matchConstraints") && a.matches(b.binding, r, "matchResources")
	})
}

// candidates returns the policies without parameters that may apply to a namespace.
func (a *admission) candidates(namespace string) []boundPolicy {
	candidates := slices.Clone(a.others)
	labels := a.namespaceLabels(namespace)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		candidates = append(candidates, a.byLabel[fmt.Sprintf("%s=%v", key, labels[key])]...)
	}
	return candidates
}

// digest identifies a value.
type digest = [sha256.Size]byte

// digestOf returns the digest of an object's value. It returns false if there is none.
func (e *evaluator) digestOf(o *reconcile.Object) (digest, bool) {
	if known, ok := e.digests[o]; ok {
		return known, true
	}
	data, err := json.Marshal(o.Value)
	if err != nil {
		return digest{}, false
	}
	e.digests[o] = sha256.Sum256(data)
	return e.digests[o], true
}

// verdict returns the verdict of a policy about a request. Verdicts about created objects are cached.
func (a *admission) verdict(ctx context.Context, policy *reconcile.Object, r request) verdict {
	o := r.object
	if r.old != nil || r.by != nil {
		message, err := a.validate(ctx, policy, r)
		return verdict{message, err != nil}
	}
	of, ok := a.digestOf(policy)
	about, also := a.digestOf(o)
	var in digest
	if namespace := a.cluster.namespace(o.Namespace); namespace != nil {
		in, _ = a.digestOf(namespace)
	}
	if !ok || !also {
		return verdict{undecided: true}
	}
	key := [3]digest{of, about, in}
	v, known := a.verdicts[key]
	if !known {
		message, err := a.validate(ctx, policy, r)
		v = verdict{message, err != nil}
		a.verdicts[key] = v
	}
	return v
}

// matches reports whether a policy, or its binding, applies to a request.
func (a *admission) matches(of *reconcile.Object, r request, field string) bool {
	o := r.object
	if of.Field("spec", field) == nil {
		return field == "matchResources"
	}
	if !selects(of.Field("spec", field, "namespaceSelector"), a.namespaceLabels(o.Namespace)) ||
		!selects(of.Field("spec", field, "objectSelector"), o.Field("metadata", "labels")) {
		return false
	}
	if rules := of.List("spec", field, "resourceRules"); len(rules) > 0 && !anyRule(of, r, len(rules), "spec", field, "resourceRules") {
		return false
	} else if len(rules) == 0 && field == "matchConstraints" {
		return false
	}
	return !anyRule(of, r, len(of.List("spec", field, "excludeResourceRules")), "spec", field, "excludeResourceRules")
}

func anyRule(of *reconcile.Object, r request, count int, at ...any) bool {
	o := r.object
	for i := range count {
		list := func(name string) []string { return texts(of, append(slices.Clone(at), i, name)...) }
		names := list("resourceNames")
		if has(list("apiGroups"), o.Group) && r.isAmong(list("resources")) && has(list("operations"), r.operation()) &&
			(len(names) == 0 || slices.Contains(names, o.Name)) && has(list("apiVersions"), o.APIVersion[strings.LastIndex(o.APIVersion, "/")+1:]) {
			return true
		}
	}
	return false
}

// isAmong reports whether the resources of a rule include the resource of the request. * includes every resource but no
// subresource.
func (r request) isAmong(resources []string) bool {
	resource, subresource, sub := strings.Cut(r.resource, "/")
	if !sub {
		return has(resources, resource)
	}
	return slices.ContainsFunc([]string{r.resource, "*/" + subresource, resource + "/*", "*/*"}, func(name string) bool {
		return slices.Contains(resources, name)
	})
}

// namespaceLabels returns the labels of a namespace as the API server sees them, with the name label that it
// adds.
func (a *admission) namespaceLabels(name string) map[string]any {
	if labels, known := a.labels[name]; known {
		return labels
	}
	labels := map[string]any{"kubernetes.io/metadata.name": name}
	if o := a.cluster.namespace(name); o != nil {
		own, _ := o.Field("metadata", "labels").(map[string]any)
		for k, v := range own {
			labels[k] = v
		}
	}
	a.labels[name] = labels
	return labels
}

// input returns the variables that the expressions of policies can use for a request.
func (a *admission) input(r request) map[string]any {
	o := r.object
	about := map[string]any{"operation": r.operation(), "namespace": o.Namespace, "name": o.Name}
	if r.by != nil {
		about["userInfo"] = map[string]any{
			"username": "system:serviceaccount:" + r.by.namespace + ":" + r.by.name,
			"groups":   []any{"system:serviceaccounts", "system:serviceaccounts:" + r.by.namespace, "system:authenticated"},
		}
	}
	var old any
	if r.old != nil {
		old = r.old
	}
	return map[string]any{
		"object": o.Value, "oldObject": old, "params": nil, "variables": map[string]any{}, "request": about,
		"namespaceObject": map[string]any{"metadata": map[string]any{"name": o.Namespace, "labels": a.namespaceLabels(o.Namespace)}},
	}
}

// validate evaluates a policy for a request. It returns the message if the policy rejects the request, else "".
func (a *admission) validate(ctx context.Context, policy *reconcile.Object, r request) (string, error) {
	a.unit = bounds.Unit{Kind: "policy", File: policy.File, Line: policy.Line, Name: policy.String()}
	input := a.input(r)
	vars, _ := input["variables"].(map[string]any)
	for i := range policy.List("spec", "matchConditions") {
		ok, err := a.evaluate(ctx, policy.Text("spec", "matchConditions", i, "expression"), input)
		a.exceed(policy, err)
		if err != nil || ok != types.True.Value() {
			return "", err
		}
	}
	for i := range policy.List("spec", "variables") {
		value, err := a.evaluate(ctx, policy.Text("spec", "variables", i, "expression"), input)
		a.exceed(policy, err)
		if err == nil { // a variable that fails matters only if it is used
			vars[policy.Text("spec", "variables", i, "name")] = value
		}
	}
	undecided := error(nil)
	for i := range policy.List("spec", "validations") {
		expression := policy.Text("spec", "validations", i, "expression")
		switch ok, err := a.evaluate(ctx, expression, input); {
		case err != nil:
			a.exceed(policy, err)
			undecided = err
		case ok == false:
			if message := policy.Text("spec", "validations", i, "message"); message != "" {
				return message, nil
			}
			return fmt.Sprintf("it violates the rule %q", strings.Join(strings.Fields(expression), " ")), nil
		}
	}
	return "", undecided
}
