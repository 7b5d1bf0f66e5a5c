// Package output writes what people and build logs read. Names, values and messages come from
// repositories that nobody trusts: no byte of them may steer a terminal, reverse the reading order
// of a line, forge a line, or be a command to the CI system whose log the output ends in.
//
// Text is the writer of all text. JSON and XML are writers behind the encoders of the formats for
// machines, and YAML encodes what is YAML: they lose nothing, since the format itself can spell
// what must not be printed.
//
// What a CI system takes for a command, by its source:
//
//   - GitHub Actions (actions/runner, ActionCommand.cs and OutputManager.cs): "::name …::" at the
//     start of a line, after any white space of Unicode, and "##[name …]" anywhere in a line. A line
//     ends with LF, CR or both. Commands are read from both streams.
//   - Azure Pipelines (microsoft/azure-pipelines-agent, Command.cs): "##vso[area.event …]" anywhere
//     in a line, and "##[group]" and the like as formats.
//   - TeamCity: "##teamcity[…]" anywhere in a line.
//   - GitLab (lib/gitlab/regex.rb, build_trace_section_regex): "section_start:TIME:NAME" and
//     "section_end:TIME:NAME", only with CR and ESC [ 0 K behind them.
//
// So a line never begins with "::", "##" with letters behind it is never followed by "[", and
// control characters are not printed.
package output

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden stands in a text for a character that is not printed.
const hidden = utf8.RuneError

// printable says whether a character stands for itself on a line: it is no control character, no
// format character (among them those that change the reading order), no separator of lines and
// nothing that Unicode has not assigned.
func printable(r rune) bool {
	return r == '\t' || unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}

// joins says whether a character joins its neighbours or keeps them apart, as the scripts of Persian
// and Hindi and pictures of families need it. A name has none, and what files hold may have some.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' }

// Line returns a text as one line of printable characters: a space stands for a line break, and
// U+FFFD for each character that is not printed.
func Line(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !printable(r) }) < 0 && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return ' '
		case printable(r):
			return r
		}
		return hidden
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// Block returns a text of several lines, each as Line returns it.
func Block(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		end := ""
		if i < len(lines)-1 && strings.HasSuffix(line, "\r") {
			line, end = line[:len(line)-1], "\r"
		}
		lines[i] = Line(line) + end
	}
	return strings.Join(lines, "\n")
}

// Inert returns a text of several lines as Text prints it.
func Inert(s string) string {
	var b strings.Builder
	_ = NewText(&b, false).Printf("%s", Lines(s)) // a Builder does not fail
	return b.String()
}

// Check returns an error that says what a text holds that Text would not print as it is, but for
// the joiners of characters. It is for what can only be printed byte for byte.
func Check(data []byte) error {
	var g guard
	line := 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == '\n':
			line++
		case r == '\r' && i+1 < len(data) && data[i+1] == '\n':
		case r == utf8.RuneError && size == 1:
			return fmt.Errorf("line %d is not UTF-8", line)
		case !printable(r) && !joins(r):
			return fmt.Errorf("line %d holds the control or format character %U", line, r)
		}
		if g.completes(r) {
			return fmt.Errorf("line %d holds what a CI system takes for a command", line)
		}
		i += size
	}
	return nil
}

// wrapped is a writer of this package on another one.
type wrapped interface{ unwrap() io.Writer }

// Raw returns the writer below those of this package: for formats with an encoding of their own.
func Raw(w io.Writer) io.Writer {
	for {
		above, ok := w.(wrapped)
		if !ok {
			return w
		}
		w = above.unwrap()
	}
}
