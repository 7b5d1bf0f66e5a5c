package ignore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/internal/nearest"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Invalid is ignore-invalid.
var Invalid = rule.Rule{
	ID:       "ignore-invalid",
	Title:    "an ignore without a reason or without a valid rule",
	Severity: finding.Warning,
	Why: `An ignore without a reason has no effect, because later readers could not decide whether it is still needed. An
ignore that names an unknown rule has no effect either; usually the name has a typo.`,
	Fix: `Write the rule and the reason: the annotation fleetwright.dev/ignore: "RULE: REASON; RULE: REASON" on an object,
or the comment # fleetwright:ignore RULE REASON above the line or at its end.`,
	Ignoring: func(p *rule.Pass, ig *rule.Ignoring) {
		for _, d := range ig.Decisions {
			if message, hint := mistake(d, ig); message != "" {
				p.Report(finding.Finding{Place: d.Place, Object: d.Object, Message: message, Hint: hint})
			}
		}
	},
}

// mistake returns the reason why an ignore has no effect, and a hint; "" if it has an effect.
func mistake(d *rule.Decision, ig *rule.Ignoring) (message, hint string) {
	const ignored = "this ignore has no effect: "
	switch {
	case d.Selector != nil:
		return "", ""
	case d.Mistake != "":
		return ignored + d.Mistake, `write the comment "# fleetwright:ignore RULE REASON", or the annotation "RULE: REASON; RULE: REASON"`
	case slices.Contains(ig.Judging, d.Rule):
		return ignored + fmt.Sprintf("%s checks the ignores themselves", d.Rule), "ignore it in the configuration, by path"
	case !slices.Contains(ig.Known, d.Rule):
		if near, ok := nearest.To(d.Rule, ig.Known); ok {
			return ignored + fmt.Sprintf("%q is not a rule", d.Rule), fmt.Sprintf("did you mean %q?", near)
		}
		return ignored + fmt.Sprintf("%q is not a rule", d.Rule), "the rules are " + strings.Join(ig.Known, ", ")
	}
	return "", ""
}
