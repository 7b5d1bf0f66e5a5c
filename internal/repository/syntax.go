package repository

import (
	"bytes"
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
	line := lines[e.Line-1]
	rest := bytes.TrimLeft(line, " ")
	if len(bytes.TrimSpace(rest)) > 0 {
		e.Column = len(line) - len(rest) + 1
	}
	e.Hint = syntaxHint(text)
}

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
