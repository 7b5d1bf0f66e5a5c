// Package ignore holds the rules about the ignores in a repository and in its configuration.
package ignore

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// Unused is ignore-unused.
var Unused = rule.Rule{
	ID:       "ignore-unused",
	Title:    "an ignore without effect",
	Severity: finding.Warning,
	Why: `The problem was fixed, or the ignore is in the wrong place or names the wrong rule. If it stays, it hides the
next finding of that rule.

It is reported only if all rules of the ignore ran for all clusters. Unused entries of a baseline are reported
once.`,
	Fix: `Remove the annotation, the comment or the entry of the configuration, or move it to the object that it is about.
Write the baseline again with --write-baseline.`,
	Ignoring: func(p *rule.Pass, ig *rule.Ignoring) {
		for _, d := range ig.Decisions {
			if !d.Judged || d.Used {
				continue
			}
			p.Report(finding.Finding{Place: d.Place, Object: d.Object,
				Message: unusedMessage(d), Hint: "remove it, or move it to the object that it is about"})
		}
		if n := len(ig.Gone); n > 0 {
			p.Report(finding.Finding{Place: finding.Place{File: ig.BaselineFile}, Severity: finding.Info, Message: goneMessage(n),
				Hint: "write the baseline again with --write-baseline"})
		}
	},
}

func unusedMessage(d *rule.Decision) string {
	if d.Selector == nil {
		return fmt.Sprintf("there are no findings of %s here to ignore", d.Rule)
	}
	var what []string
	for _, part := range []struct {
		name   string
		values []string
	}{{"rules", d.Selector.Rules}, {"paths", d.Selector.Paths}, {"kinds", d.Selector.Kinds}} {
		if len(part.values) > 0 {
			what = append(what, part.name+" "+strings.Join(part.values, ", "))
		}
	}
	return "no finding matches the entry with " + strings.Join(what, " and ")
}

func goneMessage(n int) string {
	if n == 1 {
		return "1 finding of the baseline no longer exists"
	}
	return fmt.Sprintf("%d findings of the baseline no longer exist", n)
}
