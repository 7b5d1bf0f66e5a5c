package sops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
	"github.com/fleetwright/fleetwright/validators/rule"
	"github.com/fleetwright/fleetwright/validators/rule/ruletest"
	"github.com/fleetwright/fleetwright/validators/sops"
)

var all = []rule.Rule{
	sops.Broken, sops.DecryptionMissing, sops.GeneratorPlaintext, sops.Hardcoded, sops.Partial, sops.Plaintext, sops.PrivateKey,
	sops.RecipientMissing, sops.RecipientStale, sops.RuleMissing, sops.RuleUnused, sops.Undecryptable,
}

// TestPrivateKeyBesideASecret: the key of a ConfigMap is told although its file has a Secret,
// and that of the Secret by sops-plaintext-secret alone.
func TestPrivateKeyBesideASecret(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	files := ruletest.Read(t, sops.PrivateKey).Bad[0].Files
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
	t.Parallel()
	for _, generator := range []string{"secretGenerator:\n  - name: db\n    envs: [db.env]\n", "secretgenerator:\n  - name: db\n    env: db.env\n",
		"configMapgenerator:\n  - name: db\n    Files: [settings=db.env]\n"} {
		files := rule.FluxSync + "-- clusters/prod/kustomization.yaml --\n" + generator + "-- clusters/prod/db.env --\n" +
			"password=ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]\nsops_lastmodified=2026-01-01T00:00:00Z\nsops_mac=ENC[AES256_GCM,data:bWFj,iv:c29tZQ==,tag:dGFn,type:str]\nsops_version=3.13.3\n"
		found := ruletest.Find(t, sops.DecryptionMissing, files)
		if len(found) != 1 || !strings.Contains(found[0].Message, "the object generated from clusters/prod/db.env") {
			t.Errorf("%s%v", generator, found)
		}
	}
}

// TestPlaintextElsewhere: a plaintext Secret is found in files that aren't named as YAML is, and in
// the text of a ConfigMap; what is a template, or an example, is judged by its look.
func TestPlaintextElsewhere(t *testing.T) {
	t.Parallel()
	secret := "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\n  namespace: apps\nstringData:\n  note: the one of the database\n  password: tr0ub4dor-and-3\n"
	list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(secret), "\n", "\n  ") + "\n"
	for file, want := range map[string]string{
		"apps/db.YML": "apps/db.YML:8", "apps/db.yaml.bak": "apps/db.yaml.bak:8", "apps/db.txt": "apps/db.txt:8", "apps/db.yaml.tpl": "apps/db.yaml.tpl:8",
		"examples/db.yaml.tpl": "", "docs/db.txt": "", "apps/db.md": "apps/db.md:8",
	} {
		text := secret
		if strings.HasSuffix(file, ".md") {
			text = "Write a Secret:\n\n```yaml\n" + secret + "```\n" // which is no YAML
			want = ""
		}
		var got []string
		for _, f := range ruletest.Find(t, sops.Plaintext, "-- "+file+" --\n"+text) {
			got = append(got, fmt.Sprintf("%s:%d", f.File, f.Line))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %q", file, got, want)
		}
	}
	if found := ruletest.Find(t, sops.Plaintext, "-- apps/list.yaml --\n"+list); len(found) != 1 || found[0].Line != 11 {
		t.Errorf("an item of a List: %v", found)
	}
	head, _, _ := strings.Cut(secret, "  note")
	for name, text := range map[string]string{"a manifest": secret, "an encrypted one": "a: b\n" + head +
		"  password: ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]\n", "what stands for one": strings.ReplaceAll(secret, "tr0ub4dor-and-3", "${X}")} {
		files := "-- apps/map.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: map\ndata:\n  secret.yaml: |\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
		files = strings.ReplaceAll(files, "    note: the one of the database\n", "")
		found := ruletest.Find(t, sops.Hardcoded, files)
		if want := name == "a manifest"; want != (len(found) == 1) || want && (found[0].Line != 13 || !found[0].Secret) {
			t.Errorf("%s in a ConfigMap: %v", name, found)
		}
	}
}

// TestPlaintextTooLarge: a file that is too large to be read is an error.
func TestPlaintextTooLarge(t *testing.T) {
	t.Parallel()
	files := "-- apps/large.yaml --\na: " + strings.Repeat("x", 10<<20) + "\n"
	found, unresolved := ruletest.Run(t, sops.Plaintext, files)
	if len(found) != 1 || found[0].Rule != rule.LimitExceeded || found[0].File != "apps/large.yaml" || len(unresolved) > 0 {
		t.Errorf("%v, %v", found, unresolved)
	}
}

// TestPartialByTheRule: what the file's own rule leaves in plaintext is no finding, whatever it is
// called, unless it looks like a secret; a rule by comments is not decided.
func TestPartialByTheRule(t *testing.T) {
	t.Parallel()
	value := "ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]"
	file := func(selection, more string) string {
		return "-- apps/secret.sops.yaml --\napiVersion: v1\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  password: " + value + "\n" + more +
			"sops:\n  lastmodified: \"2026-01-01T00:00:00Z\"\n  mac: " + value + "\n  " + selection + "\n"
	}
	for _, c := range []struct {
		selection, more string
		found, unknown  int
	}{
		{"encrypted_regex: ^password$", "  settings: mode=fast\n", 0, 0},
		{"encrypted_regex: ^password$", "  other-password: tr0ub4dor\n", 1, 0},
		{"encrypted_regex: ^(data|stringData)$", "  settings: mode=fast\n", 1, 0},
		{"encrypted_regex: ^(data|stringData)$", "  settings: ENC[hunter2]\n", 1, 0},
		{"encrypted_suffix: word", "  settings: mode=fast\n", 0, 0},
		{"unencrypted_regex: ^(apiVersion|kind|metadata|settings)$", "  settings: mode=fast\n  user: x\n", 1, 0},
		{"encrypted_comment_regex: secret", "  settings: mode=fast\n", 0, 1},
	} {
		found, unresolved := ruletest.Run(t, sops.Partial, file(c.selection, c.more))
		if len(found) != c.found || len(unresolved) != c.unknown {
			t.Errorf("%s, %q: %v, %v", c.selection, c.more, found, unresolved)
		}
	}
}

// Credentials of a known form are told in every object once, and passwords in addresses of sources.
func TestCredentialsElsewhere(t *testing.T) {
	t.Parallel()
	const token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
	source := func(url string) string {
		return "-- a.yaml --\napiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: a, namespace: a}\nspec: {interval: 1h, url: '" + url + "'}\n"
	}
	for files, want := range map[string]int{
		source("https://bot:" + token + "@example.com"): 1,
		source("https://bot:kX9-vbQ2mZ7pL@example.com"): 1,
		source("https://bot:${TOKEN}@example.com"):      0,
		source("https://bot:changeme@example.com"):      0,
		source("https://git@example.com"):               0,
		source("https://DB_NAME:DB_NAME@example.com"):   0,
		"-- a.yaml --\napiVersion: dispatch.d2iq.io/v1alpha2\nkind: GitopsRepository\nmetadata: {name: a, namespace: a}\nspec: {cloneUrl: 'https://bot:" + token + "@example.com/a.git'}\n":                                      1,
		"-- a.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: ServiceTemplate\nmetadata: {name: a, namespace: a}\nspec: {kustomize: {remoteSourceSpec: {git: {url: 'https://bot:kX9-vbQ2mZ7pL@example.com/a.git'}}}}\n": 1,
		"-- a.yaml --\napiVersion: k0rdent.mirantis.com/v1beta1\nkind: Credential\nmetadata: {name: a, namespace: a}\nspec: {description: key AKIAQ3EGTWZ7PLN4XR5S of the account}\n":                                            1,
		"-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\ndata: {key: " + token + "}\n":                                                                                                         1,
		"-- a.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: a, annotations: {note: 'https://bot:kX9-vbQ2mZ7pL@example.com'}}\n":                                                                 1,
	} {
		if found := ruletest.Find(t, sops.Hardcoded, files); len(found) != want {
			t.Errorf("%s: got %v", files, found)
		}
	}
}

// The hash of a password is no secret in plaintext, and the address of a Git repository none at all.
// Reproduces: clients of Authelia in richrobertson/homelab_flux, and the Provider of CowDogMoo/Walls-of-Excellence.
func TestHashesAndAddresses(t *testing.T) {
	t.Parallel()
	provider := func(of, address string) string {
		return "-- a.yaml --\napiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: Provider\nmetadata: {name: a, namespace: a}\nspec: {type: " + of + ", address: '" + address + "'}\n"
	}
	const hash = "$2b$12$Q9xkZ2mV7pLrT4wYb8NcSuHjD5fGaE1oK3iUyX6tRqWzPvMnBlCd"
	for files, want := range map[string]finding.Severity{
		"-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a}\ndata: {client_secret: '" + hash + "'}\n":                                    finding.Warning,
		"-- worker.conf --\nenable_password = \"" + hash + "\";\n":                                                                                                     finding.Warning,
		"-- a.yaml --\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: a}\nspec: {values: {licenseKey: maxmindLicenseKey}}\n": "",
		provider("github", "https://github.com/CowDogMoo/Walls-of-Excellence"):                                                                                         "",
		provider("slack", "https://hooks.example.com/services/T0A9B8C7/B1D2E3F4/kX9vbQ2mZ7pLrT4wYb8NcSuH"):                                                             finding.Error,
	} {
		found := ruletest.Find(t, sops.Hardcoded, files)
		if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || found[0].Severity != want) {
			t.Errorf("%s: got %+v, want %q", files, found, want)
		}
	}
}
