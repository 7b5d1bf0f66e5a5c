package charts

import (
	"strings"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// scan refuses a template text that would overflow the stack of Go's template parser, which
// goes one level down for each control structure and each parenthesis.
func scan(text string) error {
	nested, actions := 0, 0
	for {
		_, rest, found := strings.Cut(text, "{{")
		if !found {
			return nil
		}
		if actions++; actions > limits.Actions {
			return limitf("a template has more than %d actions", limits.Actions)
		}
		word, parens, end := action(rest)
		switch word {
		case "if", "range", "with", "define", "block", "else":
			nested++
		case "end":
			// An else is one level deeper, and has no end of its own.
			nested = max(0, nested-1)
		}
		if nested > limits.OpenBlocks || parens > limits.Nesting {
			return limitf("a template is nested too deeply")
		}
		text = rest[end:]
	}
}

// action looks through an action up to its end: its first word, how deep its parentheses
// nest, and where the text goes on.
func action(s string) (word string, parens, end int) {
	i := 0
	if strings.HasPrefix(s, "- ") {
		i = 2
	}
	i += len(s[i:]) - len(strings.TrimLeft(s[i:], " \t\r\n"))
	if strings.HasPrefix(s[i:], "/*") {
		if stop := strings.Index(s[i:], "*/"); stop >= 0 {
			return "", 0, i + stop
		}
		return "", 0, len(s)
	}
	start := i
	for i < len(s) && s[i] >= 'a' && s[i] <= 'z' {
		i++
	}
	word = s[start:i]
	open := 0
	for i < len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\'' || c == '`':
			i = quoted(s, i)
			continue
		case c == '(':
			open++
			parens = max(parens, open)
		case c == ')':
			open--
		case c == '}' && strings.HasPrefix(s[i:], "}}"):
			return word, parens, i + 2
		}
		i++
	}
	return word, parens, len(s)
}

// quoted is the place after a quoted text that starts at i.
func quoted(s string, i int) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote != '`':
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}
