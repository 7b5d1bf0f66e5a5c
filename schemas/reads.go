package schemas

import (
	"github.com/google/cel-go/common/ast"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apicel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// unknown reports whether one of the rules reads a part of a value that Flux substitutes or
// decrypts; literal is set if it substitutes nothing. Without rules, the whole value counts.
func unknown(value any, rules []apiextensionsv1.ValidationRule, literal bool) bool {
	if !hasUnknown(value, literal) {
		return false
	}
	if len(rules) == 0 {
		return true
	}
	for _, r := range rules {
		for _, path := range reads(r.Rule) {
			if hasUnknown(valueAt(value, path), literal) {
				return true
			}
		}
	}
	return false
}

// hasUnknown reports whether a value contains a substituted or encrypted string.
func hasUnknown(value any, literal bool) bool {
	switch v := value.(type) {
	case string:
		return !literal && isSubstituted(v) || isEncrypted(v)
	case map[string]any:
		for k, item := range v {
			if !literal && isSubstituted(k) || hasUnknown(item, literal) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if hasUnknown(item, literal) {
				return true
			}
		}
	}
	return false
}

// reads returns the paths, starting at self, that a rule reads. has(self.a) alone reads nothing. A rule that cannot be
// parsed reads everything.
func reads(rule string) [][]any {
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
	parsed, issues := env.Parse(rule)
	if issues != nil && issues.Err() != nil {
		return [][]any{nil}
	}
	var r reader
	r.walk(parsed.NativeRep().Expr())
	return r.paths
}

type reader struct{ paths [][]any }

func (r *reader) walk(e ast.Expr) {
	switch e.Kind() {
	case ast.IdentKind, ast.SelectKind:
		if path, tested, ok := chain(e); ok {
			if !tested {
				r.paths = append(r.paths, path)
			}
			return
		}
		if e.Kind() == ast.SelectKind {
			r.walk(e.AsSelect().Operand())
		}
	case ast.CallKind:
		if e.AsCall().IsMemberFunction() {
			r.walk(e.AsCall().Target())
		}
		for _, arg := range e.AsCall().Args() {
			r.walk(arg)
		}
	case ast.ListKind:
		for _, item := range e.AsList().Elements() {
			r.walk(item)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			r.walk(entry.AsMapEntry().Key())
			r.walk(entry.AsMapEntry().Value())
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		for _, part := range []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
			r.walk(part)
		}
	}
}

// chain returns the path of an expression such as self.a.b; tested is set if it only checks whether b exists.
func chain(e ast.Expr) (path []any, tested, ok bool) {
	if e.Kind() == ast.IdentKind {
		return nil, false, e.AsIdent() == "self"
	}
	if e.Kind() != ast.SelectKind {
		return nil, false, false
	}
	s := e.AsSelect()
	path, _, ok = chain(s.Operand())
	name := s.FieldName()
	if original, escaped := apicel.Unescape(name); escaped {
		name = original
	}
	return append(path, name), s.IsTestOnly(), ok
}
