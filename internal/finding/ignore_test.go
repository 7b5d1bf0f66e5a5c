package finding

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseAnnotation(t *testing.T) {
	for _, c := range []struct {
		value string
		want  []Ignore
	}{
		{"rule-a: one node; rule-b: later: in May", []Ignore{{Rule: "rule-a", Reason: "one node"}, {Rule: "rule-b", Reason: "later: in May"}}},
		{"rule-a: one\nrule-b: two\n", []Ignore{{Rule: "rule-a", Reason: "one"}, {Rule: "rule-b", Reason: "two"}}},
		{" rule-a : x ;", []Ignore{{Rule: "rule-a", Reason: "x"}}},
		{"rule-a", []Ignore{{Rule: "rule-a", Mistake: "the reason for rule-a is missing"}}},
		{"rule-a: ", []Ignore{{Rule: "rule-a", Mistake: "the reason for rule-a is missing"}}},
		{"Rule A: x", []Ignore{{Mistake: `"Rule A: x" is not "rule: reason"`}}},
		{"rule-*: x", []Ignore{{Mistake: `"rule-*: x" is not "rule: reason"`}}},
		{"", []Ignore{{Mistake: "it names no rule"}}},
		{" ; ", []Ignore{{Mistake: "it names no rule"}}},
	} {
		if got := ParseAnnotation(c.value); !slices.Equal(got, c.want) {
			t.Errorf("%q gives %+v, want %+v", c.value, got, c.want)
		}
	}
}

func TestComments(t *testing.T) {
	for _, c := range []struct {
		name, text string
		// want is line:column rule first-last of each comment, h where it counts for the file.
		want []string
	}{
		{"trailing", "a: 1\nb: 2 # fleetwright:ignore rule-a why\nc: 3\n", []string{"2:6 rule-a 2-2"}},
		{"alone", "a: 1\n# fleetwright:ignore rule-a why\nb: 2\nc: 3\n", []string{"2:1 rule-a 2-3"}},
		{"block", "a: 1\nspec: # fleetwright:ignore rule-a why\n  x: 1\n\n  # note\n  y: 2\nc: 3\n", []string{"2:7 rule-a 2-6"}},
		{"item", "a:\n  # fleetwright:ignore rule-a why\n  - name: x\n    y: 1\n  - name: z\n", []string{"2:3 rule-a 2-4"}},
		{"items at the indent of their key", "b: 1\na: # fleetwright:ignore rule-a why\n- x: 1\n  y: 1\n- z\nc: 1\n", []string{"2:4 rule-a 2-5"}},
		{"field of an item", "- name: x\n  # fleetwright:ignore rule-a why\n  version: 1\n  chart: y\n", []string{"2:3 rule-a 2-3"}},
		{"two above one line", "x: 1\n# fleetwright:ignore rule-a why\n# note\n# fleetwright:ignore rule-b why\nb: 2\nc: 3\n",
			[]string{"2:1 rule-a 2-5", "4:1 rule-b 4-5"}},
		{"nested", "x: 0\na: # fleetwright:ignore rule-a why\n  b: # fleetwright:ignore rule-b why\n    c: 1\n  d: 2\ne: 3\n",
			[]string{"2:4 rule-a 2-5", "3:6 rule-b 3-4"}},
		{"head of the file", "# fleetwright:ignore rule-a why\n---\na: 1\nb: 2\n---\nc: 3\n", []string{"1:1 rule-a 1-4 h"}},
		{"head of a document", "a: 1\n---\n# fleetwright:ignore rule-a why\nb: 1\nc: 2\n", []string{"3:1 rule-a 3-5"}},
		{"template", "- name: x # fleetwright:ignore rule-a why\n{{- if .Values.x }}\n  version: 1\n{{- end }}\n- name: y\n", []string{"1:11 rule-a 1-3"}},
		{"carriage returns", "x: 1\r\n# fleetwright:ignore rule-a why\r\nb: 2\r\n", []string{"2:1 rule-a 2-3"}},
		{"after wide characters", "x: 1\näö: 2 # fleetwright:ignore rule-a why\n", []string{"2:7 rule-a 2-2"}},
		{"at the end", "x: 1\n# fleetwright:ignore rule-a why", []string{"2:1 rule-a 2-2"}},
		{"after a text with the marker", "x: 0\na: x#fleetwright:ignore # fleetwright:ignore rule-a why\n", []string{"2:25 rule-a 2-2"}},
		{"tabs", "x: 0\na: 1\t#\tfleetwright:ignore\trule-a\twhy\n", []string{"2:6 rule-a 2-2"}},
		{"no comment", "a: x#fleetwright:ignore rule-a why\nb: fleetwright:ignore rule-a why\nc: 1 # fleetwright:ignored rule-a why\n", nil},
	} {
		var got []string
		for _, f := range Comments([]byte(c.text)) {
			if f.Mistake != "" || f.Reason != "why" {
				t.Errorf("%s: %+v", c.name, f)
			}
			line := fmt.Sprintf("%d:%d %s %d-%d", f.Line, f.Column, f.Rule, f.First, f.Last)
			if f.Head {
				line += " h"
			}
			got = append(got, line)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCommentsWithMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"# fleetwright:ignore":            "it names no rule",
		"# fleetwright:ignore rule-a":     "the reason for rule-a is missing",
		"# fleetwright:ignore rule-a  ":   "the reason for rule-a is missing",
		"# fleetwright:ignore rule-a # x": "the reason for rule-a is missing",
		"# fleetwright:ignore all of it":  `"all" is not a rule`,
		"#fleetwright:ignore Rule-A test": `"Rule-A" is not a rule`,
	} {
		found := Comments([]byte(text))
		if len(found) != 1 || found[0].Mistake != want {
			t.Errorf("%q gives %+v, want the mistake %q", text, found, want)
		} else if found[0].Covers(1) {
			t.Errorf("%q ignores", text)
		}
	}
}

func TestCovers(t *testing.T) {
	c := Comment{First: 3, Last: 5}
	for line, want := range map[int]bool{0: false, 2: false, 3: true, 5: true, 6: false} {
		if c.Covers(line) != want {
			t.Errorf("line %d: %v", line, !want)
		}
	}
	if c.Head = true; !c.Covers(0) {
		t.Error("a comment at the head doesn't cover the file")
	}
}

// All of many comments are found, however deep they are nested.
func TestManyComments(t *testing.T) {
	const n = 200_000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sa: # fleetwright:ignore rule-a why\n", strings.Repeat(" ", i%100))
	}
	if got := len(Comments([]byte(b.String()))); got != n {
		t.Errorf("%d comments, want %d", got, n)
	}
}

func FuzzComments(f *testing.F) {
	f.Add("a: 1 # fleetwright:ignore rule-a why\n---\n# fleetwright:ignore\n- b:\n  c: 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, c := range Comments([]byte(text)) {
			if c.Line < 1 || c.First != c.Line || c.Last < c.First || c.Last > lines || c.Column < 1 || (c.Rule == "") && c.Mistake == "" {
				t.Errorf("%+v of %d lines", c, lines)
			}
		}
		ParseAnnotation(text)
	})
}
