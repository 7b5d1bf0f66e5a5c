// Package ruletest runs a rule's examples as tests.
package ruletest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Examples checks the examples of a rule. The rule must report the marked lines of bad examples as findings, and the
// marked lines of unresolved examples as unresolved. No rule may find anything in good examples.
func Examples(t *testing.T, r rule.Rule, examples rule.Examples, all []rule.Rule) {
	t.Helper()
	if len(examples.Bad)+len(examples.Unresolved) == 0 || len(examples.Good) == 0 {
		t.Errorf("%s needs a bad and a good example", r.ID)
	}
	for _, e := range examples.Bad {
		rules := []rule.Rule{r}
		if r.Ignoring != nil {
			rules = all
		}
		found, _ := run(t, rules, all, e.Before, e.Files)
		found = slices.DeleteFunc(found, func(f finding.Finding) bool { return f.Rule != r.ID })
		if got, want := places(found), marked(e.Files); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: the findings of a bad example are at %v, want %v\n%s\nin\n%s", r.ID, got, want, messages(found), e.Files)
		}
	}
	for _, e := range examples.Unresolved {
		found, unresolved := Run(t, r, e.Files)
		for _, u := range unresolved {
			found = append(found, finding.Finding{Place: finding.Place{File: u.File, Line: u.Line}, Message: u.Reason})
		}
		if got, want := places(found), marked(e.Files); len(want) == 0 || len(unresolved) < len(found) || !slices.Equal(got, want) {
			t.Errorf("%s: what an example leaves unresolved is at %v, want %v\n%s\nin\n%s", r.ID, got, want, messages(found), e.Files)
		}
	}
	for _, e := range examples.Good {
		if found, _ := run(t, all, all, e.Before, e.Files); len(found) > 0 {
			t.Errorf("a good example of %s has findings:\n%s\nin\n%s", r.ID, messages(found), e.Files)
		}
	}
}

// Read returns the examples of a rule in the tested package.
func Read(t *testing.T, r rule.Rule) rule.Examples {
	t.Helper()
	library, err := rule.ReadLibrary(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	examples, err := rule.ReadExamples(library, r.ID)
	if err != nil {
		t.Fatal(err)
	}
	return examples
}

// Find runs one rule over files in txtar form.
func Find(t *testing.T, r rule.Rule, files string) []finding.Finding {
	t.Helper()
	found, _ := Run(t, r, files)
	return found
}

// Run runs one rule over files in txtar form and returns its findings and unresolved questions, sorted, without the
// ignored ones.
func Run(t *testing.T, r rule.Rule, files string) ([]finding.Finding, []finding.Unresolved) {
	t.Helper()
	return run(t, []rule.Rule{r}, []rule.Rule{r}, "", files)
}

// Since runs one rule over files in txtar form, with before as the base revision.
func Since(t *testing.T, r rule.Rule, before, files string) []finding.Finding {
	t.Helper()
	found, _ := RunSince(t, r, before, files)
	return found
}

// RunSince runs one rule as Since does and returns the findings and unresolved questions, as Run does.
func RunSince(t *testing.T, r rule.Rule, before, files string) ([]finding.Finding, []finding.Unresolved) {
	t.Helper()
	return run(t, []rule.Rule{r}, []rule.Rule{r}, before, files)
}

// run runs some of the rules in all.
func run(t *testing.T, rules, all []rule.Rule, before, files string) ([]finding.Finding, []finding.Unresolved) {
	t.Helper()
	o := rule.Options{Rules: rules}
	if before != "" {
		o.Before = Load(t, before)
	}
	for _, r := range all {
		o.Known = append(o.Known, r.ID)
	}
	out, err := rule.Run(context.Background(), Load(t, files), o)
	if err != nil {
		t.Fatal(err)
	}
	report := finding.NewReport(out.Findings, out.Unresolved, finding.Summary{})
	return report.Findings, report.Unresolved
}

// Load loads files in txtar form.
func Load(t *testing.T, files string) *repository.Repository {
	t.Helper()
	content := map[string][]byte{}
	for _, f := range txtar.Parse([]byte(files)).Files {
		content[f.Name] = f.Data
	}
	repo, err := repository.FromFiles(maps.All(content), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// places returns the sorted places of findings, each once.
func places(found []finding.Finding) []string {
	at := make([]string, 0, len(found))
	for _, f := range found {
		at = append(at, fmt.Sprintf("%s:%d", f.File, f.Line))
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// marked returns the lines that end in the marker.
func marked(files string) []string {
	var at []string
	for _, f := range txtar.Parse([]byte(files)).Files {
		n := 0
		for line := range strings.Lines(string(f.Data)) {
			n++
			if strings.HasSuffix(strings.TrimRight(line, "\r\n"), rule.Marker) {
				at = append(at, fmt.Sprintf("%s:%d", f.Name, n))
			}
		}
	}
	slices.Sort(at)
	return at
}

func messages(found []finding.Finding) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s:%d:%d: %s [%s]\n", f.File, f.Line, f.Column, f.Message, f.Rule)
	}
	return b.String()
}
