package ownership

import (
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// rules are those of the package.
var rules = []rule.Rule{Duplicate, OrphanFile}

func TestExamples(t *testing.T) {
	for _, r := range rules {
		t.Run(r.ID, func(t *testing.T) { ruletest.Examples(t, r, rules) })
	}
}
