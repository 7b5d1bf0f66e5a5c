package reconcile

import (
	"maps"
	"regexp"
	"strings"
)

// An inPlace replaces variables in an object without writing it as YAML. kustomize-controller writes an object as YAML,
// replaces the variables in that text, and reads it again. Most variables are in strings for which the result of this is
// certain; replacing these in place costs a small part of it. All others are left to the way through YAML, against which
// the tests compare the results.
type inPlace struct {
	vars Variables
	used map[string]bool
	// growth is the number of bytes by which the object gets longer; most is its limit.
	growth, most int
}

var (
	// reference is the only form of a variable that is replaced in place.
	reference = regexp.MustCompile(`\$\{[_[:alpha:]][_[:alpha:][:digit:]]*\}`)
	// harmless matches values that neither change the style of a string nor end it. An unknown value is replaced by its
	// own reference.
	harmless = regexp.MustCompile(`^[[:alnum:]_./@-]([[:alnum:]_./:@-]*[[:alnum:]_./@-])?$`)
	// plainSource matches strings that are written without quotes: they start with no indicator, and contain no ": " or "
	// #", which the caller checks.
	plainSource = regexp.MustCompile(`^[[:alpha:]$/][[:alnum:] _./:@$(){}=?&,+%~*;-]*$`)
	// certainText matches plain strings that are read as strings, except for some words.
	certainText = regexp.MustCompile(`^[[:alpha:]/][[:alnum:] _./:@$(){}=?&,+%~*;-]*$`)
)

// otherThanTexts are the words that YAML 1.1 does not read as strings. Source: go.yaml.in/yaml/v2, resolve.go.
var otherThanTexts = map[string]bool{
	"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true, "true": true, "false": true, "null": true, "nan": true, "inf": true,
}

// indicators are characters that a plain string must not start with; a quoted one may.
const indicators = "{[\"'*&!|>%@`"

// lineWidth is the column from which the writer of YAML may break a line, and indentWidth the maximum of columns by which
// a level of an object is indented.
const (
	lineWidth   = 80
	indentWidth = 2
)

// mostInPlace is the maximum length of a value that is replaced in place. The way through YAML computes the size of
// longer ones before it replaces any.
const mostInPlace = 4096

// object returns a copy of an object with its variables replaced. It returns false if the result is not certain, so that
// the object must go through YAML.
func (p *inPlace) object(value map[string]any) (map[string]any, bool) {
	result, ok := p.value(value, 0, 0)
	if !ok {
		return nil, false
	}
	return result.(map[string]any), true
}

// value returns a copy of a part of an object with its variables replaced; depth is its level in the object, and column
// its offset from its indentation.
func (p *inPlace) value(value any, depth, column int) (any, bool) {
	switch value := value.(type) {
	case string:
		if !strings.Contains(value, "$") {
			return value, true
		}
		return p.text(value, indentWidth*depth+column)
	case map[string]any:
		changed := maps.Clone(value)
		for key, field := range value {
			var ok bool
			if changed[key], ok = p.value(field, depth+1, len(key)+len(`"": `)); !ok || strings.Contains(key, "$") {
				return nil, false
			}
		}
		return changed, true
	case []any:
		changed := make([]any, len(value))
		for i, item := range value {
			var ok bool
			if changed[i], ok = p.value(item, depth+1, column); !ok {
				return nil, false
			}
		}
		return changed, true
	}
	return value, true
}

// text replaces the variables in a string that starts at a column or after it.
func (p *inPlace) text(text string, column int) (any, bool) {
	references := reference.FindAllStringIndex(text, -1)
	if strings.Count(text, "$") != len(references) || !p.known(text, references) || p.growth > p.most {
		return nil, false
	}
	replaced := reference.ReplaceAllStringFunc(text, func(match string) string {
		name := match[len("${") : len(match)-len("}")]
		p.used[name] = true
		value := match
		if v := p.vars[name]; v.Known {
			value = v.Value
		}
		return value
	})
	return replaced, isQuoted(text) || isPlainBefore(text, column) && isTextAfter(replaced)
}

// known reports whether all variables are defined, with short and harmless values. It adds the length that they add to
// the string to the growth.
func (p *inPlace) known(text string, references [][]int) bool {
	for _, at := range references {
		v, ok := p.vars[text[at[0]+len("${"):at[1]-len("}")]]
		if !ok || v.Undefined || v.Known && (len(v.Value) > mostInPlace || !harmless.MatchString(v.Value)) {
			return false
		}
		if v.Known {
			p.growth += max(0, len(v.Value)-(at[1]-at[0]))
		}
	}
	return true
}

// isQuoted reports whether a string is certain to be written in quotes or as a block of lines, so that it remains a
// string.
func isQuoted(text string) bool {
	return strings.Contains(text, "\n") || strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.Contains(indicators, text[:1])
}

// isPlainBefore reports whether a string is certain to be written in one line without quotes.
func isPlainBefore(text string, column int) bool {
	return plainSource.MatchString(text) && !strings.HasSuffix(text, ":") && !strings.HasSuffix(text, " ") &&
		(!strings.Contains(text, " ") || column+len(text) < lineWidth)
}

// isTextAfter reports whether a string without quotes is certain to be read as the same string.
func isTextAfter(text string) bool {
	return certainText.MatchString(text) && !strings.HasSuffix(text, ":") && !strings.Contains(text, ": ") && !otherThanTexts[strings.ToLower(text)]
}
