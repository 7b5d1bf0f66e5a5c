package schemas

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apicel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// What compiling rules takes, in µs of CPU: measured with the API server's
// compiler (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel), which
// can't be interrupted.
const (
	// typeTime is for each node of a schema with rules: its CEL type.
	typeTime = 5
	// nodeTime is for each node with rules: environments of its own.
	nodeTime = 600
	// scopeTime is for each node that is part of one with rules: the environments
	// name its type anew.
	scopeTime = 10
	// ruleTime is for each rule, besides charTime for each of its characters.
	ruleTime = 100
	charTime = 2
	// squareChars is how many characters squared take a µs: the costs of an
	// operand are estimated for each operator around it.
	squareChars = 1_000
	// growthTime is for each type that a rule composes, squared: each holds those
	// before. It doubles with each map, whose type may hold the one before twice.
	growthTime = 100
	// longestRule is how many characters are parsed.
	longestRule = 20_000

	// mostCompile is what the compilation of a definition's rules may take, and
	// runCompile that of all definitions of a run that aren't our own.
	mostCompile = 400_000
	runCompile  = 1_200_000
)

// Admit chooses the schemas whose rules are compiled: all that aren't foreign,
// and of the foreign ones as many as the time of a run is enough for, the
// cheapest first. What the rules of the others say is unresolved. It is called
// once, before the first validation with the budget, with the schemas of all
// objects. The choice doesn't depend on the order of different kinds.
func (b *Budget) Admit(all []*Schema) {
	var foreign []*Schema
	seen := map[*Schema]bool{}
	for _, s := range all {
		if s.foreign && s.ruleCount > 0 && !seen[s] && s.compileTime() <= mostCompile {
			seen[s] = true
			foreign = append(foreign, s)
		}
	}
	slices.SortStableFunc(foreign, func(a, b *Schema) int {
		return cmp.Or(cmp.Compare(a.compileTime(), b.compileTime()), cmp.Compare(a.GVK.String(), b.GVK.String()))
	})
	b.refused = map[*Schema]bool{}
	left := int64(runCompile)
	for _, s := range foreign {
		left -= s.compileTime()
		b.refused[s] = left < 0
	}
}

// compileTime estimates what the compilation of a schema's rules takes, in µs.
// Far above what is allowed it says no more than that.
func compileTime(s *structural.Structural, rules int) int64 {
	if rules == 0 || rules > mostRules {
		return 0
	}
	t := timing{}
	nodes := t.add(s)
	return t.total + nodes*typeTime
}

// timing sums up the time that the parts of a schema take.
type timing struct{ total int64 }

// add adds a part of a schema, and returns how many nodes it has. Rules stand at
// its values alone: the API server refuses them within allOf and the like.
func (t *timing) add(s *structural.Structural) int64 {
	nodes := int64(1)
	if s.Items != nil {
		nodes += t.add(s.Items)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		nodes += t.add(s.AdditionalProperties.Structural)
	}
	for name, p := range s.Properties {
		size := t.add(&p)
		nodes += size
		if _, ok := apicel.Escape(name); !ok {
			t.total += size * typeTime // its type is made once more
		}
	}
	t.addRules(s.XValidations, nodes)
	return nodes
}

// addRules adds the rules of a value of so many nodes.
func (t *timing) addRules(rules apiextensionsv1.ValidationRules, nodes int64) {
	if len(rules) == 0 {
		return
	}
	t.total += nodeTime + nodes*scopeTime
	for _, r := range rules {
		t.addText(r.Rule)
		if r.MessageExpression != "" {
			t.addText(r.MessageExpression)
		}
	}
}

// addText adds an expression.
func (t *timing) addText(text string) {
	length := int64(utf8.RuneCountInString(text))
	t.total += ruleTime + length*charTime + length*length/squareChars
	if length > longestRule {
		t.total += mostCompile
	}
	if t.total > mostCompile {
		return // without parsing any more
	}
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).StoredExpressionsEnv()
	parsed, issues := env.Parse(text)
	if issues != nil && issues.Err() != nil {
		return
	}
	composed, maps := compositions(parsed.NativeRep().Expr())
	t.total += growthTime * (composed*composed + 1<<min(maps, 32))
}

// compositions counts what makes larger types of smaller ones in an expression,
// and the maps among it.
func compositions(e ast.Expr) (composed, maps int64) {
	ast.PreOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() {
		case ast.ListKind:
			composed += int64(min(e.AsList().Size(), 1))
		case ast.MapKind:
			maps += int64(min(e.AsMap().Size(), 1))
		case ast.CallKind:
			switch e.AsCall().FunctionName() {
			case "of", "ofNonZeroValue", "optional.of", "optional.ofNonZeroValue":
				composed++
			case "cel.@mapInsert":
				maps++
			}
		}
	}))
	return composed + maps, maps
}
