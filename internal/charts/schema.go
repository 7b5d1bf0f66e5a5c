package charts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/fleetwright/fleetwright/internal/count"
)

// Problem is a value that the chart's schema refuses.
type Problem struct {
	// Path in the values: field names and list indexes.
	Path []any
	// Chart whose schema it is.
	Chart   string
	Message string
}

// Bounds of the check of values. A schema may refer to itself so that each level doubles the
// work.
const (
	mostSchemaSteps = 500_000
	schemaWork      = 100 // of a step
	mostProblems    = 50
	// mostCompared bounds the longest list in a schema times the values: each may be compared
	// with all of an enum.
	mostCompared = 50_000_000
)

// checkSchemas checks values against the schema of a chart and of those of its dependencies
// that have values. An error is a *LimitError or an *UnknownError where that cannot be decided,
// or what is wrong with a schema.
// Source: helm.sh/helm/v4 pkg/chart/common/util, ValidateAgainstSchema.
func checkSchemas(ctx context.Context, c *chart.Chart, values map[string]any, cost *int64) ([]Problem, error) {
	steps := &schemaSteps{ctx: ctx, left: mostSchemaSteps}
	problems, err := steps.chart(c, values, nil)
	*cost += schemaWork * int64(mostSchemaSteps-max(steps.left, 0))
	return problems, err
}

type schemaSteps struct {
	ctx  context.Context
	left int
}

func (s *schemaSteps) chart(c *chart.Chart, values map[string]any, path []any) ([]Problem, error) {
	var problems []Problem
	if c.Schema != nil {
		found, err := s.check(c.Schema, values)
		if err != nil {
			return nil, fmt.Errorf("the schema of the chart %s: %w", c.Name(), err)
		}
		for _, p := range found {
			problems = append(problems, Problem{append(slices.Clone(path), p.Path...), c.Name(), p.Message})
		}
	}
	for _, child := range c.Dependencies() {
		at := append(slices.Clone(path), child.Name())
		raw, exists := values[child.Name()]
		if !exists || raw == nil {
			continue
		}
		own, isMap := asMap(raw)
		if !isMap {
			problems = append(problems, Problem{at, child.Name(), "must be an object"})
			continue
		}
		found, err := s.chart(child, own, at)
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return problems, nil
}

// check checks values against one schema.
func (s *schemaSteps) check(text []byte, values map[string]any) (problems []Problem, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *LimitError:
			err = p
		default:
			err = fmt.Errorf("it cannot be evaluated: %v", p)
		}
	}()
	if nodesOf(text) > mostYAML {
		return nil, limitf("it is larger than known ones")
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if err := count.Numbers(document); err != nil {
		return nil, limitf("%v", err)
	}
	if product(longestList(document), valueNodes(values)) > mostCompared {
		return nil, limitf("it is larger than known ones")
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nothing{})
	compiler.UseRegexpEngine(s.regexp)
	compiler.RegisterVocabulary(&jsonschema.Vocabulary{URL: "https://fleetwright.dev/steps", Compile: s.counted})
	compiler.AssertVocabs()
	if err := compiler.AddResource(schemaAddress, document); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(schemaAddress)
	if err != nil {
		if missing := (*jsonschema.LoadURLError)(nil); errors.As(err, &missing) {
			return nil, &UnknownError{fmt.Sprintf("it refers to %q, which is not read", missing.URL)}
		}
		return nil, fmt.Errorf("it is no JSON schema: %w", err)
	}
	var refused *jsonschema.ValidationError
	if err := compiled.Validate(values); errors.As(err, &refused) {
		return leaves(refused, nil), nil
	} else if err != nil {
		return nil, err
	}
	return nil, nil
}

func longestList(v any) int64 {
	longest := int64(1)
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			longest = max(longest, longestList(item))
		}
	case []any:
		longest = int64(len(v))
		for _, item := range v {
			longest = max(longest, longestList(item))
		}
	}
	return longest
}

// schemaAddress is what a schema calls itself.
const schemaAddress = "file:///values.schema.json"

// nothing loads no schema that another refers to: that would read files and addresses.
type nothing struct{}

// Load refuses.
func (nothing) Load(string) (any, error) { return nil, errors.New("it is not read") }

// counted is a schema that counts its steps: one for each part that it has.
func (s *schemaSteps) counted(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
	parts := 1
	for _, part := range schema {
		switch part := part.(type) {
		case []any:
			parts += len(part)
		case map[string]any:
			parts += len(part)
		}
	}
	return countedSchema{s, parts}, nil
}

type countedSchema struct {
	steps *schemaSteps
	parts int
}

// Validate is called each time that the schema is tried on a value.
func (c countedSchema) Validate(*jsonschema.ValidatorContext, any) { c.steps.take(c.parts) }

// take takes steps; it panics when there are none left.
func (s *schemaSteps) take(n int) {
	if s.left -= n; s.left < 0 {
		panic(limitf("checking the values takes more than %d steps", mostSchemaSteps))
	}
	if s.ctx.Err() != nil {
		panic(limitf("it took too long"))
	}
}

// countedRegexp is a regular expression whose matches count.
type countedRegexp struct {
	*regexp.Regexp
	steps *schemaSteps
	size  int64
}

func (s *schemaSteps) regexp(text string) (jsonschema.Regexp, error) {
	re, err := count.Compile(text)
	if err != nil {
		return nil, err
	}
	return &countedRegexp{re, s, regexSize(text)}, nil
}

// MatchString says whether a text matches.
func (r *countedRegexp) MatchString(text string) bool {
	r.steps.take(int(product(r.size, int64(len(text))) / 500))
	return r.Regexp.MatchString(text)
}

// leaves are the innermost problems, without the values themselves, which may be secret.
func leaves(e *jsonschema.ValidationError, problems []Problem) []Problem {
	if len(problems) >= mostProblems {
		return problems
	}
	if k, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		for _, name := range slices.Sorted(slices.Values(k.Properties)) {
			problems = append(problems, Problem{Path: append(pathOf(e.InstanceLocation), name), Message: "is not among the chart's values"})
		}
		return problems
	}
	if of, ok := e.ErrorKind.(*kind.OneOf); len(e.Causes) == 0 || ok && len(of.Subschemas) > 0 {
		return append(problems, Problem{Path: pathOf(e.InstanceLocation), Message: messageOf(e.ErrorKind)})
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return append(problems, Problem{Path: pathOf(e.InstanceLocation), Message: alternativesOf(e)})
	}
	for _, cause := range sortedCauses(e) {
		problems = leaves(cause, problems)
	}
	return problems
}

// sortedCauses are the causes in an order of their own: the library goes through maps.
func sortedCauses(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	return slices.SortedStableFunc(slices.Values(e.Causes), func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.SchemaURL, b.SchemaURL),
			slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()))
	})
}

// alternativesOf tells what each of some alternatives misses.
func alternativesOf(e *jsonschema.ValidationError) string {
	var missed []string
	for _, cause := range sortedCauses(e) {
		for _, p := range leaves(cause, nil) {
			text := p.Message
			if len(p.Path) > len(e.InstanceLocation) {
				text = fmt.Sprint(p.Path[len(p.Path)-1]) + " " + text
			}
			if !slices.Contains(missed, text) && len(missed) < 4 {
				missed = append(missed, text)
			}
		}
	}
	return strings.Join(missed, ", or ")
}

func pathOf(location []string) []any {
	path := make([]any, 0, len(location))
	for _, step := range location {
		if n, err := strconv.Atoi(step); err == nil {
			path = append(path, n)
			continue
		}
		path = append(path, step)
	}
	return path
}

// messageOf tells what is wrong, and not what the value is.
func messageOf(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("must be %s, not %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Required:
		return fmt.Sprintf("%s is required", strings.Join(k.Missing, ", "))
	case *kind.Enum:
		return fmt.Sprintf("must be one of %s", listed(k.Want))
	case *kind.Const:
		return fmt.Sprintf("must be %s", listed([]any{k.Want}))
	case *kind.Pattern:
		return fmt.Sprintf("must match %q", k.Want)
	case *kind.Format:
		return fmt.Sprintf("must be a %s", k.Want)
	case *kind.Minimum:
		return fmt.Sprintf("must be at least %s", k.Want.RatString())
	case *kind.Maximum:
		return fmt.Sprintf("must be at most %s", k.Want.RatString())
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("must be above %s", k.Want.RatString())
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("must be below %s", k.Want.RatString())
	case *kind.MultipleOf:
		return fmt.Sprintf("must be a multiple of %s", k.Want.RatString())
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %d fields", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %d fields", k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are the same", k.Duplicates[0], k.Duplicates[1])
	case *kind.FalseSchema:
		return "is not allowed"
	case *kind.OneOf:
		return "matches more than one alternative"
	}
	return "is refused by " + strings.Join(k.KeywordPath(), ".")
}

func listed(all []any) string {
	const shown = 8
	var texts []string
	for _, v := range all[:min(len(all), shown)] {
		texts = append(texts, fmt.Sprintf("%v", v))
	}
	if len(all) > shown {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}

// asMap is a map whatever type of map it is.
func asMap(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case values:
		return v, true
	}
	return nil, false
}
