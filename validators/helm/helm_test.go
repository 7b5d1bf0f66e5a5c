package helm

import (
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

func TestExamples(t *testing.T) {
	all := []rule.Rule{Failed, Values}
	for _, r := range all {
		ruletest.Examples(t, r, all)
	}
}
