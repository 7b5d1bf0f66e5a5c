package finding

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/internal/output"
)

// TextOptions are the settings of text reports.
type TextOptions struct {
	// Color enables terminal colours.
	Color bool
	// Source returns the source lines; nil prints none.
	Source Lines
	// Verbose prints every unresolved entry and finding, even if many have the same cause.
	Verbose bool
	// Coverage prints the objects that were not reached, by cluster and cause.
	Coverage bool
	// Duration of the validation; 0 omits it.
	Duration time.Duration
}

// WriteText writes a report for people, in the form of compilers: first unresolved entries; then each
// finding as file:line:column: severity: message [rule] with the source line, a caret and the hint,
// file by file, files with errors last; then a summary line.
func WriteText(w io.Writer, r Report, opts TextOptions) error {
	r = r.withoutOnlyCluster()
	t := text{Text: output.NewText(bufio.NewWriter(output.Raw(w)), opts.Color), opts: opts}
	t.unresolved(r.Unresolved)
	t.findings(worstLast(r.Findings))
	if c := r.Summary.Coverage; c != nil && opts.Coverage {
		t.coverageList(c)
	}
	t.summary(r)
	return t.Flush()
}

// worstLast sorts files with the most severe findings to the end, where people look first.
func worstLast(findings []Finding) []Finding {
	worst := map[string]int{}
	for _, f := range findings {
		worst[f.File] = max(worst[f.File], f.Severity.rank())
	}
	return slices.SortedStableFunc(slices.Values(findings), func(a, b Finding) int {
		return cmp.Compare(worst[a.File], worst[b.File])
	})
}

type text struct {
	*output.Text
	opts TextOptions
}

// printf ignores errors; Flush reports the first one.
func (t text) printf(format string, args ...any) { _ = t.Printf(format, args...) }

// mostAtPlace is the maximum number of findings of one rule at one place that are printed one by one.
const mostAtPlace = 3

// findings prints findings. If a rule has many findings at one place, such as the keys that a values file lacks,
// they are listed below the line of the first.
func (t text) findings(all []Finding) {
	if !t.opts.Verbose {
		all = causes(all)
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && atOnePlace(all[0], all[n]) {
			n++
		}
		if n <= mostAtPlace || t.opts.Verbose {
			for _, f := range all[:n] {
				t.finding(f)
			}
		} else {
			t.finding(all[0], all[1:n]...)
		}
		all = all[n:]
	}
}

// causes merges more than mostAtPlace findings of a rule with the same cause, or with the same message for the same cluster, into
// one at the place of the first.
func causes(all []Finding) []Finding {
	type cause struct {
		rule, text, message, hint, cluster string
		severity                           Severity
	}
	of := func(f Finding) cause {
		if f.Cause != "" {
			return cause{rule: f.Rule, text: f.Cause, severity: f.Severity}
		}
		return cause{rule: f.Rule, message: f.Message, hint: f.Hint, cluster: f.Cluster, severity: f.Severity}
	}
	same := map[cause][]Finding{}
	for _, f := range all {
		if f.Line > 0 {
			same[of(f)] = append(same[of(f)], f)
		}
	}
	var rest []Finding
	for _, f := range all {
		places := same[of(f)]
		switch {
		case len(places) <= mostAtPlace || f.Line == 0:
			rest = append(rest, f)
		case f == places[0]:
			rest = append(rest, f.at(places[1:]))
		}
	}
	return rest
}

// at returns a finding whose message also names the places of others.
func (f Finding) at(more []Finding) Finding {
	var names []string
	for _, other := range more[:mostAtPlace-1] {
		names = append(names, fmt.Sprintf("%s:%d", other.File, other.Line))
	}
	f.Message += fmt.Sprintf("; also at %s and %s, which --verbose lists", strings.Join(names, ", "), Count(len(more)-len(names), "other place"))
	return f
}

func atOnePlace(a, b Finding) bool {
	return a.Line > 0 && a.File == b.File && a.Line == b.Line && a.Column == b.Column && a.Rule == b.Rule &&
		a.Severity == b.Severity && a.Cluster == b.Cluster && a.Secret == b.Secret
}

// finding prints a finding, and others at the same place.
func (t text) finding(f Finding, others ...Finding) {
	at := cmp.Or(f.File, ".")
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", at, f.Line, max(f.Column, 1))
	}
	color := output.Cyan
	switch f.Severity {
	case Error:
		color = output.Red
	case Warning:
		color = output.Yellow
	}
	message := f.Message
	if f.Cluster != "" {
		message += " (cluster " + f.Cluster + ")"
	}
	t.printf("%s: %s %s [%s]\n", output.Paint(output.Bold, at), output.Paint(color, string(f.Severity)+":"), message, f.Rule)
	t.source(f)
	for i, other := range others {
		if i == mostAtPlace-1 {
			t.printf("  and %d more here, which --verbose lists\n", len(others)-i)
			break
		}
		t.printf("  and %s\n", other.Message)
	}
	if f.Hint != "" {
		t.printf("  hint: %s\n", f.Hint)
	}
}

// widest is the maximum number of characters of a source line that are printed.
const widest = 160

// source prints the source line of a finding with a caret under its column.
func (t text) source(f Finding) {
	if t.opts.Source == nil || f.Line == 0 || f.Secret {
		return
	}
	line, ok := t.opts.Source(f.File, f.Line)
	if !ok || strings.TrimSpace(line) == "" {
		return
	}
	runes := []rune(strings.TrimRight(line, " \t\r\n"))
	if f.Column > len(runes)+widest {
		return // the column is beyond the printed part of a long line
	}
	column := min(max(f.Column, 1), len(runes)+1)
	start := 0
	if column > widest-20 {
		start = column - widest/2
	}
	shown := runes[start:min(len(runes), start+widest)]
	// Tabs stay tabs in the line of the caret, so that it is below its column.
	indent := strings.Map(func(c rune) rune {
		if c == '\t' {
			return '\t'
		}
		return ' '
	}, string(runes[start:min(column-1, len(runes))]))
	number := fmt.Sprint(f.Line)
	t.printf("  %s | %s\n", number, string(shown))
	t.printf("  %s | %s%s\n", strings.Repeat(" ", len(number)), indent, output.Paint(output.Bold, "^"))
}

func (t text) summary(r Report) {
	took := ""
	if t.opts.Duration > 0 {
		took = fmt.Sprintf(" (%.2f s)", t.opts.Duration.Seconds())
	}
	t.printf("%s%s\n", summary(r), took)
	for _, line := range r.coverageLines() {
		if !t.opts.Coverage || line != listHint {
			t.printf("%s\n", line)
		}
	}
}

// summary returns what was read and found, in one line.
func summary(r Report) string {
	s := r.Summary
	read := fmt.Sprintf("%s, %s, %s and %s read", Count(s.Files, "file"), Count(s.Documents, "document"),
		Count(s.Kustomizations, "Kustomization"), Count(s.HelmReleases, "HelmRelease"))
	if s.Builds > 0 {
		apply := "apply"
		if s.Builds == 1 {
			apply = "applies"
		}
		read += fmt.Sprintf(" (%s %s %s)", Count(s.Builds, "build"), apply, Count(s.Objects, "object"))
	}
	var found []string
	for _, part := range []struct {
		n    int
		name string
	}{{s.Errors, "error"}, {s.Warnings, "warning"}, {s.Infos, "info"}} {
		if part.n > 0 {
			found = append(found, Count(part.n, part.name))
		}
	}
	if len(found) == 0 {
		found = []string{"no findings"}
	}
	if n := len(r.Unresolved); n > 0 {
		found = append(found, fmt.Sprintf("%d unresolved", n))
	}
	if s.Ignored > 0 {
		found = append(found, fmt.Sprintf("%d ignored", s.Ignored))
	}
	if s.RulesOff > 0 {
		found = append(found, Count(s.RulesOff, "rule")+" off")
	}
	if s.NotJudged > 0 {
		found = append(found, Count(s.NotJudged, "file")+" of examples and tests not checked against schemas (--root FOLDER checks them)")
	}
	return read + ": " + strings.Join(found, ", ")
}

// Count returns a number of things in words: 1 file, 2 files.
func Count(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return fmt.Sprintf("%d %ss", n, name)
}
