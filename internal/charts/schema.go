package charts

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// Problem is a value that the chart's schema refuses.
type Problem struct {
	// Path in the values: field names and list indexes.
	Path []any
	// Chart to which the schema belongs.
	Chart   string
	Message string
}

// mostProblems is the maximum of refused values that are reported.
const mostProblems = 50

// checkSchemas checks values against the schemas of a chart and of its dependencies that have values; path is the path of
// the values in those of the release. The error is a *LimitError or an *UnknownError if that cannot be decided, or a
// mistake in a schema. Source: helm.sh/helm/v4 pkg/chart/common/util, ValidateAgainstSchema.
func checkSchemas(c *chart.Chart, values map[string]any, path []any) ([]Problem, error) {
	var problems []Problem
	if c.Schema != nil {
		found, err := check(c.Schema, values)
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
		found, err := checkSchemas(child, own, at)
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return problems, nil
}

// check checks values against one schema.
func check(text []byte, values map[string]any) (problems []Problem, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be evaluated: %v", p)
		}
	}()
	if nodesOf(text) > limits.ChartText {
		return nil, limitf("it is larger than any known schema")
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if err := count.Numbers(document); err != nil {
		return nil, limitf("%v", err)
	}
	compiler, patterns := jsonschema.NewCompiler(), patterns{}
	compiler.UseLoader(nothing{})
	compiler.UseRegexpEngine(patterns.compile)
	if err := compiler.AddResource(schemaAddress, document); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(schemaAddress)
	if patterns.limit != nil {
		return nil, limitf("%v", patterns.limit)
	}
	if err != nil {
		if missing := (*jsonschema.LoadURLError)(nil); errors.As(err, &missing) {
			return nil, &UnknownError{fmt.Sprintf("it refers to %q, which is not supported", missing.URL)}
		}
		return nil, fmt.Errorf("it is not a JSON schema: %w", err)
	}
	var refused *jsonschema.ValidationError
	if err := compiled.Validate(values); errors.As(err, &refused) {
		return leaves(refused, nil), nil
	} else if err != nil {
		return nil, err
	}
	return nil, nil
}

// schemaAddress is the address of a schema itself.
const schemaAddress = "file:///values.schema.json"

// nothing refuses to load schemas that another one references: that would read files and addresses.
type nothing struct{}

// Load returns an error.
func (nothing) Load(string) (any, error) { return nil, errors.New("it is not read") }

// patterns compiles the regular expressions of a schema.
type patterns struct {
	limit *count.Error // exceeded by one of them
}

func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	re, err := count.Compile(text)
	if err != nil {
		errors.As(err, &p.limit)
		return nil, err
	}
	return re, nil
}

// leaves adds the innermost problems, without the values themselves, which may be secret.
func leaves(e *jsonschema.ValidationError, problems []Problem) []Problem {
	if len(problems) >= mostProblems {
		return problems
	}
	if k, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		for _, name := range slices.Sorted(slices.Values(k.Properties)) {
			problems = append(problems, Problem{Path: append(pathOf(e.InstanceLocation), name), Message: "is not a value of the chart"})
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

// sortedCauses returns the causes in a fixed order: the library iterates over maps.
func sortedCauses(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	return slices.SortedStableFunc(slices.Values(e.Causes), func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), cmp.Compare(a.SchemaURL, b.SchemaURL),
			slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()))
	})
}

// alternativesOf returns what each of some alternatives misses.
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

// messageOf returns what is wrong, without the value.
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
		return fmt.Sprintf("must be greater than %s", k.Want.RatString())
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("must be less than %s", k.Want.RatString())
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
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
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

// asMap returns a map of any map type as a map.
func asMap(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case common.Values:
		return v, true
	}
	return nil, false
}
