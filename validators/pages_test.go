package validators

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/validators/rule"
)

const (
	// mostPage is how many lines a page may have. An excerpt of an example has up to mostExcerpt
	// of them, and fewer, down to leastExcerpt, on a page that would be longer.
	mostPage     = 80
	mostExcerpt  = 20
	leastExcerpt = 6
	// shownGap is how many lines are shown rather than left out between two that are.
	shownGap = 2
	// leftOut replaces the lines that an excerpt leaves out.
	leftOut = "# …"
)

func TestPagesAreCurrent(t *testing.T) {
	dir := filepath.Join("..", "docs", "rules")
	want := map[string]string{filepath.Join(dir, "README.md"): index()}
	for _, r := range All() {
		text := page(t, r, mostExcerpt)
		for most := mostExcerpt - 1; most >= leastExcerpt && strings.Count(text, "\n") > mostPage; most-- {
			text = page(t, r, most)
		}
		if n := strings.Count(text, "\n"); n > mostPage {
			t.Errorf("the page of %s has %d lines, more than %d", r.ID, n, mostPage)
		}
		want[filepath.Join(dir, r.ID+".md")] = text
	}
	for name, text := range want {
		if *update {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%s differs from the rules; run make docs", name)
		}
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if want[p] == "" {
			t.Errorf("%s is the page of no rule", p)
		}
	}
}

// page is a rule's page in docs/rules: the lines of its examples that matter, and where all of
// them are.
func page(t *testing.T, r rule.Rule, most int) string {
	t.Helper()
	e, err := rule.ReadExamples(written(t), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s%s. Severity: %s.%s\n\n## Why\n\n%s\n\n## Example\n", r.ID,
		strings.ToUpper(r.Title[:1]), r.Title[1:], r.Severity, profileOf(r, " %s"), r.Why)
	bad := slices.Concat(e.Bad, e.Unresolved)[0]
	title := "Bad"
	if len(e.Bad) == 0 {
		title = "Unresolved"
	}
	for _, part := range []struct {
		title      string
		one, other rule.Example
	}{{title, bad, e.Good[0]}, {"Good", e.Good[0], bad}} {
		other, note := part.other.Files, ""
		if part.one.Before != "" {
			other, note = part.one.Before, ", as a change"
		}
		fmt.Fprintf(&b, "\n%s%s:\n\n```yaml\n%s```\n", part.title, note, excerpt(part.one.Files, other, most))
	}
	fmt.Fprintf(&b, "\nThe whole repositories are in [%s](../../validators/%s).\n\n## Fix\n\n%s\n", filepath.Base(e.File), e.File, r.Fix)
	return b.String()
}

// excerpt returns the lines of an example that matter: those that are marked and those that
// differ from another example, each with the fields that it belongs to.
func excerpt(files, other string, most int) string {
	others, contents := map[string][]byte{}, map[string]bool{}
	for _, f := range txtar.Parse([]byte(other)).Files {
		others[f.Name], contents[string(f.Data)] = f.Data, true
	}
	var all []*shownFile
	for _, f := range txtar.Parse([]byte(files)).Files {
		file := newShownFile(f, others[f.Name])
		if contents[string(f.Data)] { // moved to another path, if it differs at all
			file.differs = nil
		}
		all = append(all, file)
		delete(others, f.Name)
	}
	slices.SortStableFunc(all, func(a, b *shownFile) int { return cmp.Compare(b.rank, a.rank) })
	room := most
	for _, f := range all {
		for _, i := range f.marked {
			room -= f.show(i, max(room, leastExcerpt))
		}
	}
	for _, f := range all {
		for _, i := range f.differs {
			room -= f.show(i, room)
		}
	}
	if room == most && len(all) > 0 && all[0].rank > 1 { // all lines are in the other one, too
		for i := range all[0].lines {
			room -= all[0].show(i, room)
		}
	}
	var b strings.Builder
	for _, f := range all {
		f.write(&b)
	}
	if b.Len() == 0 {
		for _, name := range slices.Sorted(maps.Keys(others)) {
			fmt.Fprintf(&b, "# without %s\n", name)
		}
	}
	return b.String()
}

// shownFile is a file of an example, and which of its lines are shown.
type shownFile struct {
	name            string
	lines           []string
	marked, differs []int
	shown           map[int]bool
	// rank is higher for files that are shown first: with marks, or with marks in the
	// other example.
	rank int
}

func newShownFile(file txtar.File, other []byte) *shownFile {
	f := &shownFile{name: file.Name, shown: map[int]bool{}}
	f.lines = strings.Split(strings.TrimSuffix(string(file.Data), "\n"), "\n")
	for i, line := range f.lines {
		if strings.HasSuffix(line, rule.Marker) {
			f.marked = append(f.marked, i)
		}
	}
	f.differs = slices.DeleteFunc(changed(other, file.Data), func(i int) bool { return f.lines[i] == "---" })
	switch {
	case len(f.marked) > 0:
		f.rank = 3
	case strings.Contains(string(other), rule.Marker):
		f.rank = 2
	case len(other) > 0:
		f.rank = 1
	}
	return f
}

// show shows a line with the lines that it belongs to, if there is room for all, and returns how
// many more are shown.
func (f *shownFile) show(i, room int) int {
	var more []int
	for _, j := range append(f.above(i), i) {
		if !f.shown[j] {
			more = append(more, j)
		}
	}
	if len(more) > room {
		return 0
	}
	for _, j := range more {
		f.shown[j] = true
	}
	return len(more)
}

// above are the lines that a line belongs to: the keys and list items around it, and the kind and
// name of its object.
func (f *shownFile) above(at int) []int {
	var above []int
	column := indent(f.lines[at])
	for i := at - 1; i >= 0 && f.lines[i] != "---"; i-- {
		line := f.lines[i]
		if strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		named := i > 0 && f.lines[i-1] == "metadata:" && strings.HasPrefix(line, "  name: ")
		if in := indent(line); in < column {
			above = append(above, i)
			column = in
		} else if named || line == "metadata:" || strings.HasPrefix(line, "kind: ") {
			above = append(above, i)
		}
	}
	return above
}

// indent orders lines by the column in which they begin. A list item comes after a key of the same
// column, which it may belong to.
func indent(line string) int {
	trimmed := strings.TrimLeft(line, " ")
	n := 2 * (len(line) - len(trimmed))
	if strings.HasPrefix(trimmed, "- ") {
		n++
	}
	return n
}

// write writes the lines that are shown.
func (f *shownFile) write(b *strings.Builder) {
	if len(f.shown) == 0 {
		return
	}
	b.WriteString("# " + f.name + "\n")
	last := -1
	for _, i := range append(slices.Sorted(maps.Keys(f.shown)), len(f.lines)) {
		between := f.lines[last+1 : i]
		switch {
		case len(between) <= shownGap:
			for _, line := range between {
				b.WriteString(line + "\n")
			}
		case last < 0: // a file begins with what is not shown
		case i < len(f.lines) && slices.Contains(between, "---"):
			b.WriteString(leftOut + "\n---\n")
		default:
			b.WriteString(leftOut + "\n")
		}
		if i < len(f.lines) {
			b.WriteString(f.lines[i] + "\n")
		}
		last = i
	}
}

// changed are the lines of a file, counted from 0, that differ from another one.
func changed(other, data []byte) []int {
	var lines []int
	at := -1
	for line := range strings.Lines(string(diff.Diff("other", other, "file", data))) {
		var from, count int
		switch {
		case strings.HasPrefix(line, "@@"):
			_, after, _ := strings.Cut(line, "+")
			if _, err := fmt.Sscanf(after, "%d,%d", &from, &count); err == nil {
				at = max(from-1, 0)
			}
		case at < 0 || strings.HasPrefix(line, "-"):
		case strings.HasPrefix(line, "+"):
			lines = append(lines, at)
			at++
		default:
			at++
		}
	}
	return lines
}

// index is the page that leads to the rules' pages in docs/rules.
func index() string {
	var b strings.Builder
	b.WriteString("# Rules\n\n`fleetwright explain RULE` prints a rule with its whole examples; `fleetwright explain` lists the rules.\n")
	domain := ""
	for _, r := range All() {
		if d, _, _ := strings.Cut(r.ID, "-"); d != domain {
			domain = d
			fmt.Fprintf(&b, "\n## %s\n\n| Rule | Severity | Finds |\n|---|---|---|\n", domain)
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s%s |\n", r.ID, r.ID, r.Severity, strings.ReplaceAll(r.Title, "|", "\\|"), inProfile(r))
	}
	return b.String()
}
