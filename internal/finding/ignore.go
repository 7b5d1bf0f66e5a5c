package finding

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Annotation of an object that ignores rules: "rule-a: reason; rule-b: reason".
const Annotation = "fleetwright.dev/ignore"

// CommentMarker begins a comment that ignores a rule, for files without metadata:
// # fleetwright:ignore rule-a reason.
const CommentMarker = "fleetwright:ignore"

// Ignore is an instruction to ignore a rule. Users write it in the file with the finding.
type Ignore struct {
	Rule   string
	Reason string
	// Mistake is the reason why the instruction has no effect, such as a missing reason; "" if it has an effect.
	Mistake string
}

// ParseAnnotation reads the value of the annotation [Annotation]. Entries are
// separated by semicolons or line breaks.
func ParseAnnotation(value string) []Ignore {
	var all []Ignore
	for entry := range strings.FieldsFuncSeq(value, func(c rune) bool { return c == ';' || c == '\n' }) {
		id, reason, _ := strings.Cut(entry, ":")
		id, reason = strings.TrimSpace(id), strings.TrimSpace(reason)
		switch {
		case id == "" && reason == "":
		case !isRuleID(id):
			all = append(all, Ignore{Mistake: fmt.Sprintf("%q is not %q", shortened(strings.TrimSpace(entry)), "rule: reason")})
		default:
			all = append(all, newIgnore(id, reason))
		}
	}
	if len(all) == 0 {
		return []Ignore{{Mistake: "it names no rule"}}
	}
	return all
}

func newIgnore(id, reason string) Ignore {
	i := Ignore{Rule: id, Reason: reason}
	if reason == "" {
		i.Mistake = fmt.Sprintf("the reason for %s is missing", id)
	}
	return i
}

var ruleID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)

func isRuleID(s string) bool { return len(s) <= 100 && ruleID.MatchString(s) }

// shortened cuts a string to 80 characters for a message.
func shortened(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// Comment is an ignore in a comment, with the lines that it applies to.
type Comment struct {
	Ignore
	// Line and Column of the comment, from 1.
	Line, Column int
	// First and Last line to which the comment applies: its own; if it is alone on its line, the next
	// non-empty line; and the block that this line opens, which is everything with a deeper indent
	// (and the list items at its own indent). A comment alone on a line before the whole document
	// applies to the whole document.
	First, Last int
	// Head is set if nothing precedes the comment in the file, so that it also applies to findings about the file
	// as a whole.
	Head bool
}

// Covers reports whether the comment applies to a line; 0 is the file as a whole.
func (c Comment) Covers(line int) bool {
	return c.Mistake == "" && (line == 0 && c.Head || c.First <= line && line <= c.Last)
}

// commentIn finds the comment in a line: the index of its #, and the string after the
// marker. As YAML requires, the # is at the start of the line or after white space.
func commentIn(line string) (at int, rest string, ok bool) {
	for from := 0; ; {
		i := strings.Index(line[from:], CommentMarker)
		if i < 0 {
			return 0, "", false
		}
		i += from
		from = i + len(CommentMarker)
		before := strings.TrimRight(line[:i], " \t")
		at = len(before) - 1
		if at < 0 || before[at] != '#' || at > 0 && before[at-1] != ' ' && before[at-1] != '\t' {
			continue
		}
		if rest = line[from:]; rest == "" || rest[0] == ' ' || rest[0] == '\t' {
			return at, strings.TrimSpace(rest), true
		}
	}
}

// Comments returns the "# fleetwright:ignore RULE reason" comments of a file: YAML, or a template
// of YAML. It reads the file once.
func Comments(text []byte) []Comment {
	if !bytes.Contains(text, []byte(CommentMarker)) {
		return nil
	}
	s := commentScan{head: true, top: true}
	number := 0
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		number++
		s.line(number, string(bytes.TrimSuffix(line, []byte("\r"))))
	}
	s.close(outside, false)
	return s.found
}

// commentScan reads the lines of a file and finds comments.
type commentScan struct {
	found []Comment
	// pending are the indexes of comments on lines of their own whose next line has not been read yet.
	pending []int
	// open are the blocks to which comments apply, the outermost first.
	open []openBlock
	last int  // last line that is not empty
	head bool // set while the file has had only comments and empty lines
	top  bool // set while the document has had only comments and empty lines
}

// outside is the indent of a document as a whole.
const outside = -1

type openBlock struct {
	indent   int
	item     bool // the block is a list item
	comments []int
}

func (s *commentScan) line(number int, text string) {
	trimmed := strings.TrimLeft(text, " \t")
	own := s.comment(number, text)
	// The indent of a template action is meaningless.
	if trimmed == "" || strings.HasPrefix(trimmed, "{{") {
		return
	}
	if strings.HasPrefix(trimmed, "#") {
		if own >= 0 {
			s.found[own].Head = s.head
			s.pending = append(s.pending, own)
		}
		return
	}
	if strings.HasPrefix(text, "---") {
		s.close(outside, false)
		s.top = true
		return
	}
	indent := len(text) - len(trimmed)
	item := trimmed == "-" || strings.HasPrefix(trimmed, "- ")
	s.close(indent, item)
	s.last, s.head = number, false
	if s.top {
		s.enter(openBlock{indent: outside, comments: s.pending})
		s.top, s.pending = false, nil
	}
	if own >= 0 {
		s.pending = append(s.pending, own)
	}
	s.enter(openBlock{indent: indent, item: item, comments: s.pending})
	s.pending = nil
}

// enter opens a block at the last line, if comments apply to it.
func (s *commentScan) enter(b openBlock) {
	if len(b.comments) > 0 {
		s.open = append(s.open, b)
	}
}

// comment adds the comment in a line and returns its index in found, or -1.
func (s *commentScan) comment(number int, text string) int {
	at, rest, ok := commentIn(text)
	if !ok {
		return -1
	}
	id, reason := rest, ""
	if i := strings.IndexAny(rest, " \t"); i >= 0 {
		id, reason = rest[:i], rest[i:]
	}
	c := Comment{Line: number, Column: utf8.RuneCountInString(text[:at]) + 1, First: number, Last: number}
	switch {
	case id == "":
		c.Mistake = "it names no rule"
	case !isRuleID(id):
		c.Mistake = fmt.Sprintf("%q is not a rule", shortened(id))
	default:
		if reason = strings.TrimSpace(reason); strings.HasPrefix(reason, "#") {
			reason = "" // the rest is another comment
		}
		c.Ignore = newIgnore(id, reason)
	}
	s.found = append(s.found, c)
	return len(s.found) - 1
}

// close closes the blocks that do not contain a line with this indent.
func (s *commentScan) close(indent int, item bool) {
	for len(s.open) > 0 {
		b := s.open[len(s.open)-1]
		if indent > b.indent || indent == b.indent && item && !b.item {
			return
		}
		for _, i := range b.comments {
			s.found[i].Last = max(s.found[i].Last, s.last)
		}
		s.open = s.open[:len(s.open)-1]
	}
}
