package validators

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Find returns the rule with an ID, and whether there is one.
func Find(id string) (rule.Rule, bool) {
	for _, r := range All() {
		if r.ID == id {
			return r, true
		}
	}
	return rule.Rule{}, false
}

// List writes one line per rule: its ID, its severity and its title.
func List(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range All() {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s%s\n", r.ID, r.Severity, r.Title, inProfile(r)) // Flush reports the first error
	}
	return t.Flush()
}

// Explain writes why a rule matters, its bad and good examples, and how to fix its findings.
func Explain(w io.Writer, r rule.Rule) error {
	all, err := Examples(r)
	if err != nil {
		return fmt.Errorf("reading the examples: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s\n\n%s%s\n", r.ID, r.Severity, r.Title, profileOf(r, "%s\n\n"), r.Why)
	for _, group := range []exampleGroup{{"Bad", all.Bad}, {"Unresolved", all.Unresolved}, {"Good", all.Good}} {
		for _, e := range group.examples {
			for _, part := range partsOf(group.title, e) {
				fmt.Fprintf(&b, "\n%s:\n\n", part.title)
				for line := range strings.Lines(part.files) {
					b.WriteString("    " + line)
				}
			}
		}
	}
	fmt.Fprintf(&b, "\nFix:\n\n%s\n", r.Fix)
	_, err = io.WriteString(w, b.String())
	return err
}

// profileOf returns a sentence, in a format, that names the --profile with which the rule runs. It returns "" for a rule
// that is on by default.
func profileOf(r rule.Rule, format string) string {
	if r.Profile == "" {
		return ""
	}
	return fmt.Sprintf(format, "It is off by default; --profile "+r.Profile+" turns it on.")
}

// inProfile returns the profile of a rule for a list, such as " (profile audit)". It returns "" for a rule that
// is on by default.
func inProfile(r rule.Rule) string {
	if r.Profile == "" {
		return ""
	}
	return " (profile " + r.Profile + ")"
}

// pages is the URL of the folder in which the pages of the rules are published.
const pages = "https://github.com/fleetwright/fleetwright/blob/main/docs/rules/"

// Describe returns the descriptions of rules that a report includes: title, reason, fix, severity and URL.
func Describe(rules []rule.Rule) []finding.Rule {
	out := make([]finding.Rule, 0, len(rules))
	for _, r := range rules {
		out = append(out, finding.Rule{ID: r.ID, Title: r.Title, Why: r.Why, Fix: r.Fix, Severity: r.Severity, URI: pages + r.ID + ".md"})
	}
	return out
}

// part is a group of files in an example, with the title that is printed above it.
type part struct{ title, files string }

// partsOf returns the files of an example. For a rule about changes, the files before the change come first.
func partsOf(title string, e rule.Example) []part {
	if e.Before == "" {
		return []part{{title, e.Files}}
	}
	return []part{{title + ", before", e.Before}, {title + ", changed", e.Files}}
}

type exampleGroup struct {
	title    string
	examples []rule.Example
}
