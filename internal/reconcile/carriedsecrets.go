package reconcile

import (
	"regexp"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/envsubst/parse"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// functions match a variable that is not replaced by its value as it is.
var functions = regexp.MustCompile(`\$\{(#|[A-Za-z0-9_]+[^A-Za-z0-9_}])`)

// mostCarried is how many strings of a Kustomization are kept that functions make of secrets.
const mostCarried = 10_000

// carry notes what the functions of variables in a text make of secrets, and the defaults of variables that
// are named as secrets are.
func (vars Variables) carry(text string, k *Kustomization) {
	if !functions.MatchString(text) {
		return
	}
	if tree, err := parse.Parse(text); err == nil {
		vars.carryNode(tree.Root, k)
	}
}

func (vars Variables) carryNode(node parse.Node, k *Kustomization) {
	switch node := node.(type) {
	case *parse.ListNode:
		for _, n := range node.Nodes {
			vars.carryNode(n, k)
		}
	case *parse.FuncNode:
		for _, n := range node.Args {
			vars.carryNode(n, k)
		}
		if node.Name == "" || len(k.carried) >= mostCarried {
			return
		}
		v, defined := vars[node.Param]
		if strings.ContainsAny(node.Name, "-=?+") {
			for _, n := range node.Args {
				k.carried = append(k.carried, repository.Leading(node.Param, vars.evaluated(n), false)...)
			}
			return
		}
		if !defined || !v.Known || len(v.leading()) == 0 {
			return
		}
		k.carried = append(k.carried, repository.Leading(node.Param, vars.evaluated(node), v.isOfSecret())...)
	}
}

// isOfSecret says whether a Secret holds the variable.
func (v *Variable) isOfSecret() bool { return v.From != nil && v.From.Kind == "Secret" }

// leading are the strings that stand for the variable's value where it is a secret.
func (v *Variable) leading() []string { return repository.Leading(v.Name, v.Value, v.isOfSecret()) }

// evaluated is what comes of a node; "" where the substitution refuses it.
func (vars Variables) evaluated(node parse.Node) (result string) {
	defer func() {
		if recover() != nil {
			result = ""
		}
	}()
	result, err := envsubst.Eval(sourceOf(node), func(name string) (string, bool) {
		v, ok := vars[name]
		if !ok || !v.Known {
			return "", ok
		}
		return v.Value, true
	})
	if err != nil {
		return ""
	}
	return result
}

// sourceOf is a node as it is written.
func sourceOf(node parse.Node) string {
	switch node := node.(type) {
	case *parse.TextNode:
		return node.Value
	case *parse.ListNode:
		var b strings.Builder
		for _, n := range node.Nodes {
			b.WriteString(sourceOf(n))
		}
		return b.String()
	case *parse.FuncNode:
		if node.Name == "#" && len(node.Args) == 0 {
			return "${#" + node.Param + "}"
		}
		between := ""
		switch node.Name[:min(1, len(node.Name))] {
		case "/":
			between = "/"
		case ":":
			if len(node.Name) == 1 {
				between = ":"
			}
		}
		args := make([]string, len(node.Args))
		for i, n := range node.Args {
			args[i] = sourceOf(n)
		}
		if between == "/" && len(args) == 1 {
			args = append(args, "")
		}
		return "${" + node.Param + node.Name + strings.Join(args, between) + "}"
	}
	return ""
}
