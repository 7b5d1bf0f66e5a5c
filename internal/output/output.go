// Package output writes the text that people and build logs read. Names, values and messages come from
// untrusted repositories: no byte of them may control a terminal, reverse the reading order
// of a line, forge a line, or be a command to the CI system that shows the output.
// Text is the writer of all text. JSON and XML are writers for the output of encoders,
// and YAML re-encodes YAML: they lose no character, because the formats can escape
// characters that must not be printed.
// What a CI system reads as a command, according to its source code:
//   - GitHub Actions (actions/runner, ActionCommand.cs and OutputManager.cs): "::name …::" at the
//     start of a line, after any white space of Unicode, and "##[name …]" anywhere in a line. A line
//     ends with LF, CR or both. Commands are read from both streams.
//   - Azure Pipelines (microsoft/azure-pipelines-agent, Command.cs): "##vso[area.event …]" anywhere
//     in a line, and "##[group]" and the like as formats.
//   - TeamCity: "##teamcity[…]" anywhere in a line.
//   - GitLab (lib/gitlab/regex.rb, build_trace_section_regex): "section_start:TIME:NAME" and
//     "section_end:TIME:NAME", only followed by CR and ESC [ 0 K.
//
// So a line never begins with "::", "##" and letters are never followed by "[", and
// control characters are not printed.
package output

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hidden replaces a character that is not printed.
const hidden = utf8.RuneError

// printable reports whether a character can be printed on a line: it is not a control or
// format character (such as those that change the reading order), not a line separator, and
// assigned in Unicode.
func printable(r rune) bool {
	return r == '\t' || unicode.IsPrint(r) || unicode.Is(unicode.Zs, r)
}

// joins reports whether a character is a zero-width joiner or non-joiner, which Persian, Hindi
// and some emoji need. Names contain none, but the content of files may.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' }

// Line returns a string as one line of printable characters: a line break becomes a space, and
// each character that is not printed becomes U+FFFD.
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

// Block returns a string of several lines, each as Line returns it.
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

// Inert returns a string of several lines as Text prints it.
func Inert(s string) string {
	var b strings.Builder
	_ = NewText(&b, false).Printf("%s", Lines(s)) // a Builder never fails
	return b.String()
}

// Check returns an error that names the first character or command in the data that Text would not print unchanged. It
// allows joiners. It is for data that can only be printed byte for byte.
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
			return fmt.Errorf("line %d contains the control or format character %U", line, r)
		}
		if g.completes(r) {
			return fmt.Errorf("line %d contains text that a CI system takes for a command", line)
		}
		i += size
	}
	return nil
}

// wrapped is a writer of this package that wraps another one.
type wrapped interface{ unwrap() io.Writer }

// Raw returns the writer that writers of this package wrap, for formats with their own encoding.
func Raw(w io.Writer) io.Writer {
	for {
		above, ok := w.(wrapped)
		if !ok {
			return w
		}
		w = above.unwrap()
	}
}
