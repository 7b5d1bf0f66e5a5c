package finding

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/output"
)

// The maximum number of unresolved questions that are printed one by one: of one cause, and of one rule.
const (
	mostOfCause = 3
	mostOfRule  = 10
)

// unresolved prints the unresolved questions. Many questions with one cause become one line; of many questions of one
// rule only the first are printed.
func (t text) unresolved(all []Unresolved) {
	if t.opts.Verbose {
		for _, u := range all {
			t.question(u)
		}
		return
	}
	shown, left := condense(all)
	for _, u := range shown {
		t.question(u)
	}
	for _, l := range left {
		t.printf("%s %d more [%s]\n", output.Paint(output.Cyan, "unresolved:"), l.count, l.rule)
	}
	if len(shown) < len(all) {
		t.printf("  hint: --verbose lists all %d unresolved\n", len(all))
	}
}

func (t text) question(u Unresolved) {
	at := u.File
	if u.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, u.Line)
	}
	t.printf("%s: %s %s [%s]\n", output.Paint(output.Bold, at), output.Paint(output.Cyan, "unresolved:"), u.Reason, u.Rule)
}

// leftOut counts the questions of a rule that are not printed.
type leftOut struct {
	rule  string
	count int
}

// condense merges questions with the same rule and cause into one, at the place of the first, and
// drops questions of a rule with too many.
func condense(all []Unresolved) (shown []Unresolved, left []leftOut) {
	type cause struct{ rule, text string }
	of := func(u Unresolved) cause { return cause{u.Rule, u.Cause} }
	same := map[cause]int{}
	for _, u := range all {
		if u.Cause != "" {
			same[of(u)]++
		}
	}
	printed, lines, at := map[cause]bool{}, map[string]int{}, map[string]int{}
	for _, u := range all {
		if n := same[of(u)]; n > mostOfCause {
			if printed[of(u)] {
				continue
			}
			printed[of(u)] = true
			u.Reason = fmt.Sprintf("%s, and %d more like it: %s", u.Question, n-1, u.Cause)
		}
		if lines[u.Rule]++; lines[u.Rule] <= mostOfRule {
			shown = append(shown, u)
			continue
		}
		if lines[u.Rule] == mostOfRule+1 {
			at[u.Rule] = len(left)
			left = append(left, leftOut{rule: u.Rule})
		}
		left[at[u.Rule]].count++
	}
	return shown, left
}
