package sops

import (
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
)

// What is made up is no secret: the value of a test, the example in the description of an API, and no key of .sops.yaml, with
// which no file is compared. Reproduces: david-driscoll/home-operations and devopscoop/fluxcd-template.
func TestMadeUp(t *testing.T) {
	const secret = "q8Zr2LwX9bN4" + "vTk1Zq"
	for name, c := range map[string]struct {
		files string
		want  int
	}{
		"a script":           {"-- run.sh --\nlocal token=\"s." + secret + "\"\n", 1},
		"the test of one":    {"-- run.sh --\nlocal token=\"s.SelfTestToken12345\"\n", 0},
		"a file of settings": {"-- api.json --\n{\n\"info\": {\n\"clientSecret\": \"" + secret + "\"\n}\n}\n", 1},
		"an API's":           {"-- api.json --\n{\n\"openapi\": \"3.1.0\",\n\"example\": {\n\"clientSecret\": \"" + secret + "\"\n}\n}\n", 0},
	} {
		if found := ruletest.Find(t, Hardcoded, c.files); len(found) != c.want {
			t.Errorf("%s: found %+v", name, found)
		}
	}
	const key = "age1hyw8w5vnp0kxrrcdd02f30r3euyszyaxs04qnw8d0jnmf9vuhyuq6qz9k8"
	const file = "-- .sops.yaml --\ncreation_rules:\n- age: KEY\n-- a.sops.yaml --\napiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\ndata: {c: 'ENC[AES256_GCM,data:Zm9v,iv:MDEy,tag:MDEy,type:str]'}\n" +
		"sops:\n  age:\n  - recipient: " + key + "\n    enc: a\n  lastmodified: '2026-01-01T00:00:00Z'\n  mac: 'ENC[AES256_GCM,data:Zm9v,iv:MDEy,tag:MDEy,type:str]'\n  version: 3.9.0\n"
	for recipient, want := range map[string]int{key: 0, "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p": 1, "YOUR_AGE_PUBLIC_KEY": 0} {
		if found := ruletest.Find(t, RecipientMissing, strings.Replace(file, "KEY", recipient, 1)); len(found) != want {
			t.Errorf("%s: found %+v", recipient, found)
		}
	}
}
