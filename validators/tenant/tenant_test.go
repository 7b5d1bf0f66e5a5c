package tenant_test

import (
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
	"github.com/fleetwright/fleetwright/validators/tenant"
)

func all() []rule.Rule {
	return []rule.Rule{
		tenant.ClusterAdmin, tenant.ClusterScoped, tenant.CrossNamespaceRef, tenant.LockdownMissing, tenant.NamespaceUnlabelled,
		tenant.NetworkPolicyMissing, tenant.QuotaMissing, tenant.RBACEscalation, tenant.RBACExcess, tenant.ServiceAccountMissing,
		tenant.SourceNotAllowed,
	}
}

func TestExamples(t *testing.T) {
	for _, r := range all() {
		t.Run(r.ID, func(t *testing.T) { ruletest.Examples(t, r, all()) })
	}
}
