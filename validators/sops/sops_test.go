package sops_test

import (
	"strings"
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

// TestPrivateKeyBesideASecret: the key of a ConfigMap is told although its file has a Secret,
// and that of the Secret by sops-plaintext-secret alone.
func TestPrivateKeyBesideASecret(t *testing.T) {
	key := "  key: |\n    -----BEGIN PRIVATE" + " KEY-----\n    " + strings.Repeat("MIIEowIB", 8) + "\n    -----END PRIVATE" + " KEY-----\n"
	files := "-- apps/a.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n" + key +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n" + key
	for _, c := range []struct {
		rule rule.Rule
		line int
	}{{sops.PrivateKey, 15}, {sops.Plaintext, 5}} {
		found := ruletest.Find(t, c.rule, files)
		if len(found) != 1 || found[0].Line != c.line {
			t.Errorf("%s finds %v, not line %d", c.rule.ID, found, c.line)
		}
	}
}
