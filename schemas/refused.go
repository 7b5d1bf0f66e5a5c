package schemas

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// longestDetail is the maximum length of the API server's error in a message.
const longestDetail = 300

// Refused converts the errors of the API server's own code about an object to problems, sorted by field. If the object
// contains values that Flux substitutes or that are encrypted, it returns only errors about a single known value.
func Refused(object map[string]any, errs field.ErrorList, opts Options) []Problem {
	describe := describer{object: object, literal: opts.Literal, secret: object["kind"] == "Secret"}
	alone := holdsUnknown(object, opts.Literal)
	var found []Problem
	for _, err := range errs {
		path := refusedPath(object, err)
		value := valueAt(object, path)
		if alone && !wrongAlone(err, value) {
			continue
		}
		p := describe.fieldErrorAt(path, err)
		switch detail := shortened(err.Detail); {
		case err.Type == field.ErrorTypeInternal:
			p.Kind, p.Message = Unresolved, "the object is not checked: "+detail
		case err.Type == field.ErrorTypeNotFound:
			p.Message = Field(path) + " refers to an item that does not exist in the object"
			if text, isText := value.(string); isText && !describe.secret {
				p.Message = Field(path) + " is " + literal(text) + ", which does not exist in the object"
			}
		case err.Type == field.ErrorTypeDuplicate:
			p.Hint = "remove one of the two, or rename it"
		case p.Required && detail != "":
			p.Message += ": " + detail
		}
		if p.Kind != "" {
			found = append(found, p)
		}
	}
	return sorted(withoutDefaults(object, found), opts)
}

// withoutDefaults removes problems of fields that the object does not have if another problem causes them: the API server
// copies a default from another field, such as a target port from the port.
func withoutDefaults(object map[string]any, found []Problem) []Problem {
	caused := map[string]bool{}
	for _, p := range found {
		if len(p.Path) > 0 && valueAt(object, p.Path) != nil {
			caused[Field(p.Path[:len(p.Path)-1])] = true
		}
	}
	return slices.DeleteFunc(found, func(p Problem) bool {
		return len(p.Path) > 0 && !p.Required && valueAt(object, p.Path) == nil && caused[Field(p.Path[:len(p.Path)-1])]
	})
}

// refusedPath returns the path of an error in the object. The error's path refers to the API server's internal types,
// which have the labels of a template directly below it; an error about an entry of a map may name only the map.
func refusedPath(object map[string]any, err *field.Error) []any {
	name := fieldName(err)
	for _, of := range []string{"labels", "annotations"} {
		name = strings.Replace(name, "emplate."+of, "emplate.metadata."+of, 1)
	}
	path := pathOf(object, name)
	entries, isMap := valueAt(object, path).(map[string]any)
	bad, isText := err.BadValue.(string)
	if !isMap || !isText {
		return path
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if key == bad || entries[key] == bad {
			return append(path, key)
		}
	}
	return path
}

// wrongAlone reports whether an error is about a known value, independent of the rest of the object.
func wrongAlone(err *field.Error, value any) bool {
	switch err.Type {
	case field.ErrorTypeInvalid, field.ErrorTypeNotSupported, field.ErrorTypeTooLong:
	default:
		return false
	}
	switch value := value.(type) {
	case string:
		return !isSubstituted(value) && !isEncrypted(value)
	case int64, uint64, float64, bool:
		return true
	}
	return false
}

// holdsUnknown reports whether a value, or the name of a field in it, is substituted by Flux or encrypted.
func holdsUnknown(value any, literal bool) bool {
	switch value := value.(type) {
	case string:
		return !literal && isSubstituted(value) || isEncrypted(value)
	case []any:
		return slices.ContainsFunc(value, func(item any) bool { return holdsUnknown(item, literal) })
	case map[string]any:
		for key, item := range value {
			if !literal && isSubstituted(key) || holdsUnknown(item, literal) {
				return true
			}
		}
	}
	return false
}

// shortened returns a string cut to longestDetail.
func shortened(text string) string {
	if len(text) <= longestDetail {
		return text
	}
	return strings.ToValidUTF8(text[:longestDetail], "") + "…"
}
