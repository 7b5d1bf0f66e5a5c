package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/internal/reconcile"
	"github.com/fleetwright/fleetwright/schemas"
)

const rbacGroup = "rbac.authorization.k8s.io"

// bindable are the kinds of roles that a binding can reference, by the kind of the binding.
var bindable = map[string][]string{"RoleBinding": {"Role", "ClusterRole"}, "ClusterRoleBinding": {"ClusterRole"}}

// subjectGroups are the API groups of subjects, by kind.
var subjectGroups = map[string]string{"ServiceAccount": "", "User": rbacGroup, "Group": rbacGroup}

// bindingProblems returns the problems of a binding whose role or subjects have a kind or group that is not allowed. A
// value with a variable is not checked.
// Source: k8s.io/kubernetes v1.36, pkg/apis/rbac/validation (ValidateRoleBinding, ValidateClusterRoleBinding,
// ValidateRoleBindingSubject) and pkg/apis/rbac/v1 (SetDefaults_Subject).
func bindingProblems(object map[string]any) []schemas.Problem {
	o := reconcile.Object{Value: object}
	group, _, _ := strings.Cut(o.Text("apiVersion"), "/")
	roles := bindable[o.Text("kind")]
	if group != rbacGroup || roles == nil {
		return nil
	}
	problems := slices.Concat(
		oneOf(&o, roles, "roleRef", "kind"), oneOf(&o, []string{rbacGroup}, "roleRef", "apiGroup"))
	subjects, _ := o.Field("subjects").([]any)
	for i := range subjects {
		wrong := oneOf(&o, []string{"ServiceAccount", "User", "Group"}, "subjects", i, "kind")
		if of, known := subjectGroups[o.Text("subjects", i, "kind")]; known && len(wrong) == 0 {
			wrong = oneOf(&o, []string{of}, "subjects", i, "apiGroup")
		}
		problems = append(problems, wrong...)
		if o.Text("kind") == "ClusterRoleBinding" && o.Text("subjects", i, "kind") == "ServiceAccount" && o.Field("subjects", i, "namespace") == nil {
			path := []any{"subjects", i, "namespace"}
			problems = append(problems, schemas.Problem{Kind: schemas.Invalid, Path: path, Required: true, Message: schemas.Field(path) + " is required"})
		}
	}
	return problems
}

// oneOf returns a problem if the string at a path is not one of the allowed ones. An empty or missing string has a
// default, or the schema reports it.
func oneOf(o *reconcile.Object, allowed []string, path ...any) []schemas.Problem {
	text := o.Text(path...)
	if text == "" || strings.Contains(text, "${") || slices.Contains(allowed, text) {
		return nil
	}
	p := schemas.Problem{Kind: schemas.Invalid, Path: path,
		Message: fmt.Sprintf("%s is %.200q, must be one of %s", schemas.Field(path), text, strings.Join(allowed, ", "))}
	if allowed[0] == "" {
		p.Message = fmt.Sprintf("%s is %.200q, must be left out", schemas.Field(path), text)
	} else if near, ok := nearest.To(text, allowed); ok {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return []schemas.Problem{p}
}
