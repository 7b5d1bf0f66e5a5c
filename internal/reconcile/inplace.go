package reconcile

import (
	"maps"
	"regexp"
	"strings"
)

// kustomize-controller writes an object as YAML, replaces the variables in that text, and reads
// it again. Most variables stand in texts of which it is certain what comes of that, and then
// replacing them in place costs a small part of it. An inPlace does so, and leaves to the way
// through YAML all that isn't certain. The tests hold it against that.
type inPlace struct {
	vars Variables
	used map[string]bool
	// growth is by how many bytes the object is longer, at most most.
	growth, most int
}

var (
	// reference is the only form of a variable that is replaced in place.
	reference = regexp.MustCompile(`\$\{[_[:alpha:]][_[:alpha:][:digit:]]*\}`)
	// harmless is what changes neither the style of a text nor ends it. An unknown value
	// stands as its own reference.
	harmless = regexp.MustCompile(`^[[:alnum:]_./@-]([[:alnum:]_./:@-]*[[:alnum:]_./@-])?$`)
	// plainSource is a text that is written without quotes: it starts with no indicator, and
	// holds no ": " or " #", which the caller looks for.
	plainSource = regexp.MustCompile(`^[[:alpha:]$/][[:alnum:] _./:@$(){}=?&,+%~*;-]*$`)
	// certainText is a plain text that is read as a text, but for the words that are not.
	certainText = regexp.MustCompile(`^[[:alpha:]/][[:alnum:] _./:@$(){}=?&,+%~*;-]*$`)
)

// otherThanTexts are the words that YAML 1.1 reads as something else than a text.
// Source: go.yaml.in/yaml/v2, resolve.go.
var otherThanTexts = map[string]bool{
	"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true, "true": true, "false": true, "null": true, "nan": true, "inf": true,
}

// indicators are what a text in quotes may start with, and one without may not.
const indicators = "{[\"'*&!|>%@`"

// lineWidth is from where on the writer of YAML may break a line, and indentWidth how far each
// level of an object is from the one around it at most.
const (
	lineWidth   = 80
	indentWidth = 2
)

// mostInPlace is how long a value is at most that is replaced in place. The way through YAML
// says what longer ones come to before it replaces any.
const mostInPlace = 4096

// object replaces the variables in an object. The value that it is given isn't changed. It
// returns false where the way through YAML must be taken.
func (p *inPlace) object(value map[string]any) (map[string]any, bool) {
	result, ok := p.value(value, 0, 0)
	if !ok {
		return nil, false
	}
	return result.(map[string]any), true
}

// value replaces the variables in a copy of a part of an object, which stands that many levels deep and
// columns behind its indentation.
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

// text replaces the variables in a text that starts at least at a column.
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

// known says whether all variables are defined, and their values short and harmless. It adds up
// what they make the text longer by.
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

// isQuoted says whether a text is sure to be written in quotes or as a block of lines, so that
// it stays a text.
func isQuoted(text string) bool {
	return strings.Contains(text, "\n") || strings.Contains(text, ": ") || strings.Contains(text, " #") || strings.Contains(indicators, text[:1])
}

// isPlainBefore says whether a text is sure to be written in one line without quotes.
func isPlainBefore(text string, column int) bool {
	return plainSource.MatchString(text) && !strings.HasSuffix(text, ":") && !strings.HasSuffix(text, " ") &&
		(!strings.Contains(text, " ") || column+len(text) < lineWidth)
}

// isTextAfter says whether a text without quotes is sure to be read as that text.
func isTextAfter(text string) bool {
	return certainText.MatchString(text) && !strings.HasSuffix(text, ":") && !strings.Contains(text, ": ") && !otherThanTexts[strings.ToLower(text)]
}
