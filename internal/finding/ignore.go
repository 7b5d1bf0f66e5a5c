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

// Ignore is a decision to ignore a rule, written beside what it is about.
type Ignore struct {
	Rule   string
	Reason string
	// Mistake says why it ignores nothing, such as a missing reason; "" where it
	// does.
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
		i.Mistake = fmt.Sprintf("it gives no reason for %s", id)
	}
	return i
}

var ruleID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)

func isRuleID(s string) bool { return len(s) <= 100 && ruleID.MatchString(s) }

// shortened keeps a message from repeating a whole text.
func shortened(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}

// Comment is an ignore in a comment, with the lines that it counts for.
type Comment struct {
	Ignore
	// Line and Column of the comment, from 1.
	Line, Column int
	// First and Last line that it counts for: its own; where it stands alone, the
	// next one that holds something; and the block that this line opens, which is
	// what is indented deeper (and the list items at its own indent). Where it
	// stands alone before all of a document, that is the whole document.
	First, Last int
	// Head says that nothing stands before the comment, so that it counts too for
	// what is said of the file as a whole.
	Head bool
}

// Covers says whether the comment counts for a line; 0 is the file as a whole.
func (c Comment) Covers(line int) bool {
	return c.Mistake == "" && (line == 0 && c.Head || c.First <= line && line <= c.Last)
}

// commentIn finds the comment of a line: where its # stands, and what follows the
// marker. It begins the line or follows white space, as YAML wants it.
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

// Comments reads the "# fleetwright:ignore RULE reason" comments of a file: YAML,
// or a template of it. It costs one pass over the text.
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

// commentScan goes over the lines of a file.
type commentScan struct {
	found []Comment
	// pending are the comments that stand alone, before the line that they are about.
	pending []int
	// open are the blocks that comments are about, the outermost first.
	open []openBlock
	last int  // the last line that holds something
	head bool // nothing stands before, in the file
	top  bool // nothing stands before, in the document
}

// outside is the indent of a document itself.
const outside = -1

type openBlock struct {
	indent   int
	item     bool // the block is a list item
	comments []int
}

func (s *commentScan) line(number int, text string) {
	trimmed := strings.TrimLeft(text, " \t")
	own := s.comment(number, text)
	// A template's actions have no indent that means anything.
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

// enter begins a block at the last line, where comments are about it.
func (s *commentScan) enter(b openBlock) {
	if len(b.comments) > 0 {
		s.open = append(s.open, b)
	}
}

// comment adds the comment of a line and returns its place, or -1.
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
			reason = "" // another comment
		}
		c.Ignore = newIgnore(id, reason)
	}
	s.found = append(s.found, c)
	return len(s.found) - 1
}

// close ends the blocks that a line with this indent isn't in.
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
