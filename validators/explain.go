package validators

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Find returns the rule of an id.
func Find(id string) (rule.Rule, bool) {
	for _, r := range All() {
		if r.ID == id {
			return r, true
		}
	}
	return rule.Rule{}, false
}

// List writes a line for each rule, with its severity and what is wrong.
func List(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range All() {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s%s\n", r.ID, r.Severity, r.Title, inProfile(r)) // Flush reports the first error
	}
	return t.Flush()
}

// Index is the page that leads to the rules' pages in docs/rules.
func Index() string {
	var b strings.Builder
	b.WriteString("# Rules\n\n`fleetwright explain RULE` prints the same pages; `fleetwright explain` lists the rules.\n")
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

// Explain writes what a rule is about: why it matters, bad and good examples,
// and how to mend it.
func Explain(w io.Writer, r rule.Rule) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s\n\n%s%s\n", r.ID, r.Severity, r.Title, profileOf(r, "%s\n\n"), r.Why)
	for _, group := range exampleGroups(r) {
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
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown is a rule's page in docs/rules.
func Markdown(r rule.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s%s. Severity: %s.%s\n\n## Why\n\n%s\n", r.ID,
		strings.ToUpper(r.Title[:1]), r.Title[1:], r.Severity, profileOf(r, " %s"), r.Why)
	for _, group := range exampleGroups(r) {
		for _, e := range group.examples {
			for _, part := range partsOf(group.title+" example", e) {
				fmt.Fprintf(&b, "\n## %s\n\n```\n%s```\n", part.title, part.files)
			}
		}
	}
	fmt.Fprintf(&b, "\n## Fix\n\n%s\n", r.Fix)
	return b.String()
}

// profileOf says in a format how a rule is switched on that is off; "" for one
// that is always on.
func profileOf(r rule.Rule, format string) string {
	if r.Profile == "" {
		return ""
	}
	return fmt.Sprintf(format, "It is off unless --profile "+r.Profile+" asks for it.")
}

// inProfile names the profile of a rule in a list; "" for one that is always on.
func inProfile(r rule.Rule) string {
	if r.Profile == "" {
		return ""
	}
	return " (profile " + r.Profile + ")"
}

// pages is where the rules' pages are published.
const pages = "https://github.com/fleetwright/fleetwright/blob/main/docs/rules/"

// Describe describes rules to those who read a report.
func Describe(rules []rule.Rule) []finding.Rule {
	out := make([]finding.Rule, 0, len(rules))
	for _, r := range rules {
		out = append(out, finding.Rule{ID: r.ID, Title: r.Title, Why: r.Why, Fix: r.Fix, Severity: r.Severity, URI: pages + r.ID + ".md"})
	}
	return out
}

// part is what an example shows under a title.
type part struct{ title, files string }

// partsOf are the files of an example, and those before where it is about a change.
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

func exampleGroups(r rule.Rule) []exampleGroup {
	return []exampleGroup{{"Bad", r.Bad}, {"Unresolved", r.Unresolved}, {"Good", r.Good}}
}
