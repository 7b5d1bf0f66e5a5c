package audit_test

import (
	"testing"

	"github.com/fleetwright/fleetwright/validators/audit"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

func all() []rule.Rule {
	return []rule.Rule{
		audit.AlertMissing, audit.AutomationBranch, audit.AutomationKey, audit.ClusterSize, audit.CreateNamespace, audit.DefaultNamespace,
		audit.DriftDetection, audit.Prune, audit.ReleaseRetry, audit.RetryInterval, audit.Timeout,
	}
}

func TestExamples(t *testing.T) {
	for _, r := range all() {
		if r.Profile != audit.Profile {
			t.Errorf("%s is always on", r.ID)
		}
		t.Run(r.ID, func(t *testing.T) { ruletest.Examples(t, r, []rule.Rule{r}) })
	}
}
