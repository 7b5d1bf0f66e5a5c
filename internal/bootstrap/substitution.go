package bootstrap

import (
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/internal/repository"
)

// variables are what a Flux Kustomization substitutes.
type variables struct {
	known map[string]string
	// open says that there may be more: in a Secret, in a ConfigMap that isn't
	// in the repository, or added by a patch.
	open bool
}

// substituted returns a copy with variables replaced as Flux replaces them. A
// value that depends on a variable that isn't in the repository is unknown.
func (c *cluster) substituted(v *value, p placement) *value {
	vars := c.variables(p)
	return v.mapScalars(func(s *value) *value {
		t, ok := s.scalar.(string)
		if !ok || !strings.Contains(t, "${") {
			return s
		}
		out := *s
		out.substituted = true
		missing := ""
		result, err := envsubst.Eval(t, func(name string) (string, bool) {
			val, ok := vars.known[name]
			if !ok {
				missing = name
			}
			return val, ok
		})
		switch {
		case err == nil && (missing == "" || !vars.open):
			out.scalar, out.spelled = plainScalar(result), result
		case missing != "":
			out.unknown = &mark{reason: fmt.Sprintf("Flux substitutes ${%s}, whose value is not in the repository", missing)}
		default:
			out.unknown = &mark{reason: "Flux cannot substitute the variables: " + shortened(err.Error())}
		}
		return &out
	})
}

// plainScalar reads a text as the unquoted scalar that it becomes: Flux
// substitutes in the YAML text that kustomize wrote.
func plainScalar(s string) any {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(s), &n); err != nil || len(n.Content) != 1 || n.Content[0].Kind != yaml.ScalarNode {
		return s
	}
	v, err := repository.Value("", n.Content[0])
	if err != nil {
		return s
	}
	return v
}

// variables of a placement. Inline ones win over those of ConfigMaps.
func (c *cluster) variables(p placement) variables {
	if p.flux == nil {
		return variables{open: true}
	}
	if v, done := c.vars[p.flux]; done {
		return v
	}
	out := variables{known: map[string]string{}}
	build := p.flux.Lookup("spec", "postBuild")
	if build == nil {
		out.open = true
	}
	for _, ref := range items(p.flux.Node, "spec", "postBuild", "substituteFrom") {
		name := scalarText("", ref, "name").value
		data := c.configMapData(name, p.flux.Namespace)
		if scalarText("", ref, "kind").value != "ConfigMap" || data == nil {
			out.open = true
			continue
		}
		readVariables(out.known, data)
	}
	if build != nil {
		readVariables(out.known, repository.Lookup(build, "substitute"))
	}
	c.vars[p.flux] = out
	return out
}

func readVariables(into map[string]string, n *yaml.Node) {
	all := map[string]text{}
	readTexts(all, "", n)
	for k, v := range all {
		into[k] = v.value
	}
}

// configMapData is the data of the only ConfigMap of a name, nil without one.
func (c *cluster) configMapData(name, namespace string) *yaml.Node {
	var found []*repository.Object
	for _, o := range c.repo.ByKind("", "ConfigMap") {
		if o.Name == name && (o.Namespace == namespace || o.Namespace == "" || namespace == "") {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0].Lookup("data")
}
