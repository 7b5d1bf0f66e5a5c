package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/fleetwright/fleetwright/e2e/harness"
)

// modelLine is a line of the threat model: a row of a table that begins with an id.
var modelLine = regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \|`)

// elsewhereTried maps the lines of the model that other chapters try to these chapters.
var elsewhereTried = map[string]string{
	"R18": "helm: a chart that looks at another namespace",
	"W7":  "networks: the policies of each namespace are closed",
	"Z10": "controls: a namespace without pod security",
	"Z12": "threats: what a refusal names",
}

// TestThreatModel compares the actions with the threat model in docs/tenants.md: each line has
// an action that tries it, and each action has a line.
func TestThreatModel(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(harness.Root(t), "docs", "tenants.md"))
	must(t, err)
	lines := map[string]bool{}
	for _, match := range modelLine.FindAllStringSubmatch(string(text), -1) {
		if lines[match[1]] {
			t.Errorf("docs/tenants.md has two lines %s", match[1])
		}
		lines[match[1]] = true
	}
	actions := map[string]int{}
	for _, row := range slices.Concat(table, judged) {
		actions[row.line]++
	}
	for _, trial := range allTrials() {
		actions[trial.line]++
	}
	for _, change := range changes {
		actions[change.line]++
	}
	for _, build := range builds {
		actions[build.line]++
	}
	for line := range elsewhereTried {
		actions[line]++
	}
	count := 0
	for _, line := range slices.Sorted(maps.Keys(actions)) {
		if count += actions[line]; !lines[line] {
			t.Errorf("docs/tenants.md has no line %s, which %d actions name", line, actions[line])
		}
	}
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		if actions[line] == 0 {
			t.Errorf("no action tries line %s of docs/tenants.md", line)
		}
	}
	if count < 120 {
		t.Errorf("only %d actions are tried", count)
	}
	t.Logf("%d actions for %d lines of the threat model", count, len(lines))
}
