package schemas

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	openapi "k8s.io/kube-openapi/pkg/validation/errors"
)

// describer turns the validator's errors into problems.
type describer struct {
	object map[string]any
	at     []any
	// secret says that no value may be told.
	secret bool
}

// quotedPath is how the validator names the field in errors about allOf, anyOf,
// oneOf and not, which have no field of their own.
var quotedPath = regexp.MustCompile(`^"([^"]*)" (must .*)$`)

// problem describes an error. One about a value that is encrypted is none: its
// kind is "".
func (d describer) problem(err error) Problem {
	var failed *openapi.Validation
	field, message, hint := "", "", ""
	if errors.As(err, &failed) {
		field = failed.Name
	} else if m := quotedPath.FindStringSubmatch(err.Error()); m != nil {
		field, message = m[1], m[2]
	} else {
		message = err.Error()
	}
	path := pathOf(d.object, field)
	value := valueAt(d.object, path)
	full := slices.Concat(d.at, path)
	name := Field(full)
	if name == "" {
		name = "the object"
	}
	if failed != nil {
		message, hint = d.explain(failed, value)
	}
	p := Problem{Kind: Invalid, Path: full, Message: name + " " + message, Hint: hint,
		Required: failed != nil && failed.Code() == openapi.RequiredFailCode}
	if text, ok := value.(string); ok {
		switch {
		case isEncrypted(text):
			p.Kind = ""
		case isSubstituted(text):
			p.Kind, p.Hint = Unresolved, ""
			p.Message = name + " is substituted by Flux: its value isn't known here"
		}
	}
	return p
}

// explain says what is wrong with a value and what is allowed.
func (d describer) explain(e *openapi.Validation, value any) (message, hint string) {
	switch e.Code() {
	case openapi.RequiredFailCode:
		return "is required", ""
	case openapi.InvalidTypeCode:
		return d.wrongType(e, value)
	case openapi.EnumFailCode:
		return d.notAllowed(e, value)
	case openapi.PatternFailCode:
		_, pattern, _ := strings.Cut(e.Error(), " should match ")
		return fmt.Sprintf("%smust match %s", d.quoted(value), pattern), ""
	}
	text := e.Error()
	if _, after, ok := strings.Cut(text, " in body "); ok {
		text = after
	}
	// A failed format ends in the value: must be of type date-time: "…".
	text, _, _ = strings.Cut(text, `: "`)
	text = strings.Replace(text, "should ", "must ", 1)
	text = strings.Replace(text, "shouldn't ", "must not ", 1)
	return d.quoted(value) + text, ""
}

func (d describer) wrongType(e *openapi.Validation, value any) (message, hint string) {
	_, want, _ := strings.Cut(e.Error(), "must be of type ")
	want, _, _ = strings.Cut(want, `: "`)
	if _, isText := value.(string); isText && want != "" && !isJSONType(want) {
		return fmt.Sprintf("%smust be a %s", d.quoted(value), want), ""
	}
	message = fmt.Sprintf("must be %s, not %s", typeNames(want), typeOf(value))
	if want == "string" {
		switch value.(type) {
		case bool, int64, float64, uint64:
			if !d.secret {
				hint = fmt.Sprintf("quote it: \"%v\"", value)
			} else {
				hint = "quote it"
			}
		}
	}
	return message, hint
}

func (d describer) notAllowed(e *openapi.Validation, value any) (message, hint string) {
	allowed := make([]string, 0, len(e.Values))
	for _, v := range e.Values {
		allowed = append(allowed, fmt.Sprint(v))
	}
	message = fmt.Sprintf("%smust be one of %s", d.quoted(value), strings.Join(allowed, ", "))
	if text, ok := value.(string); ok {
		for _, v := range allowed {
			if strings.EqualFold(v, text) {
				hint = fmt.Sprintf("did you mean %q?", v)
			}
		}
	}
	return message, hint
}

// quoted is the value and a comma, where it may be told and isn't long.
func (d describer) quoted(value any) string {
	const longest = 80
	switch v := value.(type) {
	case string:
		if !d.secret && len(v) <= longest {
			return fmt.Sprintf("is %q, ", v)
		}
	case int64, uint64, float64, bool:
		if !d.secret {
			return fmt.Sprintf("is %v, ", v)
		}
	}
	return ""
}

func isJSONType(name string) bool {
	for n := range strings.SplitSeq(name, ",") {
		if !slices.Contains([]string{"string", "integer", "number", "boolean", "object", "array", "int32", "int64", "double"}, n) {
			return false
		}
	}
	return true
}

// typeNames says types as YAML's users do.
func typeNames(types string) string {
	var names []string
	for t := range strings.SplitSeq(types, ",") {
		names = append(names, typeName(t))
	}
	return strings.Join(names, " or ")
}

func typeName(t string) string {
	switch t {
	case "object":
		return "a map"
	case "array":
		return "a list"
	case "integer", "int32", "int64":
		return "an integer"
	case "number", "double", "float":
		return "a number"
	case "boolean":
		return "true or false"
	case "string":
		return "a string"
	}
	return "a " + t
}

func typeOf(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return fmt.Sprint(v)
	case int64, uint64:
		return "an integer"
	case float64:
		return "a number"
	}
	return "null"
}
