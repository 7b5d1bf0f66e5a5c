package schema

import (
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/schemas"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// TestWithoutAliases: what is wrong with one value in several ways is told in each.
func TestWithoutAliases(t *testing.T) {
	t.Parallel()
	repo := ruletest.Load(t, "-- a.yaml --\napiVersion: v1\nkind: ConfigMap\ndata:\n  a: &one x\n  b: *one\n")
	for o := range repo.Objects() {
		problem := func(message string, line, column int, path ...any) located {
			return located{Problem: schemas.Problem{Kind: schemas.Invalid, Path: path, Message: message}, Place: finding.Place{Line: line, Column: column}}
		}
		got := withoutAliases(o, []located{
			problem("too short", 4, 6, "data", "a"), problem("no name", 4, 6, "data", "a"),
			problem("too short", 5, 6, "data", "b"), problem("no name", 5, 6, "data", "b"),
		})
		if len(got) != 2 || got[0].Line != 4 || got[1].Line != 4 {
			t.Errorf("left are %v", got)
		}
	}
}
