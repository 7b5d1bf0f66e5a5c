package charts

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"unicode"

	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/fleetwright/fleetwright/internal/count"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Helm's engine runs the templates, and only functions that they call can count what it repeats and writes. So calls of
// the functions below are inserted into each template:
//
//	{{ include "a" . }}         {{ include "a" . | fleetwright_result | fleetwright_printed }}
//	{{ $t := tpl .Values.x . }} {{ $t := tpl (fleetwright_text .Values.x) . | fleetwright_result }}
//	{{ range .Values.x }}a      {{ range .Values.x }}{{ fleetwright_step 1 }}a
//	{{ define "a" }}a           {{ define "a" }}{{ fleetwright_step 1 }}a
//
// A whole text begins with a step, too: other templates can run it by its name.
const (
	resultFunction  = "fleetwright_result"
	textFunction    = "fleetwright_text"
	printedFunction = "fleetwright_printed"
	stepFunction    = "fleetwright_step"
)

// The cost of a repetition, a tpl and each definition that a tpl copies, besides their bytes. An action takes some 100
// ns; a tpl some 50 µs, and some 4 µs for each definition.
const (
	bytesOfStep       = 256
	bytesOfTpl        = 5_000
	bytesOfDefinition = 100
)

// spend counts bytes that the templates run repeatedly, create or print.
func (x *execution) spend(n int) error {
	if x.spent += n; x.spent > limits.ChartTexts {
		return errSpent
	}
	return nil
}

// step counts a repetition of a part of a template that has n bytes. A hostile template may call it with any number.
func (x *execution) step(n int) (string, error) {
	return "", x.spend(bytesOfStep + min(max(n, 0), limits.ChartTexts))
}

// result returns the result of include or tpl, or an error if it is too large, alone or together with the others.
func (x *execution) result(text string) (string, error) {
	if len(text) > limits.ChartOutput {
		return "", errAtOnce
	}
	return text, x.spend(len(text))
}

// printed returns a value that a template prints. It is a reflect.Value, because text/template prints copies of some
// values differently.
func (x *execution) printed(v reflect.Value) (reflect.Value, error) { return v, x.spendOn(v) }

// spendOn counts a value that is written as a string.
func (x *execution) spendOn(v reflect.Value) error {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() == reflect.String {
		return x.spend(v.Len())
	}
	n, deep := count.Elements(v, limits.ChartOutput/bytesOfElement)
	if n *= bytesOfElement; deep || n > limits.ChartOutput {
		return errAtOnce
	}
	return x.spend(n)
}

// bytesOfElement is the approximate size of an element of a list when it is written.
const bytesOfElement = 8

// text returns the text that tpl runs, with inserted calls of its own.
func (x *execution) text(text any) (any, error) {
	s, ok := text.(string)
	if !ok {
		return text, nil
	}
	if err := x.spend(bytesOfTpl + bytesOfDefinition*x.defined + len(s)); err != nil {
		return nil, err
	}
	return x.bound(s)
}

var inserted = regexp.MustCompile(` \| (` + resultFunction + `|` + printedFunction + `)|` + textFunction + ` |\{\{ ` + stepFunction + ` \d+ -?\}\}`)

// unbounded removes the inserted calls from a text; the first argument of a tpl keeps its parentheses.
func unbounded(text string) string { return inserted.ReplaceAllString(text, "") }

// boundTemplates inserts the calls into all templates of a chart and its dependencies.
func (x *execution) boundTemplates(c *chart.Chart) error {
	var all []*common.File
	for _, t := range c.Templates {
		if t == nil {
			continue
		}
		text, err := x.bound(string(t.Data))
		if err != nil {
			return err
		}
		all = append(all, &common.File{Name: t.Name, ModTime: t.ModTime, Data: []byte(text)})
	}
	c.Templates = all
	for _, child := range c.Dependencies() {
		if err := x.boundTemplates(child); err != nil {
			return err
		}
	}
	return nil
}

// bound returns the text of a template with the inserted calls, on the same lines. It refuses a text that would overflow
// the stack of Go's template parser, which goes one level down for each control structure and each parenthesis.
func (x *execution) bound(text string) (string, error) {
	b := boundText{out: []string{""}, open: []part{{word: "define"}}}
	defer func() { x.defined += b.defined }()
	for rest := text; ; {
		before, inner, found := strings.Cut(rest, "{{")
		b.text(before)
		if !found {
			b.count(b.open[0], len(text))
			return strings.Join(b.out, ""), nil
		}
		if b.actions++; b.actions > limits.Actions {
			return "", limitf("a template has more than %d actions", limits.Actions)
		}
		a := readAction(inner)
		rest = inner[a.end:]
		b.action(a, inner, len(text)-len(rest))
		if b.nested > limits.OpenBlocks || a.depth > limits.Nesting {
			return "", limitf("a template is nested too deeply")
		}
	}
}

// boundText is the text of a template up to an action, with inserted calls.
type boundText struct {
	out                      []string
	actions, nested, defined int
	// open are the parts that contain the action. The first one is the whole text.
	open []part
}

// part is a part of a template up to its {{ end }}.
type part struct {
	word string
	// start is where the part begins, and step the element of out for the call that counts it.
	start, step int
	// trimmed reports whether the space before it is cut off, and filled whether it is more than spaces and comments. Go
	// does not replace a template by an empty one.
	trimmed, filled bool
}

func (b *boundText) text(s string) {
	b.out = append(b.out, s)
	if strings.TrimSpace(s) != "" || len(s) > mostBlank {
		b.fill()
	}
}

// mostBlank is the maximum of consecutive white space, in bytes, that is not counted.
const mostBlank = 1 << 10

func (b *boundText) fill() { b.open[len(b.open)-1].filled = true }

// action adds an action that ends before a byte of the text.
func (b *boundText) action(a action, s string, end int) {
	if a.word != "end" && a.word != "define" && !a.comment {
		b.fill()
	}
	b.out = append(b.out, "{{", a.bounded(s))
	switch a.word {
	case "if", "range", "with", "define", "block":
		b.nested++
		if a.word == "define" || a.word == "block" {
			b.defined++
		}
		b.out = append(b.out, "")
		b.open = append(b.open, part{word: a.word, start: end, step: len(b.out) - 1, trimmed: a.trimmed})
	case "else":
		b.nested++ // one level deeper, without an end of its own
	case "end":
		b.nested = max(0, b.nested-1)
		b.close(end - len("{{") - a.end)
	}
}

// close ends the innermost part before a byte of the text.
func (b *boundText) close(end int) {
	if last := len(b.open) - 1; last > 0 { // otherwise it doesn't parse
		b.count(b.open[last], end)
		b.open = b.open[:last]
	}
}

// count counts a part if it may run repeatedly.
func (b *boundText) count(p part, end int) {
	if p.word != "range" && (p.word != "define" && p.word != "block" || !p.filled) {
		return
	}
	trim := ""
	if p.trimmed {
		trim = "-"
	}
	b.out[p.step] = fmt.Sprintf("{{ %s %d %s}}", stepFunction, end-p.start, trim)
}

// action is the text between {{ and }} in a template.
type action struct {
	// word is its first word, depth the depth of its parentheses, and end where the text continues.
	word       string
	depth, end int
	// commands are the commands in open parentheses, the innermost last.
	commands []command
	inserts  []insert
	// trimmed reports whether it cuts off the space after it.
	comment, trimmed bool
}

// command is a part of an action that ends with |, ) or }}.
type command struct {
	// function is "include", "tpl" or "".
	function string
	// argument is where the text begins that tpl runs; 0 after its end, or if there is none.
	argument int
}

type insert struct {
	at   int
	text string
}

// spaces are the spaces of text/template.
const spaces = " \t\r\n"

func readAction(s string) action {
	i := 0
	if len(s) > 1 && s[0] == '-' && strings.IndexByte(spaces, s[1]) >= 0 {
		i = 2
	}
	i += len(s[i:]) - len(strings.TrimLeft(s[i:], spaces))
	if strings.HasPrefix(s[i:], "/*") {
		_, after, _ := strings.Cut(s[i+2:], "*/")
		_, after, _ = strings.Cut(after, "}}")
		return action{end: len(s) - len(after), comment: true}
	}
	start := i
	a := action{word: s[i : i+wordLength(s[i:])], commands: make([]command, 1)}
	for i < len(s) {
		if strings.HasPrefix(s[i:], "}}") {
			a.endCommand(s, i)
			var last int
			last, a.trimmed = endsAt(s, i)
			last = len(strings.TrimRight(strings.TrimSuffix(s[:last], "|"), spaces)) // Go allows {{ .a | }}
			if last > start && a.prints(s[start:]) {
				a.inserts = append(a.inserts, insert{last, " | " + printedFunction})
			}
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

// endArgument encloses the text that tpl runs in parentheses, with the function that bounds it.
func (a *action) endArgument(c *command, i int) {
	if c.function == "tpl" && c.argument > 0 {
		a.inserts = append(a.inserts, insert{c.argument, "(" + textFunction + " "}, insert{i, ")"})
		c.argument = 0
	}
}

// endCommand adds the check of its result to a command that ends before i.
func (a *action) endCommand(s string, i int) {
	current := &a.commands[len(a.commands)-1]
	end, _ := endsAt(s, i)
	a.endArgument(current, end)
	if current.function != "" {
		a.inserts = append(a.inserts, insert{end, " | " + resultFunction})
	}
	*current = command{}
}

// endsAt returns where a command ends before the |, ) or }} at i, and whether that is a -}}.
func endsAt(s string, i int) (end int, trimmed bool) {
	if strings.HasPrefix(s[i:], "}}") {
		before := strings.TrimSuffix(s[:i], "-")
		if end = len(strings.TrimRight(before, spaces)); end < len(before) && len(before) < i {
			return end, true
		}
	}
	return len(strings.TrimRight(s[:i], spaces)), false
}

// prints reports whether the action that s begins with prints a value.
func (a action) prints(s string) bool {
	switch a.word {
	case "if", "range", "with", "define", "block", "else", "end", "template", "break", "continue":
		return false
	}
	if variable, found := strings.CutPrefix(s, "$"); found {
		next := strings.TrimLeft(variable[wordLength(variable):], spaces)
		return !strings.HasPrefix(next, ":=") && !strings.HasPrefix(next, "=")
	}
	return true
}

// bounded returns the action with its inserts.
func (a action) bounded(s string) string {
	sorting.StableFunc(a.inserts, func(x, y insert) int { return x.at - y.at })
	var out strings.Builder
	last := 0
	for _, in := range a.inserts {
		out.WriteString(s[last:in.at])
		out.WriteString(in.text)
		last = in.at
	}
	out.WriteString(s[last:a.end])
	return out.String()
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

// quoted returns the index after a quoted string that starts at i.
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
