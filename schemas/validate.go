package schemas

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"

	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Validate checks an object as the API server does when Flux applies it, and returns the problems sorted by field. It
// does not change the object, which consists of plain values (map[string]any, []any, string, bool, int64, float64, nil).
// It ignores fields that an apply drops or sets (the status), the metadata of SOPS (the field sops) and encrypted values.
// Values with ${VAR} are unresolved instead of invalid. No message contains a value of a Secret.
func (s *Schema) Validate(object map[string]any) []Problem {
	return s.ValidateWith(object, Options{})
}

// ValidateWith is Validate with options.
func (s *Schema) ValidateWith(object map[string]any, opts Options) []Problem {
	if s.kustomize {
		return sorted(kustomizeProblems(object), opts)
	}
	if s.plain != nil {
		return sorted(s.plain.problems(object, opts), opts)
	}
	if problems := s.matchesTooMuch(object); problems != nil {
		return problems
	}
	if s.partial {
		return sorted(append(s.byServer(object, opts), s.typos(object, opts)...), opts)
	}
	return s.byServer(object, opts)
}

// byServer checks an object as the API server would, with the known fields.
func (s *Schema) byServer(object map[string]any, opts Options) []Problem {
	if s.quick(object) {
		if s.ruleCount == 0 {
			return nil
		}
		clean := s.quickly.copyRoot(object)
		defaulting.Default(clean, s.structure)
		return sorted(s.violations(object, clean, opts), opts)
	}
	return s.thorough(object, opts)
}

// thorough checks an object only with the API server's code.
func (s *Schema) thorough(object map[string]any, opts Options) []Problem {
	clean := s.copy(object)
	problems := s.problems(object, clean, nil, opts)
	problems = append(problems, s.ofMetadata(object, clean, opts)...)
	if !blocking(problems) {
		problems = append(problems, s.violations(object, clean, opts)...)
	}
	return sorted(problems, opts)
}

// copy returns an object without the fields that an apply drops or sets.
func (s *Schema) copy(object map[string]any) map[string]any {
	clean := make(map[string]any, len(object))
	for k, v := range object {
		if k != "status" && k != "sops" {
			clean[k] = copyValue(v)
		}
	}
	return clean
}

// sorted returns problems sorted by field, without duplicates. It removes or marks required fields that are reported as
// missing although an unknown field is a typo of them.
func sorted(problems []Problem, o Options) []Problem {
	misspelt := map[string]bool{}
	for _, p := range problems {
		if p.intended != "" {
			misspelt[Field(append(slices.Clone(p.Path[:len(p.Path)-1]), p.intended))] = true
		}
	}
	for i, p := range problems {
		problems[i].Misspelt = p.Required && len(misspelt) > 0 && misspelt[Field(p.Path)]
	}
	problems = slices.DeleteFunc(problems, func(p Problem) bool { return p.Kind == "" || p.Misspelt && !o.Misspelt })
	sorting.StableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(Field(a.Path), Field(b.Path)), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(problems, func(a, b Problem) bool {
		return Field(a.Path) == Field(b.Path) && a.Kind == b.Kind && a.Message == b.Message
	})
}

// problems returns the problems of a part of an object, at a path from its root. It prunes clean and
// sets its defaults, in the order of the API server (apiextensions-apiserver,
// customresource_handler.go and strategy.go).
func (s *Schema) problems(object, clean map[string]any, at []any, o Options) []Problem {
	root := s.meta != nil
	opts := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	pruned := pruning.PruneWithOptions(clean, s.structure, root, opts)
	defaulting.PruneNonNullableNullsWithoutDefaults(clean, s.structure)
	describe := describer{object: object, at: at, literal: o.Literal, secret: s.GVK.Group == "" && s.GVK.Kind == "Secret", structure: s.structure}
	var found []Problem
	if s.embedded {
		err, unknown := objectmeta.CoerceWithOptions(nil, clean, s.structure, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
		pruned = append(pruned, unknown...)
		if err != nil {
			found = append(found, describe.fieldError(err))
		}
	}
	for _, field := range pruned {
		if path := pathOf(object, field); !mistyped(s.structure, path) {
			found = append(found, s.unknown(at, path, o))
		}
	}
	defaulting.Default(clean, s.structure)
	for _, err := range s.validator.Validate(clean).Errors {
		if p := describe.problem(err); !s.isPartial(p, len(at)) {
			found = append(found, p)
		}
	}
	if s.embedded {
		for _, err := range objectmeta.Validate(context.Background(), nil, clean, s.structure, false) {
			found = append(found, describe.fieldError(err))
		}
	}
	for _, err := range listtype.ValidateListSetsAndMaps(nil, s.structure, clean) {
		p := describe.fieldError(err)
		p.OnlyApply = s.builtIn
		found = append(found, p)
	}
	return found
}

// isPartial reports whether a problem only repeats another one. The validator returns several problems for a value of an
// int-or-string field that is neither an integer nor a string; one of them is enough.
func (s *Schema) isPartial(p Problem, depth int) bool {
	node := nodeAt(s.structure, p.Path[depth:])
	return node != nil && node.XIntOrString &&
		(strings.Contains(p.Message, "(anyOf)") || strings.Contains(p.Message, " must be an integer, not "))
}

// unknown returns the problem for a field that the schema does not have.
func (s *Schema) unknown(at, path []any, o Options) Problem {
	full := slices.Concat(at, path)
	name, _ := path[len(path)-1].(string)
	p := Problem{Kind: UnknownField, Path: full}
	if isSubstituted(name) && !o.Literal {
		p.Kind = Unresolved
		p.Message = fmt.Sprintf("the field name %q is substituted by Flux", name)
		return p
	}
	parent := Field(full[:len(full)-1])
	in := "in " + parent
	if parent == "" {
		in = "at the top of " + s.GVK.Kind
	}
	p.Message = fmt.Sprintf("unknown field %q %s", name, in)
	p.Hint, p.intended = o.Hints.suggest(name, func() []string { return fieldsAt(s.structure, path[:len(path)-1], s.meta != nil) })
	return p
}

// mistyped reports whether a path leads through a list where the schema has a map, or the other way round: in that case
// the type is wrong.
func mistyped(s *structural.Structural, path []any) bool {
	for _, step := range path {
		if s == nil {
			return false
		}
		switch step := step.(type) {
		case int:
			if s.Type == "object" {
				return true
			}
			s = s.Items
		case string:
			if s.Type == "array" {
				return true
			}
			s = fieldAt(s, step)
		}
	}
	return false
}

// fieldAt returns the schema of a field, nil if there is none.
func fieldAt(s *structural.Structural, name string) *structural.Structural {
	if p, ok := s.Properties[name]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// fieldsAt returns the fields of a schema at a path, sorted.
func fieldsAt(s *structural.Structural, path []any, root bool) []string {
	for _, step := range path {
		if s == nil {
			return nil
		}
		switch step := step.(type) {
		case int:
			s = s.Items
		case string:
			s = fieldAt(s, step)
		}
	}
	if s == nil {
		return nil
	}
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	if len(path) == 0 && root {
		names = append(names, "apiVersion", "kind", "metadata")
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// quick reports whether an object certainly has no problems except for violations of rules.
func (s *Schema) quick(object map[string]any) bool {
	root := s.quickly
	if root.unsure || s.embedded || s.meta == nil || !root.is("object") || root.minProps != nil || root.maxProps != nil {
		return false
	}
	for k, v := range object {
		switch k {
		case "status", "sops":
		case "metadata":
			meta, ok := v.(map[string]any)
			if !ok || !s.meta.quickly.accepts(meta) || !s.quickMetadata(meta) {
				return false
			}
			// A definition may restrict only the name.
			if p, ok := root.properties[k]; ok && (p.properties != nil || p.unsure || !p.is("object")) {
				return false
			}
		case "apiVersion", "kind":
			if _, ok := v.(string); !ok {
				return false
			}
			if p, ok := root.properties[k]; ok && !p.accepts(v) {
				return false
			}
		default:
			p, ok := root.properties[k]
			if ok && !p.accepts(v) || !ok && root.additional == nil && !root.anything ||
				!ok && root.additional != nil && !root.additional.accepts(v) {
				return false
			}
		}
	}
	return root.hasRequired(object)
}
