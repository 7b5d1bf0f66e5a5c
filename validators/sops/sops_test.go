package sops_test

import (
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
	"github.com/fleetwright/fleetwright/validators/sops"
)

var all = []rule.Rule{
	sops.DecryptionMissing, sops.GeneratorPlaintext, sops.Hardcoded, sops.Partial, sops.Plaintext, sops.PrivateKey,
	sops.RecipientMissing, sops.RecipientStale, sops.RuleMissing, sops.RuleUnused, sops.Undecryptable,
}

func TestExamples(t *testing.T) {
	for _, r := range all {
		t.Run(r.ID, func(t *testing.T) { ruletest.Examples(t, r, all) })
	}
}
