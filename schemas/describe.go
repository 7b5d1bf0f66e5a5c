package schemas

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapi "k8s.io/kube-openapi/pkg/validation/errors"

	"github.com/fleetwright/fleetwright/internal/count"
)

// describer converts the validator's errors to problems.
type describer struct {
	object map[string]any
	at     []any
	// secret is set if no value may be shown, literal if ${VAR} is an ordinary value.
	secret, literal bool
	// structure is the schema of the object, nil if it is unknown.
	structure *structural.Structural
}

// quotedPath matches the field in the validator's errors about allOf, anyOf, oneOf and not, which have no separate field.
var quotedPath = regexp.MustCompile(`^"([^"]*)" (must .*)$`)

// problem converts an error to a problem. For an error about an encrypted value, the kind of the
// problem is "".
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
		if unit := d.unitHint(path, value); unit != "" {
			hint = unit
		}
	}
	p := Problem{Kind: Invalid, Path: full, Message: name + " " + message, Hint: hint,
		Required: failed != nil && failed.Code() == openapi.RequiredFailCode,
		blocking: failed != nil && isBlocking(failed.Code())}
	if limit := beyond(failed, value); limit != nil {
		p.Kind, p.Message, p.Hint = Exceeded, limit.Error(), ""
	}
	return d.unlessUnknown(p, name, value)
}

// beyond returns the error of a quantity that exceeds a limit, nil if it does not.
func beyond(failed *openapi.Validation, value any) error {
	if text, isText := value.(string); isText && failed != nil && failed.Code() == openapi.InvalidTypeCode && wanted(failed) == quantityFormat {
		return count.Number(text)
	}
	return nil
}

// wanted returns the type that a value should have.
func wanted(e *openapi.Validation) string {
	_, want, _ := strings.Cut(e.Error(), "must be of type ")
	want, _, _ = strings.Cut(want, `: "`)
	return want
}

// isBlocking reports whether the API server does not evaluate the rules of an object with such an error
// (apiextensions-apiserver, customresource/strategy.go, hasBlockingErr, and validation.go,
// kubeOpenAPIResultToFieldErrors).
func isBlocking(code int32) bool {
	return slices.Contains([]int32{openapi.RequiredFailCode, openapi.InvalidTypeCode, openapi.EnumFailCode,
		openapi.TooLongFailCode, openapi.MaxItemsFailCode, openapi.TooManyPropertiesCode}, code)
}

// unlessUnknown returns the problem as unresolved if the value will be substituted, and as no problem if the value is
// encrypted.
func (d describer) unlessUnknown(p Problem, name string, value any) Problem {
	text, _ := value.(string)
	key := ""
	if len(p.Path) > 0 {
		key, _ = p.Path[len(p.Path)-1].(string)
	}
	switch {
	case isEncrypted(text):
		p.Kind = ""
	case !d.literal && (isSubstituted(text) || isSubstituted(key)):
		p.Kind, p.Hint = Unresolved, ""
		p.Message = name + " contains a variable with an unknown value"
	}
	return p
}

// fieldError converts an error of the API server's own checks.
func (d describer) fieldError(err *field.Error) Problem {
	return d.fieldErrorAt(pathOf(d.object, fieldName(err)), err)
}

// fieldErrorAt converts an error whose path is known better than from the error itself.
func (d describer) fieldErrorAt(path []any, err *field.Error) Problem {
	full := slices.Concat(d.at, path)
	name := Field(full)
	p := Problem{Kind: Invalid, Path: full, Required: err.Type == field.ErrorTypeRequired}
	value := valueAt(d.object, path)
	switch err.Type {
	case field.ErrorTypeRequired:
		p.Message, p.blocking = name+" is required", true
	case field.ErrorTypeDuplicate:
		p.Message = fmt.Sprintf("%s repeats an entry%s", name, d.key(err.BadValue))
		p.Hint = "entries of this list are identified by " + keyNames(err.BadValue) + ": merge them, or rename one"
	default:
		// The rest contains examples and the regular expression.
		detail, _, _ := strings.Cut(err.Detail, " (e.g. ")
		p.Message = fmt.Sprintf("%s %s%s", name, d.quoted(value), detail)
		if _, plain := err.BadValue.(string); plain && value != nil && value != err.BadValue {
			p.Message = fmt.Sprintf("%s: %s", name, detail)
		}
		p.blocking = err.Type != field.ErrorTypeInvalid && err.Type != field.ErrorTypeForbidden
	}
	return d.unlessUnknown(p, name, value)
}

// key returns the key of a list's entry in words.
func (d describer) key(key any) string {
	if d.secret {
		return ""
	}
	keys, ok := key.(map[string]any)
	if !ok {
		return fmt.Sprintf(": %s already exists", literal(key))
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		parts = append(parts, fmt.Sprintf("%s %s", k, literal(keys[k])))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(": one with %s already exists", strings.Join(parts, " and "))
}

func literal(v any) string {
	if text, ok := v.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(v)
}

func keyNames(key any) string {
	keys, ok := key.(map[string]any)
	if !ok || len(keys) == 0 {
		return "their value"
	}
	return strings.Join(slices.Sorted(maps.Keys(keys)), " and ")
}

// explain returns a message about a wrong value with the allowed ones.
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
	// The error of a format ends with the value: must be of type date-time: "…".
	text, _, _ = strings.Cut(text, `: "`)
	text = strings.Replace(text, "should ", "must ", 1)
	text = strings.Replace(text, "shouldn't ", "must not ", 1)
	return d.quoted(value) + text, ""
}

func (d describer) wrongType(e *openapi.Validation, value any) (message, hint string) {
	want := wanted(e)
	if _, isText := value.(string); isText && want != "" && !isJSONType(want) {
		if want == "byte" {
			return d.quoted(value) + "must be base64", "encode it, or write it into stringData"
		}
		return fmt.Sprintf("%smust be a %s", d.quoted(value), want), ""
	}
	message = fmt.Sprintf("must be %s, not %s", typeNames(want), typeOf(value))
	if text, isText := value.(string); isText && !d.secret {
		switch {
		case strings.HasPrefix(want, "int"):
			hint = bareHint(text)
		case want == "boolean":
			hint = truthHint(text)
		}
	}
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

// unitHint returns how to write a duration without a unit; "" for other values.
func (d describer) unitHint(path []any, value any) string {
	node := nodeAt(d.structure, path)
	if node == nil || node.ValueValidation == nil || node.ValueValidation.Pattern == "" || d.secret {
		return ""
	}
	number := fmt.Sprint(value)
	if _, err := strconv.ParseFloat(number, 64); err != nil || len(number) > 20 {
		return ""
	}
	pattern, err := count.Compile(node.ValueValidation.Pattern)
	if err != nil || pattern.MatchString(number) || !pattern.MatchString(number+"s") || !pattern.MatchString(number+"m") {
		return ""
	}
	return fmt.Sprintf("a duration has a unit: %ss for seconds, %sm for minutes", number, number)
}

// bareHint returns how to write a string that should be a number; "" if it isn't one.
func bareHint(text string) string {
	number, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || text != strings.TrimSpace(text):
		return ""
	case len(text) > 1 && strings.Trim(text, "01234567") == "" && text[0] == '0':
		octal, _ := strconv.ParseInt(text, 8, 64)
		return fmt.Sprintf("write it without quotes: %d; %s without them is octal, and means %d", number, text, octal)
	}
	return fmt.Sprintf("write it without quotes: %d", number)
}

// truthHint returns how to write a string that should be a boolean: a word that is a boolean in YAML 1.1, but not for
// the API server; "" for other strings.
func truthHint(text string) string {
	switch strings.ToLower(text) {
	case "true", "false":
		return "write it without quotes: " + strings.ToLower(text)
	case "y", "yes", "on":
		return "write true"
	case "n", "no", "off":
		return "write false"
	}
	return ""
}

func (d describer) notAllowed(e *openapi.Validation, value any) (message, hint string) {
	allowed := make([]string, 0, len(e.Values))
	for _, v := range e.Values {
		if v != "" || len(e.Values) == 1 {
			allowed = append(allowed, fmt.Sprint(v))
		}
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

// quoted returns the value and a comma if it may be shown and is short.
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
