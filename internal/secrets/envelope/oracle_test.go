package envelope

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getsops/sops/v3"
	"github.com/getsops/sops/v3/config"
	sopsyaml "github.com/getsops/sops/v3/stores/yaml"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
)

const (
	ageOne = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
	ageTwo = "age1cy0su9fwf3gf9mw868g5yut09p6nytfmmnktexz2ya5uqg9vl9sss4euqm"
	sshKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILfe1/O+76LGVWLxX7uPZyWKdJ4gy3nmbemlaTC0iHyX alice@example.com"
)

// configs are of the shapes that SOPS documents, and some that people write.
var configs = map[string]string{
	"strings": `creation_rules:
  - path_regex: ^dev/
    age: "` + ageOne + `, ` + ageTwo + `,"
    pgp: 85D77543B3D624B63CEA9E6DBC17301B491B3F21, FBC7B9E2A4F9289AC0C1D4843D16CEE4A27381B4
    encrypted_regex: ^(data|stringData)$
    mac_only_encrypted: true
  - age: ` + ageTwo + `
    unencrypted_suffix: _plain
`,
	"lists": `creation_rules:
  - path_regex: \.yaml$
    age: [` + ageOne + `, "` + sshKey + `"]
    pgp: ["85D7 7543 B3D6 24B6 3CEA 9E6D BC17 301B 491B 3F21"]
    kms: ["arn:aws:kms:us-west-2:927034868273:key/fe86dd69-4132-404c-ab86-4269956b4500+arn:aws:iam::927034868273:role/sops-dev-xyz"]
    gcp_kms: projects/mygcproject/locations/global/keyRings/mykeyring/cryptoKeys/thekey
    azure_keyvault: https://sops.vault.azure.net/keys/sops-key/some-string
    hc_vault_transit_uri: "http://127.0.0.1:8200/v1/sops/keys/firstkey, http://127.0.0.1:8200/v1/a/b/keys/second"
    hckms: ["tr-west-1:abc-123"]
    encrypted_suffix: _secret
`,
	"groups": `creation_rules:
  - path_regex: ^dev/
    shamir_threshold: 2
    unencrypted_regex: ^(apiVersion|kind|metadata)$
    key_groups:
      - age: ["` + ageOne + `,` + ageTwo + `", ` + ageOne + `]
        pgp: [85D77543B3D624B63CEA9E6DBC17301B491B3F21]
        hc_vault: ["http://my.vault/v1/sops/keys/secondkey"]
      - kms:
          - arn: arn:aws:kms:us-east-1:1:key/k
            role: arn:aws:iam::1:role/r
            context: {Environment: production}
            aws_profile: profile
        gcp_kms: [{resource_id: projects/p/locations/global/keyRings/r/cryptoKeys/k}]
        hckms: [{key_id: "tr-west-1:abc"}]
        merge:
          - azure_keyvault: [{vaultUrl: "https://v.vault.azure.net", key: k, version: v1}]
            merge:
              - age: [` + ageTwo + `]
      - azure_keyvault: [{vaultUrl: "https://v.vault.azure.net/", key: k, version: v2}]
`,
	"anchors": `keys:
  - &one ` + ageOne + `
  - &two ` + ageTwo + `
creation_rules:
  - path_regex: (dev|prod)/.*\.sops\.ya?ml
    key_groups:
      - age: [*one, *two]
    encrypted_comment_regex: sops:enc
stores:
  yaml:
    indent: 2
`,
	"folded": `creation_rules:
  - age: >-
      ` + ageOne + `,
      ` + ageTwo + `
    unencrypted_comment_regex: sops:dec
`,
	"bad recipient":   "creation_rules:\n  - age: age1mistyped\n",
	"two selectors":   "creation_rules:\n  - age: " + ageOne + "\n    encrypted_regex: a\n    encrypted_suffix: b\n",
	"no rule matches": "creation_rules:\n  - path_regex: ^none$\n    age: " + ageOne + "\n",
	"bad regex":       "creation_rules:\n  - path_regex: ^dev/\n    age: " + ageOne + "\n  - path_regex: '('\n    age: " + ageTwo + "\n",
}

var paths = []string{"dev/a.sops.yaml", "dev/sub/b.yml", "prod/c.sops.yml", "d.yaml", "README.md"}

// What .sops.yaml says of a file is what SOPS reads.
func TestConfigOracle(t *testing.T) {
	for name, text := range configs {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			compareConfig(t, dir, ".sops.yaml", text, paths)
		})
	}
}

func compareConfig(t *testing.T, dir, name, text string, paths []string) {
	t.Helper()
	file := filepath.Join(dir, ".sops.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ours, err := secrets.ParseConfig(name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		theirs, err := config.LoadCreationRuleForFile(file, filepath.Join(dir, path), map[string]*string{})
		rule := ours.For(path)
		if err != nil || theirs == nil {
			if rule != nil && rule.Err == nil && usable(path, rule) == nil {
				t.Errorf("%s: sops refuses it (%v), and we don't", path, err)
			}
			continue
		}
		if rule == nil || rule.Err != nil {
			t.Errorf("%s: sops has a rule, and we don't: %v", path, ours.Err)
			continue
		}
		want := secrets.Selection{
			EncryptedRegex: theirs.EncryptedRegex, UnencryptedRegex: theirs.UnencryptedRegex,
			EncryptedSuffix: theirs.EncryptedSuffix, UnencryptedSuffix: theirs.UnencryptedSuffix,
			EncryptedCommentRegex: theirs.EncryptedCommentRegex, UnencryptedCommentRegex: theirs.UnencryptedCommentRegex,
			MACOnlyEncrypted: theirs.MACOnlyEncrypted,
		}
		if rule.Selection != want || rule.Threshold != theirs.ShamirThreshold {
			t.Errorf("%s: %+v, threshold %d; sops: %+v, %d", path, rule.Selection, rule.Threshold, want, theirs.ShamirThreshold)
		}
		compareGroups(t, path, rule.Groups, theirs.KeyGroups)
	}
	stores, err := config.LoadStoresConfig(file)
	if err != nil || len(ours.Rules) == 0 {
		return
	}
	if indents := ours.Rules[0].Indents; or(indents.YAML, 0) != stores.YAML.Indent || or(indents.JSON, -1) != stores.JSON.Indent {
		t.Errorf("indents %+v, sops: %+v", indents, stores)
	}
}

// compareGroups compares recipients as sets: their order means nothing.
func compareGroups(t *testing.T, path string, ours [][]secrets.Recipient, theirs []sops.KeyGroup) {
	t.Helper()
	if len(ours) != len(theirs) {
		t.Errorf("%s: %d groups; sops: %d", path, len(ours), len(theirs))
		return
	}
	wanted := groupsOf(&sops.Metadata{KeyGroups: theirs})
	for i := range ours {
		if extra, missing := without(ours[i], wanted[i]), without(wanted[i], ours[i]); len(extra)+len(missing) > 0 {
			t.Errorf("%s, group %d: too many: %v; missing: %v", path, i, extra, missing)
		}
	}
}

// metadata are of the shapes that SOPS has written over the years.
var metadata = map[string]string{
	"age": `
  age:
    - recipient: ` + ageOne + `
      enc: x
    - recipient: ` + sshKey + `
      enc: y
  encrypted_regex: ^(data|stringData)$
  mac_only_encrypted: true
`,
	"all services": `
  shamir_threshold: 1
  kms:
    - arn: arn:aws:kms:us-east-1:1:key/k
      role: arn:aws:iam::1:role/r
      context: {Environment: production}
      created_at: "2026-01-01T00:00:00Z"
      enc: x
      aws_profile: p
  gcp_kms:
    - resource_id: projects/p/locations/global/keyRings/r/cryptoKeys/k
      created_at: "2026-01-01T00:00:00Z"
      enc: x
  azure_kv:
    - vault_url: https://v.vault.azure.net
      name: k
      version: v1
      created_at: "2026-01-01T00:00:00Z"
      enc: x
  hc_vault:
    - vault_address: http://127.0.0.1:8200
      engine_path: a/b
      key_name: k
      created_at: "2026-01-01T00:00:00Z"
      enc: x
  hckms:
    - key_id: tr-west-1:abc
      created_at: "2026-01-01T00:00:00Z"
      enc: x
  age: []
  pgp:
    - created_at: "2026-01-01T00:00:00Z"
      enc: x
      fp: 85D77543B3D624B63CEA9E6DBC17301B491B3F21
  unencrypted_suffix: _unencrypted
`,
	"key groups": `
  shamir_threshold: 2
  key_groups:
    - hc_vault: []
      age:
        - recipient: ` + ageOne + `
          enc: x
    - pgp:
        - created_at: "2026-01-01T00:00:00Z"
          enc: x
          fp: FBC7B9E2A4F9289AC0C1D4843D16CEE4A27381B4
      hc_vault: []
      age: []
    - hc_vault:
        - vault_address: https://vault.example.com
          engine_path: transit
          key_name: k
          created_at: "2026-01-01T00:00:00Z"
          enc: x
      age:
        - recipient: ` + ageTwo + `
          enc: x
  encrypted_suffix: _secret
`,
	"both keys and groups": `
  key_groups:
    - age:
        - recipient: ` + ageTwo + `
          enc: x
  age:
    - recipient: ` + ageOne + `
      enc: x
  unencrypted_regex: ^kind$
`,
	"comments": `
  age:
    - recipient: ` + ageOne + `
      enc: x
  encrypted_comment_regex: sops:enc
`,
}

// Whose a file is is read without keys, and without SOPS, as SOPS reads it.
func TestMetadataOracle(t *testing.T) {
	for name, text := range metadata {
		t.Run(name, func(t *testing.T) {
			compareMetadata(t, "data: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\nsops:"+strings.TrimRight(text, "\n")+
				"\n  lastmodified: \"2026-01-01T00:00:00Z\"\n  mac: ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]\n  version: 3.9.0\n")
		})
	}
}

func compareMetadata(t *testing.T, text string) {
	t.Helper()
	tree, err := sopsyaml.NewStore(&config.YAMLStoreConfig{}).LoadEncryptedFile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) { yield("a.yaml", []byte(text)) }, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := repo.File("a.yaml")
	ours, ok := secrets.MetadataOf(f.Documents[0])
	if !ok {
		t.Fatal("it doesn't look encrypted")
	}
	theirs := tree.Metadata
	compareGroups(t, "a.yaml", ours.Groups, theirs.KeyGroups)
	want := []any{theirs.EncryptedRegex, theirs.UnencryptedRegex, theirs.EncryptedSuffix, theirs.EncryptedCommentRegex, theirs.UnencryptedCommentRegex, theirs.MACOnlyEncrypted, theirs.ShamirThreshold}
	have := []any{ours.EncryptedRegex, ours.UnencryptedRegex, ours.EncryptedSuffix, ours.EncryptedCommentRegex, ours.UnencryptedCommentRegex, ours.MACOnlyEncrypted, ours.Threshold}
	if !slices.Equal(have, want) {
		t.Errorf("%v; sops: %v", have, want)
	}
	for i, group := range ours.Groups {
		for _, r := range group {
			if r.Line == 0 {
				t.Errorf("group %d: %s has no line", i, fmt.Sprint(r))
			}
		}
	}
}
