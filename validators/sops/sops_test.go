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

// TestPrivateKeyOfATestCluster: a folder named as those of tests may be a cluster's own, and then
// the key that opens what it applies is a real one.
func TestPrivateKeyOfATestCluster(t *testing.T) {
	files := sops.PrivateKey.Bad[0].Files
	key := "-- clusters/test/age.agekey --" + files[strings.Index(files, "\n"):strings.Index(files, "-- apps/")]
	secret := `-- clusters/test/secret.yaml --
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: apps}
stringData:
  password: ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]
sops:
  age:
    - recipient: age1cy0su9fwf3gf9mw868g5yut09p6nytfmmnktexz2ya5uqg9vl9sss4euqm
      enc: x
  mac: ENC[AES256_GCM,data:bWFj,iv:c29tZQ==,tag:dGFn,type:str]
  version: 3.13.3
`
	found := ruletest.Find(t, sops.PrivateKey, strings.ReplaceAll(rule.FluxSync, "clusters/prod", "clusters/test")+key+secret)
	if len(found) != 1 || found[0].File != "clusters/test/age.agekey" {
		t.Errorf("the key of a cluster that is named test: %v", found)
	}
	if found := ruletest.Find(t, sops.PrivateKey, key+secret); len(found) > 0 {
		t.Errorf("the key of a test that no cluster applies: %v", found)
	}
}

// TestDecryptionOfInputs: an encrypted file that a generator reads is found however the generator
// spells its fields, as kustomize reads them.
func TestDecryptionOfInputs(t *testing.T) {
	for _, generator := range []string{"secretGenerator:\n  - name: db\n    envs: [db.env]\n", "secretgenerator:\n  - name: db\n    env: db.env\n",
		"configMapgenerator:\n  - name: db\n    Files: [settings=db.env]\n"} {
		files := rule.FluxSync + "-- clusters/prod/kustomization.yaml --\n" + generator + "-- clusters/prod/db.env --\n" +
			"password=ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]\nsops_mac=ENC[AES256_GCM,data:bWFj,iv:c29tZQ==,tag:dGFn,type:str]\nsops_version=3.13.3\n"
		found := ruletest.Find(t, sops.DecryptionMissing, files)
		if len(found) != 1 || !strings.Contains(found[0].Message, "what is generated of clusters/prod/db.env") {
			t.Errorf("%s%v", generator, found)
		}
	}
}
