package tenant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/fleetwright/fleetwright/internal/reconcile"
)

// The limits of evaluating policies, which come from the repository: an expression's cost
// as the API server bounds it, and how many objects and expressions are looked at.
// Source: k8s.io/apiserver/pkg/apis/cel.
const (
	mostCost        = 10_000_000
	mostEvaluations = 10_000
	mostExpression  = 20_000
)

// admission judges objects by the ValidatingAdmissionPolicies of a cluster.
type admission struct {
	cluster     *cluster
	env         *cel.Env
	bound       []boundPolicy
	programs    map[string]cel.Program
	evaluations int
}

// boundPolicy is a policy with a binding that denies.
type boundPolicy struct{ policy, binding *reconcile.Object }

// refusal is what a policy says about an object that it refuses.
type refusal struct {
	policy  *reconcile.Object
	message string
}

// newAdmission gathers the policies of a cluster that deny. Those with parameters are left
// out.
func newAdmission(c *cluster) (*admission, error) {
	env, err := environment.MustBaseEnvSet(version.MajorMinor(1, 33)).Env(environment.StoredExpressions)
	if err != nil {
		return nil, err
	}
	var vars []cel.EnvOption
	for _, name := range []string{"object", "oldObject", "request", "namespaceObject", "variables", "params"} {
		vars = append(vars, cel.Variable(name, cel.DynType))
	}
	if env, err = env.Extend(vars...); err != nil {
		return nil, err
	}
	a := &admission{cluster: c, env: env, programs: map[string]cel.Program{}}
	for _, binding := range c.Objects() {
		if binding.Group != admissionGroup || binding.Kind != "ValidatingAdmissionPolicyBinding" || !slices.Contains(texts(binding, "spec", "validationActions"), "Deny") {
			continue
		}
		id := reconcile.Identity{Group: admissionGroup, Kind: "ValidatingAdmissionPolicy", Name: binding.Text("spec", "policyName")}
		for _, policy := range c.Find(id) {
			if policy.Field("spec", "paramKind") == nil {
				a.bound = append(a.bound, boundPolicy{policy, binding})
			}
		}
	}
	return a, nil
}

// errUndecided says that a policy needs what only the cluster knows.
var errUndecided = errors.New("not decided")

// judge returns the first refusal of an object. Undecided says that a policy could not be
// evaluated.
func (a *admission) judge(ctx context.Context, o *reconcile.Object, resource string) (found *refusal, undecided bool) {
	for _, b := range a.bound {
		if !a.matches(b.policy, o, resource, "matchConstraints") || !a.matches(b.binding, o, resource, "matchResources") {
			continue
		}
		message, err := a.validate(ctx, b.policy, o)
		switch {
		case err != nil:
			undecided = true
		case message != "":
			return &refusal{b.policy, message}, false
		}
	}
	return nil, undecided
}

// matches says whether a policy, or its binding, is about an object.
func (a *admission) matches(of, o *reconcile.Object, resource, field string) bool {
	if of.Field("spec", field) == nil {
		return field == "matchResources"
	}
	if !selects(of.Field("spec", field, "namespaceSelector"), a.namespaceLabels(o.Namespace)) ||
		!selects(of.Field("spec", field, "objectSelector"), o.Field("metadata", "labels")) {
		return false
	}
	if rules := of.List("spec", field, "resourceRules"); len(rules) > 0 && !anyRule(of, o, resource, len(rules), "spec", field, "resourceRules") {
		return false
	} else if len(rules) == 0 && field == "matchConstraints" {
		return false
	}
	return !anyRule(of, o, resource, len(of.List("spec", field, "excludeResourceRules")), "spec", field, "excludeResourceRules")
}

func anyRule(of, o *reconcile.Object, resource string, count int, at ...any) bool {
	for i := range count {
		list := func(name string) []string { return texts(of, append(slices.Clone(at), i, name)...) }
		names := list("resourceNames")
		operations := list("operations")
		if has(list("apiGroups"), o.Group) && has(list("resources"), resource) && (has(operations, "CREATE") || has(operations, "UPDATE")) &&
			(len(names) == 0 || slices.Contains(names, o.Name)) && has(list("apiVersions"), o.APIVersion[strings.LastIndex(o.APIVersion, "/")+1:]) {
			return true
		}
	}
	return false
}

// namespaceLabels are those that the API server sees, with the one that it adds.
func (a *admission) namespaceLabels(name string) map[string]any {
	labels := map[string]any{"kubernetes.io/metadata.name": name}
	if o := a.cluster.namespace(name); o != nil {
		given, _ := o.Field("metadata", "labels").(map[string]any)
		for k, v := range given {
			labels[k] = v
		}
	}
	return labels
}

// selects evaluates a label selector.
func selects(selector, of any) bool {
	s, _ := selector.(map[string]any)
	labels, _ := of.(map[string]any)
	want, _ := s["matchLabels"].(map[string]any)
	for k, v := range want {
		if given, there := labels[k]; !there || given != v {
			return false
		}
	}
	expressions, _ := s["matchExpressions"].([]any)
	for _, e := range expressions {
		e, _ := e.(map[string]any)
		key, _ := e["key"].(string)
		values, _ := e["values"].([]any)
		given, there := labels[key]
		ok := false
		switch e["operator"] {
		case "In":
			ok = there && slices.Contains(values, given)
		case "NotIn":
			ok = !there || !slices.Contains(values, given)
		case "Exists":
			ok = there
		case "DoesNotExist":
			ok = !there
		}
		if !ok {
			return false
		}
	}
	return true
}

// validate evaluates a policy on an object, and gives the message of what it refuses, or
// "".
func (a *admission) validate(ctx context.Context, policy, o *reconcile.Object) (string, error) {
	vars := map[string]any{}
	input := map[string]any{
		"object": o.Value, "oldObject": nil, "params": nil, "variables": vars,
		"namespaceObject": map[string]any{"metadata": map[string]any{"name": o.Namespace, "labels": a.namespaceLabels(o.Namespace)}},
		"request":         map[string]any{"operation": "CREATE", "namespace": o.Namespace, "name": o.Name},
	}
	for i := range policy.List("spec", "matchConditions") {
		ok, err := a.evaluate(ctx, policy.Text("spec", "matchConditions", i, "expression"), input)
		if err != nil || ok != types.True.Value() {
			return "", err
		}
	}
	for i := range policy.List("spec", "variables") {
		value, err := a.evaluate(ctx, policy.Text("spec", "variables", i, "expression"), input)
		if err == nil { // one that fails is missed only where it is used
			vars[policy.Text("spec", "variables", i, "name")] = value
		}
	}
	undecided := error(nil)
	for i := range policy.List("spec", "validations") {
		expression := policy.Text("spec", "validations", i, "expression")
		switch ok, err := a.evaluate(ctx, expression, input); {
		case err != nil:
			undecided = err
		case ok == false:
			if message := policy.Text("spec", "validations", i, "message"); message != "" {
				return message, nil
			}
			return fmt.Sprintf("it breaks the rule %q", strings.Join(strings.Fields(expression), " ")), nil
		}
	}
	return "", undecided
}

func (a *admission) evaluate(ctx context.Context, expression string, input map[string]any) (any, error) {
	if a.evaluations++; a.evaluations > mostEvaluations || len(expression) > mostExpression {
		return nil, errUndecided
	}
	for _, word := range []string{"userInfo", "authorizer", "oldObject", "params"} {
		if strings.Contains(expression, word) {
			return nil, errUndecided
		}
	}
	program, compiled := a.programs[expression]
	if !compiled {
		if ast, issues := a.env.Compile(expression); issues.Err() == nil {
			if made, err := a.env.Program(ast, cel.CostLimit(mostCost), cel.InterruptCheckFrequency(100), cel.EvalOptions(cel.OptOptimize)); err == nil {
				program = made
			}
		}
		a.programs[expression] = program
	}
	if program == nil {
		return nil, errUndecided
	}
	value, _, err := program.ContextEval(ctx, input)
	if err != nil {
		return nil, err
	}
	return value.Value(), nil
}
