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

// mostSharpened is the largest text in which the line of a syntax error is looked for, in bytes:
// it is parsed a few times more.
const mostSharpened = 256 << 10

// sharpen points a syntax error at the line that is to be mended, and says how. Where a line is
// not indented as its neighbours, the library names the beginning of the block that it ends.
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

// What of a text is tried to find the line that is indented wrongly: its size in bytes, and the
// lines.
const (
	largestMended = 64 << 10
	mostMended    = 8
)

// misindented finds the line that is indented wrongly where the library stops at another one, the
// first that doesn't fit it: the one that, indented like that, makes the text YAML. They are the
// same where the line that the library stops at may be to blame itself, or none is found.
func misindented(lines [][]byte, stopped int) (at, like int) {
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	if size > largestMended {
		return stopped, stopped
	}
	mends := func(i, indent int) bool {
		mended := slices.Clone(lines)
		mended[i] = append(bytes.Repeat([]byte(" "), indent), bytes.TrimLeft(lines[i], " ")...)
		return refusal(bytes.Join(mended, nil)) == io.EOF.Error()
	}
	outer := outerLines(lines, stopped)
	for _, i := range outer {
		if mends(stopped, indentOf(lines[i])) {
			return stopped, stopped
		}
	}
	for _, i := range outer {
		if mends(i, indentOf(lines[stopped])) {
			return i, stopped
		}
	}
	return stopped, stopped
}

// outerLines are the last lines of a document before one that are indented less than what follows
// them, the nearest first.
func outerLines(lines [][]byte, before int) []int {
	var outer []int
	for i := before - 1; i >= 0 && len(outer) < mostMended; i-- {
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

// indentOf is how many spaces a line begins with.
func indentOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

// refusal is why the library refuses a text, "" where it doesn't.
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

// syntaxHint says how an error of the library's is mended most often.
func syntaxHint(text string) string {
	switch {
	case strings.Contains(text, "did not find expected"):
		return "indent the line as the entries beside it, or close what is open before it"
	case strings.Contains(text, "mapping values are not allowed"):
		return "indent the line as the entries beside it, or quote the text that holds a colon"
	case strings.Contains(text, "cannot start any token"):
		return "quote the text: it begins with a character that YAML keeps for itself"
	case strings.Contains(text, "unexpected end of stream"):
		return "close the quote: it is open up to the end of the file"
	case strings.Contains(text, "could not find expected ':'"):
		return "a key ends in a colon and a space"
	}
	return ""
}
