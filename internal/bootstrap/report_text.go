package bootstrap

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/located"
	"github.com/fleetwright/fleetwright/internal/output"
)

// TextOptions are the options of [Report.WriteText].
type TextOptions struct {
	// Color marks the verdicts with ANSI colours.
	Color bool
}

var symbols = map[Verdict]string{Agrees: "✓", Drift: "✗", Missing: "✗", Unresolved: "?", Intended: "~", Cosmetic: "≈"}

var colours = map[Verdict]output.Colour{Agrees: output.Green, Drift: output.Red, Missing: output.Red, Unresolved: output.Yellow, Intended: output.Cyan, Cosmetic: output.Green}

// WriteText prints a report for people: the releases of each file in aligned columns, the differences
// with their places on both sides, and a summary line.
func (r *Report) WriteText(w io.Writer, opts TextOptions) error {
	out := output.NewText(bufio.NewWriter(output.Raw(w)), opts.Color)
	for start := 0; start < len(r.Releases); {
		end := start
		for end < len(r.Releases) && r.Releases[end].File == r.Releases[start].File {
			end++
		}
		file := r.Releases[start].File
		_ = out.Printf("%s\n", file)
		for _, refusal := range r.Refusals {
			if refusal.Helmfile == file {
				may := map[bool]string{true: "fails", false: "may fail"}[refusal.Certain]
				_ = out.Printf("  ! helmfile %s: %s   %s\n", may, refusal.Reason, fmt.Sprintf("%s:%d", refusal.File, refusal.Line))
			}
		}
		writeReleases(out, r.Releases[start:end])
		for _, o := range r.Order {
			switch {
			case o.File != file || o.Ignored:
			case o.Unresolved:
				_ = out.Printf("  ? %s:%d: %s\n", o.File, o.Line, o.Message)
			default:
				_ = out.Printf("  ! %s:%d: %s\n      hint: %s\n", o.File, o.Line, o.Message, o.Hint)
			}
		}
		start = end
	}
	r.writeFlux(out)
	for _, d := range r.Stale {
		_ = out.Printf("%s:%d: %s\n  hint: remove it from the annotation %s\n", d.File, d.Line, d.Message, IntendedAnnotation)
	}
	_ = out.Printf("%s\n", r.summary())
	return out.Flush()
}

func writeReleases(out *output.Text, releases []ReleaseReport) {
	var name, namespace, version int
	for _, r := range releases {
		name = max(name, width(dash(r.Release)))
		namespace = max(namespace, width(dash(r.Namespace)))
		version = max(version, width(dash(r.Version)))
	}
	for _, r := range releases {
		_ = out.Printf("  %s %s  %s  %s   %s\n", r.Verdict.symbol(), padded(dash(r.Release), name),
			padded(dash(r.Namespace), namespace), padded(dash(r.Version), version), r.verdictInWords())
		writeDifferences(out, r.Differences)
		if hint := r.Hint(); hint != "" {
			_ = out.Printf("      hint: %s\n", hint)
		}
		r.Rendered.write(out, r.Verdict)
	}
}

// symbol returns the mark of a verdict, in its colour.
func (v Verdict) symbol() output.Painted { return output.Paint(colours[v], symbols[v]) }

// writeFlux prints the verdicts on the Flux installations.
func (r *Report) writeFlux(out *output.Text) {
	for _, f := range r.Flux {
		_ = out.Printf("%s\n  %s %s  %s   %s\n", f.File, f.Verdict.symbol(), f.Installs,
			dash(f.Version), inWords(f.Verdict, f.Git, f.Reason))
		writeDifferences(out, f.Differences)
		if hint := f.Hint(); hint != "" {
			_ = out.Printf("      hint: %s\n", hint)
		}
	}
}

// summary returns the last line: the counts of the releases and of the Flux installations.
func (r *Report) summary() string {
	if len(r.Flux) == 0 {
		return r.Summary.String()
	}
	var flux Summary
	for _, f := range r.Flux {
		flux.count(f.Verdict)
	}
	_, verdicts, _ := strings.Cut(flux.String(), ": ")
	return r.Summary.String() + "; Flux: " + verdicts
}

// verdictInWords returns the verdict in words.
func (r ReleaseReport) verdictInWords() string {
	words := inWords(r.Verdict, r.HelmRelease, r.Reason)
	if r.unapplied {
		words += " (which no cluster applies)"
	}
	return words
}

// inWords returns a verdict in words. Git is the position of the other side, "" if there is none.
func inWords(v Verdict, git, reason string) string {
	switch v {
	case Agrees:
		return "as " + git
	case Cosmetic:
		return "installs the same objects as " + git
	case Drift:
		return "drifts from " + git
	case Intended:
		if git == "" {
			return reason
		}
		if reason != "" {
			return "differs from " + git + ": " + reason
		}
		return "differs on purpose from " + git
	case Missing:
		return "missing: " + reason
	}
	return "unresolved: " + reason
}

func writeDifferences(out *output.Text, differences []Difference) {
	var field, value int
	for _, d := range differences {
		field = max(field, width(oneLine(d.Field)))
		inBootstrap, inGit := d.Texts()
		if d.Absent() == "" {
			value = max(value, width(inBootstrap))
		}
		value = max(value, width(inGit))
	}
	line := func(name, shown string, s Side) {
		text := fmt.Sprintf("      %s   %s   %s", padded(name, field), padded(shown, value), s.at())
		_ = out.Printf("%s\n", strings.TrimRight(text, " "))
	}
	all := !slices.ContainsFunc(differences, func(d Difference) bool { return !d.Cosmetic })
	for _, d := range differences {
		inBootstrap, inGit := d.Texts()
		if absent := d.Absent(); absent != "" {
			_ = out.Printf("      %s   %s   %s\n", padded(d.Field, field), absent, d.Bootstrap.at())
		} else {
			line(d.Field, inBootstrap, d.Bootstrap)
		}
		if d.Absent() == "" || d.Git.Value != nil {
			line("", inGit, d.Git)
		}
		switch pad := strings.Repeat(" ", field); {
		case d.Cosmetic && !all: // else the verdict says it
			_ = out.Printf("      %s   cosmetic: %s\n", pad, d.Reason)
		case d.Ignored && !d.Cosmetic:
			_ = out.Printf("      %s   intended: %s\n", pad, d.Reason)
		}
		for _, changed := range d.lines() {
			_ = out.Printf("      %s   %s\n", strings.Repeat(" ", field), changed)
		}
	}
}

const maxShown = 60

// Texts returns the two values as one shortened line each. If they would be shortened to the same text, the lines begin
// shortly before the first place where they differ.
func (d Difference) Texts() (inBootstrap, inGit string) {
	a, b := []rune(d.Bootstrap.whole()), []rune(d.Git.whole())
	inBootstrap, inGit = cut(string(a)), cut(string(b))
	if slices.Equal(a, b) {
		return withVariable(string(a)), withVariable(string(b))
	}
	if inBootstrap != inGit {
		return inBootstrap, inGit
	}
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	from := max(0, same-maxShown/3)
	return "…" + cut(string(a[from:])), "…" + cut(string(b[from:]))
}

// withVariable returns a shortened value with its first variable, since Flux replaces it and so the same text is another value.
func withVariable(text string) string {
	before, _, found := strings.Cut(text, "${")
	if !found || utf8.RuneCountInString(before) < maxShown/2 {
		return cut(text)
	}
	from := []rune(before)
	return "…" + cut(string(from[len(from)-maxShown/3:])+text[len(before):])
}

// Text returns the value as one shortened line.
func (s Side) Text() string { return cut(s.whole()) }

// whole returns the value as one line.
func (s Side) whole() string {
	if s.Locked != "" {
		return fmt.Sprintf("%s (%s in the lock)", Side{Value: s.Value}.whole(), oneLine(s.Locked))
	}
	switch v := s.Value.(type) {
	case nil:
		if !s.scalar {
			return "(not set)"
		}
		return "null"
	case string:
		if v == "" {
			return `""`
		}
		if _, isText := located.PlainScalar(v).(string); !isText && s.scalar {
			v = strconv.Quote(v) // "1" is not 1
		}
		return oneLine(v)
	}
	data, err := json.Marshal(s.Value)
	if err != nil {
		return "(not printable)"
	}
	return oneLine(string(data))
}

func (s Side) at() string {
	if s.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

func cut(s string) string {
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown-1]) + "…"
}

// oneLine returns a string on one line, with its line breaks as \n.
func oneLine(s string) string {
	return output.Line(strings.NewReplacer("\n", `\n`, "\t", " ", "\r", "").Replace(s))
}

func width(s string) int { return utf8.RuneCountInString(s) }

func padded(s string, to int) string {
	s = oneLine(s)
	return s + strings.Repeat(" ", max(0, to-width(s)))
}

func dash(s string) string { return cmp.Or(s, "-") }

// String returns the summary line: "3 releases: 1 agrees, 1 drifts, 1 unresolved".
func (s Summary) String() string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(s.Agrees, "agrees", "agree")
	add(s.Drift, "drifts", "drift")
	add(s.Missing, "missing", "missing")
	add(s.Unresolved, "unresolved", "unresolved")
	add(s.Intended, "intended", "intended")
	add(s.Cosmetic, "cosmetic", "cosmetic")
	noun := "releases"
	if s.Releases == 1 {
		noun = "release"
	}
	return strings.TrimSuffix(fmt.Sprintf("%d %s: %s", s.Releases, noun, strings.Join(parts, ", ")), ": ")
}

// mostLines is the maximum number of lines of a small diff.
const mostLines = 6

// lines returns a small diff of two multi-line strings or lists, nil where printing both values suffices.
func (d Difference) lines() []string {
	before, after := linesOf(d.Bootstrap.Value), linesOf(d.Git.Value)
	if len(before) < 2 && len(after) < 2 || len(before) == 0 || len(after) == 0 {
		return nil
	}
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	var all []string
	for _, line := range before {
		all = append(all, "- "+cut(line))
	}
	for _, line := range after {
		all = append(all, "+ "+cut(line))
	}
	if len(all) > mostLines {
		all = append(all[:mostLines-1], fmt.Sprintf("… %d more", len(all)-mostLines+1))
	}
	return all
}

// linesOf returns the lines of a string, or the items of a list.
func linesOf(v any) []string {
	switch v := v.(type) {
	case string:
		return strings.Split(strings.TrimSuffix(v, "\n"), "\n")
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			items[i] = Side{Value: item, scalar: true}.Text()
		}
		return items
	}
	return nil
}
