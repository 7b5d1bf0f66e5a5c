package bootstrap

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// TextOptions of WriteText.
type TextOptions struct {
	// Color marks the verdicts with ANSI colours.
	Color bool
}

var symbols = map[Verdict]string{Agrees: "✓", Drift: "✗", Missing: "✗", Unresolved: "?", Intended: "~"}

var colours = map[Verdict]string{Agrees: "\x1b[32m", Drift: "\x1b[31m", Missing: "\x1b[31m", Unresolved: "\x1b[33m", Intended: "\x1b[36m"}

// WriteText prints a report for people: the releases of each file in aligned
// columns, what differs with the places of both sides, and a line of summary.
func (r *Report) WriteText(w io.Writer, opts TextOptions) error {
	var out strings.Builder
	for start := 0; start < len(r.Releases); {
		end := start
		for end < len(r.Releases) && r.Releases[end].File == r.Releases[start].File {
			end++
		}
		file := r.Releases[start].File
		out.WriteString(printable(file) + "\n")
		for _, refusal := range r.Refusals {
			if refusal.Helmfile == file {
				fmt.Fprintf(&out, "  ! helmfile stops: %s   %s\n", printable(refusal.Reason), printable(fmt.Sprintf("%s:%d", refusal.File, refusal.Line)))
			}
		}
		writeReleases(&out, r.Releases[start:end], opts)
		for _, o := range r.Order {
			if o.File == r.Releases[start].File {
				fmt.Fprintf(&out, "  ! %s:%d: %s\n      hint: %s\n", printable(o.File), o.Line, printable(o.Message), printable(o.Hint))
			}
		}
		start = end
	}
	for _, d := range r.Stale {
		fmt.Fprintf(&out, "%s:%d: %s\n  hint: remove it from the annotation %s\n", printable(d.File), d.Line, printable(d.Message), IntendedAnnotation)
	}
	out.WriteString(r.Summary.String() + "\n")
	_, err := io.WriteString(w, out.String())
	return err
}

func writeReleases(out *strings.Builder, releases []ReleaseReport, opts TextOptions) {
	var name, namespace, version int
	for _, r := range releases {
		name = max(name, width(dash(r.Release)))
		namespace = max(namespace, width(dash(r.Namespace)))
		version = max(version, width(dash(r.Version)))
	}
	for _, r := range releases {
		symbol := symbols[r.Verdict]
		if opts.Color {
			symbol = colours[r.Verdict] + symbol + "\x1b[0m"
		}
		fmt.Fprintf(out, "  %s %s  %s  %s   %s\n", symbol, padded(dash(r.Release), name),
			padded(dash(r.Namespace), namespace), padded(dash(r.Version), version), printable(r.said()))
		writeDifferences(out, r.Differences)
		if hint := r.Hint(); hint != "" {
			fmt.Fprintf(out, "      hint: %s\n", printable(hint))
		}
	}
}

// said is the verdict in words.
func (r ReleaseReport) said() string {
	switch r.Verdict {
	case Agrees:
		return "as " + r.HelmRelease
	case Drift:
		return "drifts from " + r.HelmRelease
	case Intended:
		if r.Reason != "" {
			return "differs from " + r.HelmRelease + ": " + r.Reason
		}
		return "differs on purpose from " + r.HelmRelease
	case Missing:
		return "missing: " + r.Reason
	}
	return "unresolved: " + r.Reason
}

func writeDifferences(out *strings.Builder, differences []Difference) {
	var field, value int
	for _, d := range differences {
		field = max(field, width(printable(d.Field)))
		value = max(value, width(d.Bootstrap.Text()), width(d.Git.Text()))
	}
	line := func(name string, s Side) {
		text := fmt.Sprintf("      %s   %s   %s", padded(name, field), padded(s.Text(), value), s.at())
		out.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	for _, d := range differences {
		line(d.Field, d.Bootstrap)
		line("", d.Git)
		if d.Ignored {
			fmt.Fprintf(out, "      %s   meant: %s\n", strings.Repeat(" ", field), printable(d.Reason))
		}
		for _, changed := range d.lines() {
			fmt.Fprintf(out, "      %s   %s\n", strings.Repeat(" ", field), printable(changed))
		}
	}
}

const maxShown = 60

// Text is the value as people read it, on one line and shortened.
func (s Side) Text() string {
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
		if _, isText := plainScalar(v).(string); !isText && s.scalar {
			v = strconv.Quote(v) // "1" is not 1
		}
		return cut(printable(v))
	}
	data, err := json.Marshal(s.Value)
	if err != nil {
		return "(not printable)"
	}
	return cut(printable(string(data)))
}

func (s Side) at() string {
	if s.File == "" {
		return ""
	}
	return printable(fmt.Sprintf("%s:%d", s.File, s.Line))
}

func cut(s string) string {
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return string([]rune(s)[:maxShown-1]) + "…"
}

// printable keeps control characters of a hostile repository from the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == utf8.RuneError {
			return '�'
		}
		return r
	}, strings.NewReplacer("\n", `\n`, "\t", " ", "\r", "").Replace(s))
}

func width(s string) int { return utf8.RuneCountInString(s) }

func padded(s string, to int) string {
	s = printable(s)
	return s + strings.Repeat(" ", max(0, to-width(s)))
}

func dash(s string) string { return cmp.Or(s, "-") }

// String is the line of summary: "3 releases: 1 agrees, 1 drifts, 1 unresolved".
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
	noun := "releases"
	if s.Releases == 1 {
		noun = "release"
	}
	return strings.TrimSuffix(fmt.Sprintf("%d %s: %s", s.Releases, noun, strings.Join(parts, ", ")), ": ")
}
