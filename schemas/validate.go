package schemas

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
)

// ProblemKind says what sort of problem it is.
type ProblemKind string

// The kinds of problems.
const (
	// UnknownField is a field that the kind doesn't have.
	UnknownField ProblemKind = "unknown field"
	// Invalid is a value that the kind doesn't allow.
	Invalid ProblemKind = "invalid"
	// Unresolved is a value that Flux substitutes before it is applied, so that
	// only the cluster knows whether it is allowed.
	Unresolved ProblemKind = "unresolved"
)

// Problem is one thing that the API server would refuse.
type Problem struct {
	Kind ProblemKind
	// Path from the object's root: field names (string) and list indexes (int).
	// Its last step may be missing in the object, where a field is required.
	Path []any
	// Message says what is wrong and what is allowed, the field named.
	Message string
	// Hint says how to mend it, "" where that isn't known.
	Hint string
	// Required says that the field at Path is missing.
	Required bool
}

// Field spells a path as kubectl does: spec.containers[0].image.
func Field(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		case string:
			if strings.ContainsAny(step, "./[]") {
				fmt.Fprintf(&b, "[%q]", step)
				continue
			}
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// Validate checks an object as the API server does when Flux applies it, and
// returns the problems sorted by field. It doesn't change the object.
//
// Left out are what an apply drops or sets (nulls, the status), what SOPS adds
// (the field sops) and the values that it encrypts. Values with ${VAR} are
// unresolved instead of invalid. No message holds a value of a Secret.
func (s *Schema) Validate(object map[string]any) []Problem {
	clean, _ := withoutNulls(object).(map[string]any)
	delete(clean, "status")
	delete(clean, "sops")
	var problems []Problem
	if s.kustomize {
		problems = kustomizeProblems(clean)
	} else {
		problems = s.problems(object, clean, nil)
		if s.meta != nil {
			meta, isMap := clean["metadata"].(map[string]any)
			if isMap {
				original, _ := object["metadata"].(map[string]any)
				problems = append(problems, s.meta.problems(original, meta, []any{"metadata"})...)
			}
		}
	}
	problems = slices.DeleteFunc(problems, func(p Problem) bool { return p.Kind == "" })
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(Field(a.Path), Field(b.Path)), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(problems, func(a, b Problem) bool {
		return Field(a.Path) == Field(b.Path) && a.Kind == b.Kind && a.Message == b.Message
	})
}

// problems of a part of an object, at a path from its root. Clean is pruned.
func (s *Schema) problems(object, clean map[string]any, at []any) []Problem {
	opts := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	pruned := pruning.PruneWithOptions(clean, s.structure, s.meta != nil, opts)
	found := make([]Problem, 0, len(pruned))
	for _, field := range pruned {
		found = append(found, s.unknown(at, pathOf(object, field)))
	}
	describe := describer{object: object, at: at, secret: s.GVK.Group == "" && s.GVK.Kind == "Secret"}
	for _, err := range s.validator.Validate(clean).Errors {
		found = append(found, describe.problem(err))
	}
	return found
}

// unknown describes a field that the schema doesn't have.
func (s *Schema) unknown(at, path []any) Problem {
	full := slices.Concat(at, path)
	name, _ := path[len(path)-1].(string)
	p := Problem{Kind: UnknownField, Path: full}
	if isSubstituted(name) {
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
	p.Hint = suggest(name, fieldsAt(s.structure, path[:len(path)-1], s.meta != nil))
	return p
}

// fieldsAt lists the fields that a schema has at a path, sorted.
func fieldsAt(s *structural.Structural, path []any, root bool) []string {
	for _, step := range path {
		if s == nil {
			return nil
		}
		switch step := step.(type) {
		case int:
			s = s.Items
		case string:
			p, ok := s.Properties[step]
			switch {
			case ok:
				s = &p
			case s.AdditionalProperties != nil:
				s = s.AdditionalProperties.Structural
			default:
				return nil
			}
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

// withoutNulls copies a value and leaves out map fields that are null: the API
// server prunes them.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, item := range v {
			if item != nil {
				m[k] = withoutNulls(item)
			}
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = withoutNulls(item)
		}
		return list
	}
	return v
}

// isSubstituted says whether Flux's postBuild would change a text.
func isSubstituted(text string) bool { return strings.Contains(text, "${") }

// isEncrypted says whether SOPS encrypted a value.
func isEncrypted(text string) bool { return strings.HasPrefix(text, "ENC[") }
