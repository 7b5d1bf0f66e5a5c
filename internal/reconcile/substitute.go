package reconcile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/envsubst/parse"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/manifest"
)

// identity returns the identity of the object that a reference names.
func (r Reference) identity(namespace string) Identity {
	return Identity{"", r.Kind, namespace, r.Name}
}

const (
	substituteKey = "kustomize.toolkit.fluxcd.io/substitute"
	disabled      = "disabled"
)

// variableName matches the names that kustomize-controller allows. Source: github.com/fluxcd/pkg/kustomize v1.39,
// varsubRegex.
var variableName = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// countVariables returns the maximum of values that a postBuild may define.
func countVariables(spec *kustomizev1.KustomizationSpec, references []Reference) int {
	count := len(spec.PostBuild.Substitute)
	for _, ref := range references {
		if ref.Found != nil {
			data, _ := ref.Found.Value["data"].(map[string]any)
			texts, _ := ref.Found.Value["stringData"].(map[string]any)
			count += len(data) + len(texts)
		}
	}
	return count
}

// variablesOf returns the variables of a Kustomization's postBuild. Later references take precedence, and substitute over
// all of them.
func variablesOf(k *Kustomization) Variables {
	vars := Variables{}
	for _, ref := range k.References {
		if ref.Found == nil {
			continue
		}
		for name, value := range ref.Found.entries() {
			vars[name] = &Variable{Name: name, Value: strings.ReplaceAll(value.text, "\n", ""), Known: value.known, From: ref.Found}
		}
	}
	for name, value := range k.Spec.PostBuild.Substitute {
		known := k.Object == nil || !k.Object.mayHoldUnknown(value)
		vars[name] = &Variable{Name: name, Value: strings.ReplaceAll(value, "\n", ""), Known: known}
	}
	return vars
}

// substitute replaces the variables in an object, as kustomize-controller 1.9 does with strict substitution, and returns
// what that refuses. Variables that are undefined or have unknown values remain as ${NAME}. It returns the maximum of
// bytes that the object may grow by, and refuses more than most. misnamed is the error about a variable's name. Source:
// github.com/fluxcd/pkg/kustomize v1.39, SubstituteVariables.
func (vars Variables) substitute(r builds.Result, o *Object, always bool, most int, misnamed error) (growth int, err error) {
	if len(vars) == 0 && !always || o.marked("labels") || o.marked("annotations") {
		return 0, nil
	}
	if misnamed != nil {
		return 0, misnamed
	}
	if !r.Variables && r.Text == nil {
		return 0, nil
	}
	o.Substituted = r.Variables
	if r.Text == nil && !o.Encrypted {
		p := inPlace{vars: vars, used: map[string]bool{}, most: most}
		if value, ok := p.object(o.Value); ok {
			o.Value = value
			vars.use(p.used, o)
			return p.growth, nil
		}
	}
	return vars.substituteText(r, o, most)
}

// misnamed returns a *badName if kustomize-controller refuses the name of a variable.
func (vars Variables) misnamed() error {
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !variableName.MatchString(name) {
			return &badName{vars[name]}
		}
	}
	return nil
}

// badName is the error about the name of a variable.
type badName struct{ *Variable }

func (e *badName) Error() string {
	return fmt.Sprintf("%q is not a valid variable name: use letters, digits and _, and no digit at the start", e.Name)
}

// place returns the position where a Kustomization defines the variable.
func (e *badName) place(k *Kustomization) finding.Place {
	switch {
	case e.From == nil:
		return k.position("spec", "postBuild", "substitute", e.Name)
	case e.From.Field("data", e.Name) != nil:
		return e.From.KeyPosition("data", e.Name)
	}
	return e.From.KeyPosition("stringData", e.Name)
}

// substituteText replaces the variables in the object's YAML.
func (vars Variables) substituteText(r builds.Result, o *Object, most int) (growth int, err error) {
	text := r.Text
	if text == nil {
		if text, err = manifest.Object(r.Value); err != nil {
			return 0, err
		}
	}
	if growth, err = vars.prepare(string(text), most); err != nil {
		return 0, err
	}
	result, err := vars.evaluate(string(text), o)
	if err != nil {
		return growth, err
	}
	o.Kustomization.computed = append(o.Kustomization.computed, vars.computed(string(text))...)
	if growth > 0 {
		values, err := o.Kustomization.Repo.Expanded(result)
		if err != nil {
			return growth, builds.Limited(err)
		}
		if growth += int(values) * bytesOfValue; growth > most {
			return growth, tooLargeOnceReplaced
		}
	}
	value, err := reread(result)
	if err != nil {
		return growth, &brokenYAML{vars.breaking(string(text)), err}
	}
	if o.Value = value; o.Encrypted {
		delete(value, "sops")
	}
	return growth, nil
}

// brokenYAML is the error of an object that is not valid YAML after variable substitution. name is the variable whose value
// breaks it, "" if that is unknown.
type brokenYAML struct {
	name string
	err  error
}

func (e *brokenYAML) Error() string {
	if e.name == "" {
		return "the object is not valid YAML after variable substitution: " + e.err.Error()
	}
	return fmt.Sprintf("the value of ${%s} breaks the YAML around it: %v", e.name, e.err)
}

// breaking returns the variable that breaks the YAML of a text: without its value the text is valid. It returns "" if
// there is none.
func (vars Variables) breaking(text string) string {
	const most = 20 // number of variables that are tried
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(vars)), func(name string) bool { return !strings.Contains(text, "${"+name) })
	for _, name := range names[:min(len(names), most)] {
		result, err := expand(text, func(other string) (string, bool) {
			if v := vars[other]; v != nil && other != name {
				return v.Value, true
			}
			return "x", true
		})
		if err != nil {
			return ""
		}
		if _, err := reread(result); err == nil {
			return name
		}
	}
	return ""
}

// marked reports whether a label or annotation excludes an object from substitution.
func (o *Object) marked(field string) bool {
	mark, _, _ := unstructured.NestedString(o.Value, "metadata", field, substituteKey)
	return mark == disabled
}

// reread reads the text of an object as kustomize does.
func reread(text string) (map[string]any, error) {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	var value map[string]any
	if json.Unmarshal(data, &value) == nil && builds.Survives(value) {
		return value, nil
	}
	node := &kyaml.RNode{}
	if err := node.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return builds.ValueOf(node)
}

// expand replaces the variables in a text as Flux does.
func expand(text string, value func(name string) (string, bool)) (result string, err error) {
	// It panics on some lengths and positions.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the variable substitution failed: %v", p)
		}
	}()
	return envsubst.Eval(text, value)
}

// evaluate runs the substitution for an object.
func (vars Variables) evaluate(text string, o *Object) (result string, err error) {
	used := map[string]bool{}
	if result, err = vars.expand(text, used); err == nil {
		vars.use(used, o)
	}
	return result, err
}

// expand runs the substitution, and adds the used variables to used.
func (vars Variables) expand(text string, used map[string]bool) (string, error) {
	return expand(text, func(name string) (string, bool) {
		used[name] = true
		v, ok := vars[name]
		if ok && !v.Known {
			return "${" + name + "}", true
		}
		if !ok {
			return "", false
		}
		return v.Value, true
	})
}

// use records that an object uses variables.
func (vars Variables) use(used map[string]bool, o *Object) {
	for _, name := range slices.Sorted(maps.Keys(used)) {
		v, ok := vars[name]
		if !ok {
			continue // it has a default
		}
		if v.Used++; v.UsedBy == nil {
			v.UsedBy = o
		}
		if !v.Known {
			o.Unknown = append(o.Unknown, name)
		}
	}
}

// markVariablesUnknown records the variables in a root's objects as unknown: no file in Git syncs the folder, so the Kustomization
// that does is not in Git either, and its postBuild may define them.
func (k *Kustomization) markVariablesUnknown() {
	for _, o := range k.Objects {
		if o.marked("labels") || o.marked("annotations") {
			continue
		}
		names := map[string]bool{}
		namesIn(o.Value, names)
		o.Unknown = append(o.Unknown, slices.Sorted(maps.Keys(names))...)
	}
}

// namesIn adds the names of the variables in the strings and field names of a value. A string that the parser refuses has
// none: Flux would apply no object of the folder if it replaced any.
func namesIn(value any, names map[string]bool) {
	switch value := value.(type) {
	case string:
		if !strings.Contains(value, "${") || strings.Count(value, "$") > limits.ObjectVariables || nesting(value) > limits.VariableNesting {
			return
		}
		if tree, err := parse.Parse(value); err == nil {
			variablesIn(tree.Root, names)
		}
	case map[string]any:
		for key, item := range value {
			namesIn(key, names)
			namesIn(item, names)
		}
	case []any:
		for _, item := range value {
			namesIn(item, names)
		}
	}
}

// variablesIn adds the names of the variables in a parsed text.
func variablesIn(node parse.Node, names map[string]bool) {
	switch node := node.(type) {
	case *parse.ListNode:
		for _, n := range node.Nodes {
			variablesIn(n, names)
		}
	case *parse.FuncNode:
		names[node.Param] = true
		for _, n := range node.Args {
			variablesIn(n, names)
		}
	}
}
