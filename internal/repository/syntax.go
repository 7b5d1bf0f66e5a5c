package repository

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mostSharpened is the maximum size of a file, in bytes, in which sharpen searches the line of a syntax error:
// it parses the file several times.
const mostSharpened = 256 << 10

// sharpen moves a syntax error to the line that has to be fixed, and adds a hint. If a line is
// not indented like its neighbours, the library reports the start of the block that the line ends.
func (e *Error) sharpen(data []byte) {
	_, text, _ := strings.Cut(e.Message, "is not YAML: ")
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(data) > mostSharpened || e.Line < 1 || e.Line > len(lines) || e.Column > 1 {
		return
	}
	if strings.Contains(text, "did not find expected") {
		more := sort.Search(len(lines)-e.Line, func(n int) bool {
			return strings.HasSuffix(refusal(bytes.Join(lines[:e.Line+n], nil)), text)
		})
		e.Line += min(more, len(lines)-e.Line)
	}
	e.Hint = syntaxHint(text)
	if at, like := misindented(lines, e.Line-1); at != like {
		e.Line = at + 1
		e.Hint = fmt.Sprintf("indent the line by %d spaces, as line %d", indentOf(lines[like]), like+1)
	}
	line := lines[e.Line-1]
	rest := bytes.TrimLeft(line, " ")
	if len(bytes.TrimSpace(rest)) > 0 {
		e.Column = len(line) - len(rest) + 1
	}
}

// Limits of the search for the line with the wrong indent: the size in bytes, and the number of
// lines that are tried.
const (
	largestReindented = 64 << 10
	mostReindented    = 8
)

// misindented searches the line whose wrong indent causes a syntax error that the library only reports at a later line,
// stopped. It returns the wrong line, and a line whose indent the wrong line needs for valid YAML.
// It returns stopped twice if it finds no such line, or if the line stopped may itself have the wrong indent.
func misindented(lines [][]byte, stopped int) (at, like int) {
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	if size > largestReindented {
		return stopped, stopped
	}
	fixes := func(i, indent int) bool {
		fixed := slices.Clone(lines)
		fixed[i] = append(bytes.Repeat([]byte(" "), indent), bytes.TrimLeft(lines[i], " ")...)
		return refusal(bytes.Join(fixed, nil)) == io.EOF.Error()
	}
	outer := outerLines(lines, stopped)
	for _, i := range outer {
		if fixes(stopped, indentOf(lines[i])) {
			return stopped, stopped
		}
	}
	for _, i := range outer {
		if fixes(i, indentOf(lines[stopped])) {
			return i, stopped
		}
	}
	return stopped, stopped
}

// outerLines returns the last lines before a line of a document that are indented less than the lines after
// them, the nearest first.
func outerLines(lines [][]byte, before int) []int {
	var outer []int
	for i := before - 1; i >= 0 && len(outer) < mostReindented; i-- {
		text := bytes.TrimSpace(lines[i])
		if bytes.HasPrefix(text, []byte("---")) {
			break
		}
		if len(text) == 0 || text[0] == '#' || len(outer) > 0 && indentOf(lines[i]) >= indentOf(lines[outer[len(outer)-1]]) {
			continue
		}
		outer = append(outer, i)
	}
	return outer
}

// indentOf returns the number of leading spaces of a line.
func indentOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

// refusal returns the library's error for YAML, "" if there is none.
func refusal(data []byte) (text string) {
	defer func() {
		if recover() != nil {
			text = "the parser gave up"
		}
	}()
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc yaml.Node
		if err := decoder.Decode(&doc); err != nil {
			return err.Error()
		}
	}
}

// syntaxHint returns the most common fix for a syntax error that the YAML library reports, "" if it knows none.
func syntaxHint(text string) string {
	switch {
	case strings.Contains(text, "did not find expected"):
		return "indent the line like the entries next to it, or close the bracket or quote that is open before it"
	case strings.Contains(text, "mapping values are not allowed"):
		return "indent the line like the entries next to it, or quote the text that contains a colon"
	case strings.Contains(text, "cannot start any token"):
		return "quote the text: it begins with a character that YAML reserves"
	case strings.Contains(text, "unexpected end of stream"):
		return "close the quote: it is open up to the end of the file"
	case strings.Contains(text, "could not find expected ':'"):
		return "a key ends in a colon and a space"
	}
	return ""
}
