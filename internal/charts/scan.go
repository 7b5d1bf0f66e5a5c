package charts

import (
	"strings"
	"unicode"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Helm's include and tpl create texts inside of its engine, where a function of ours cannot count. So each
// template is run with {{ include "a" . | fleetwright_result }} for {{ include "a" . }}, and with
// {{ tpl (fleetwright_text .Values.x) . | fleetwright_result }} for {{ tpl .Values.x . }}.
const (
	resultFunction = "fleetwright_result"
	textFunction   = "fleetwright_text"
)

// boundedResult returns what include or tpl gives, or an error if that or all of it together is too large.
func (x *execution) boundedResult(text string) (string, error) {
	if len(text) > limits.ChartOutput {
		return "", errAtOnce
	}
	if x.included += len(text); x.included > limits.ChartIncluded {
		return "", errIncluded
	}
	return text, nil
}

// boundedText returns the text that tpl runs, with bounds of its own.
func boundedText(text any) (any, error) {
	if s, ok := text.(string); ok {
		return bound(s)
	}
	return text, nil
}

// unbounded returns the text that bound was given.
func unbounded(text string) string {
	text = strings.ReplaceAll(text, " | "+resultFunction, "")
	return strings.ReplaceAll(text, textFunction+" ", "")
}

// boundTemplates bounds all templates of a chart and its dependencies.
func boundTemplates(c *chart.Chart) error {
	var all []*common.File
	for _, t := range c.Templates {
		if t == nil {
			continue
		}
		text, err := bound(string(t.Data))
		if err != nil {
			return err
		}
		all = append(all, &common.File{Name: t.Name, ModTime: t.ModTime, Data: []byte(text)})
	}
	c.Templates = all
	for _, child := range c.Dependencies() {
		if err := boundTemplates(child); err != nil {
			return err
		}
	}
	return nil
}

// bound returns the text of a template with a check of each include and tpl, on the same lines. It refuses a text
// that would overflow the stack of Go's template parser, which goes one level down for each control structure
// and each parenthesis.
func bound(text string) (string, error) {
	var out strings.Builder
	nested, actions := 0, 0
	for {
		before, rest, found := strings.Cut(text, "{{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		if actions++; actions > limits.Actions {
			return "", limitf("a template has more than %d actions", limits.Actions)
		}
		a := readAction(rest)
		switch a.word {
		case "if", "range", "with", "define", "block", "else":
			nested++
		case "end":
			// An else is one level deeper, and has no end of its own.
			nested = max(0, nested-1)
		}
		if nested > limits.OpenBlocks || a.depth > limits.Nesting {
			return "", limitf("a template is nested too deeply")
		}
		out.WriteString("{{")
		a.write(&out, rest)
		text = rest[a.end:]
	}
}

// action is what a template has between {{ and }}.
type action struct {
	// word is its first one, depth how deep its parentheses nest, and end where the text goes on.
	word       string
	depth, end int
	// commands are those in open parentheses, the last one the innermost.
	commands []command
	inserts  []insert
}

// command is a part of an action that ends with |, ) or }}.
type command struct {
	// function is "include", "tpl" or "".
	function string
	// argument is where the text begins that tpl runs, and 0 once it has ended or where there is none.
	argument int
}

type insert struct {
	at   int
	text string
}

// spaces are those of text/template.
const spaces = " \t\r\n"

func readAction(s string) action {
	i := 0
	if len(s) > 1 && s[0] == '-' && strings.IndexByte(spaces, s[1]) >= 0 {
		i = 2
	}
	i += len(s[i:]) - len(strings.TrimLeft(s[i:], spaces))
	if strings.HasPrefix(s[i:], "/*") {
		if stop := strings.Index(s[i+2:], "*/"); stop >= 0 {
			return action{end: i + 2 + stop}
		}
		return action{end: len(s)}
	}
	a := action{word: s[i : i+wordLength(s[i:])], commands: make([]command, 1)}
	for i < len(s) {
		if strings.HasPrefix(s[i:], "}}") {
			a.endCommand(s, i)
			a.end = i + 2
			return a
		}
		i = a.token(s, i)
	}
	a.inserts, a.end = nil, len(s) // it doesn't parse
	return a
}

// token reads the token of an action at i, and returns where the next one begins.
func (a *action) token(s string, i int) int {
	current := &a.commands[len(a.commands)-1]
	switch c := s[i]; c {
	case ' ', '\t', '\r', '\n':
		a.endArgument(current, i)
		return i + 1
	case '|':
		a.endCommand(s, i)
		return i + 1
	case ')':
		a.endCommand(s, i)
		if len(a.commands) > 1 {
			a.commands = a.commands[:len(a.commands)-1]
		}
		return i + 1
	}
	if current.function == "tpl" && current.argument < 0 {
		current.argument = i
	}
	switch s[i] {
	case '(':
		a.commands = append(a.commands, command{})
		a.depth = max(a.depth, len(a.commands)-1)
	case '"', '\'', '`':
		return quoted(s, i)
	case '$', '.':
		return i + 1 + wordLength(s[i+1:])
	}
	word := s[i : i+wordLength(s[i:])]
	if word == "include" || word == "tpl" {
		*current = command{function: word, argument: -1}
	}
	return i + max(1, len(word))
}

// endArgument puts the text that tpl runs into parentheses, with the function that bounds it.
func (a *action) endArgument(c *command, i int) {
	if c.function == "tpl" && c.argument > 0 {
		a.inserts = append(a.inserts, insert{c.argument, "(" + textFunction + " "}, insert{i, ")"})
		c.argument = 0
	}
}

// endCommand adds the check of its result to a command that ends before i.
func (a *action) endCommand(s string, i int) {
	current := &a.commands[len(a.commands)-1]
	end := len(strings.TrimRight(s[:i], spaces))
	if before := strings.TrimRight(strings.TrimSuffix(s[:i], "-"), spaces); strings.HasPrefix(s[i:], "}}") && len(before) < i-1 {
		end = len(before) // " -}}" ends it
	}
	a.endArgument(current, end)
	if current.function != "" {
		a.inserts = append(a.inserts, insert{end, " | " + resultFunction})
	}
	*current = command{}
}

// write writes the action with its inserts.
func (a *action) write(out *strings.Builder, s string) {
	sorting.StableFunc(a.inserts, func(x, y insert) int { return x.at - y.at })
	last := 0
	for _, in := range a.inserts {
		out.WriteString(s[last:in.at])
		out.WriteString(in.text)
		last = in.at
	}
	out.WriteString(s[last:a.end])
}

// wordLength is the length of the letters, digits and underscores that a text begins with.
func wordLength(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(s)
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
