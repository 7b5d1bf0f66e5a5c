package repository

import (
	"cmp"
	"strings"

	"github.com/fleetwright/fleetwright/internal/secrets/credential"
)

// Leading returns the strings to hide for a value and the name of its field. A build may copy such a value into
// any field, such as a variable of a Kustomization. If ofSecret is set, the value is one of a Secret and is hidden unless it
// is a plain name or evidently public. A single word or a number is hidden only in quotes, because it also occurs elsewhere.
func Leading(name, value string, ofSecret bool) []string {
	value = strings.TrimSpace(value)
	switch {
	case len(value) < leastLeading || credential.IsPlaceholder(value) || len(value) > longestLine:
		return nil
	case !ofSecret && !credential.HideLine(name, value), ofSecret && credential.Judge(name, value) == credential.Public:
		return nil
	case isPlainName(value) || credential.IsEvident(value):
		if !credential.HideLine(name, value) {
			return nil
		}
		return []string{`"` + value + `"`}
	}
	all := []string{value}
	if len(value) >= leastCased { // functions of variables may change the case
		all = append(all, strings.ToLower(value), strings.ToUpper(value))
	}
	return all
}

// leastLeading is the minimum length of a value that is hidden everywhere, and leastCased the minimum length of one that
// is also hidden in lower and upper case.
const (
	leastLeading = 4
	leastCased   = 8
)

// Know adds strings that no message and no source line of any file may show.
func (l *Lines) Know(texts []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, text := range texts {
		if l.known[text] || len(l.known) >= mostNoted {
			continue
		}
		if l.known == nil {
			l.known = map[string]bool{}
		}
		l.known[text], l.hideKnown = true, nil
	}
}

// Without returns a text in which the strings that were passed to [Lines.Know] are hidden.
func (l *Lines) Without(text string) string {
	l.mu.Lock()
	if l.hideKnown == nil && len(l.known) > 0 {
		texts := make([]string, 0, len(l.known))
		for text := range l.known {
			texts = append(texts, text)
		}
		l.hideKnown = hiding(texts)
	}
	hide := cmp.Or(l.hideKnown, nothing)
	l.mu.Unlock()
	return hide.Replace(text)
}

// nothing replaces nothing.
var nothing = strings.NewReplacer()

// isPlainName reports whether a value is lower-case words separated by hyphens, a name in camel case or of a constant, or
// the start of a block, flow or anchor in YAML. Values may be long: this is faster than a regular expression.
func isPlainName(value string) bool {
	switch {
	case value == "":
		return false
	case isLower(value[0]):
		return areWords(value, '-', isLower)
	case isUpper(value[0]) && len(value) > 1 && isLower(value[1]):
		return isCamel(value)
	case isUpper(value[0]):
		return strings.Contains(value, "_") && areWords(value, '_', isUpper)
	}
	return strings.IndexByte("{[|>&", value[0]) >= 0 && (len(value) == 1 || len(value) == 2 && (value[1] == '-' || value[1] == '+'))
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// areWords reports whether a value consists of words of certain letters with one separator between them.
func areWords(value string, separator byte, letter func(byte) bool) bool {
	word := false
	for i := range len(value) {
		switch {
		case letter(value[i]):
			word = true
		case value[i] == separator && word:
			word = false
		default:
			return false
		}
	}
	return word
}

// isCamel reports whether a value is words in lower case that each begin with a capital letter.
func isCamel(value string) bool {
	for i := range len(value) {
		capital := isUpper(value[i]) && i+1 < len(value) && isLower(value[i+1])
		if !capital && !isLower(value[i]) {
			return false
		}
	}
	return true
}
