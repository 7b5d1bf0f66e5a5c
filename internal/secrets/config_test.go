package secrets_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/repository"
	"github.com/fleetwright/fleetwright/internal/secrets"
)

func load(t *testing.T, files map[string]string) *repository.Repository {
	t.Helper()
	repo, err := repository.FromFiles(func(yield func(string, []byte) bool) {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if !yield(name, []byte(files[name])) {
				return
			}
		}
	}, repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

const rules = `keys:
  - &alice age1alice
  - &bob age1bob
creation_rules:
  - path_regex: ^clusters/one/.*\.sops\.yaml$
    age: "age1one, age1two,"
    kms: arn:aws:kms:eu-west-1:1:key/a+arn:aws:iam::1:role/sops
  - path_regex: .*\.sops\.ya?ml$
    key_groups:
      - age: [*alice, *bob]
        pgp: [85D7 7543 B3D6 24B6 3CEA 9E6D BC17 301B 491B 3F21]
      - azure_keyvault: [{vaultUrl: "https://v.vault.azure.net", key: k, version: "1"}]
        hc_vault: ["https://vault.example.com/v1/transit/keys/k"]
        merge:
          - gcp_kms: [{resource_id: projects/p/locations/global/keyRings/r/cryptoKeys/k}]
  - age: [age1rest]
`

func TestConfigFor(t *testing.T) {
	configs := secrets.Configs(load(t, map[string]string{
		".sops.yaml":               rules,
		"apps/.sops.yaml":          "creation_rules:\n  - path_regex: ^secret\n    age: age1apps\n",
		"apps/empty/.sops.yaml":    "stores: {}\n",
		"apps/broken/.sops.yaml":   "creation_rules:\n  - path_regex: '('\n    age: age1x\n",
		"apps/other/kustomization": "",
	}))
	for file, want := range map[string]string{
		"clusters/one/a.sops.yaml": ".sops.yaml: age age1one, age age1two, kms arn:aws:kms:eu-west-1:1:key/a+arn:aws:iam::1:role/sops",
		"clusters/two/a.sops.yml": ".sops.yaml: age age1alice, age age1bob, pgp 85D7 7543 B3D6 24B6 3CEA 9E6D BC17 301B 491B 3F21, " +
			"azure_kv https://v.vault.azure.net/keys/k/1, hc_vault https://vault.example.com/v1/transit/keys/k, gcp_kms projects/p/locations/global/keyRings/r/cryptoKeys/k",
		"README.md":              ".sops.yaml: age age1rest",
		"apps/secret.yaml":       "apps/.sops.yaml: age age1apps",
		"apps/a/secret.yaml":     "apps/.sops.yaml: no rule",
		"apps/other.sops.yaml":   "apps/.sops.yaml: no rule",
		"apps/empty/x.sops.yaml": "apps/empty/.sops.yaml: no rule",
	} {
		c := secrets.ConfigFor(configs, file)
		got := c.File + ": no rule"
		if r := c.For(file); r != nil {
			var keys []string
			for _, k := range r.Recipients {
				keys = append(keys, k.Service+" "+k.ID)
			}
			got = c.File + ": " + strings.Join(keys, ", ")
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", file, got, want)
		}
	}
	if err := configs["apps/broken"].Err; err == nil || err.Line != 2 || !strings.Contains(err.Message, "path_regex") {
		t.Errorf("a path_regex that is none gives %v", err)
	}
	if c := secrets.ConfigFor(map[string]*secrets.Config{}, "a/b"); c != nil {
		t.Errorf("without a .sops.yaml it is %v", c)
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		service, a, b string
		want          bool
	}{
		{"age", "age1a", "age1a", true},
		{"age", "age1a", "age1b", false},
		{"pgp", "85D7 7543 B3D6", "85d77543b3d6", true},
		{"pgp", "B3D6", "85D77543B3D6", true},
		{"pgp", "B3D7", "85D77543B3D6", false},
		{"kms", "arn:a+arn:role", "arn:a", true},
		{"azure_kv", "https://v/keys/k", "https://v/keys/k/1", true},
		{"azure_kv", "https://v/keys/k/2", "https://v/keys/k/1", false},
		{"age", "ssh-rsa AAAA/", "ssh-rsa AAAA", false},
		{"hc_vault", "https://v/v1/t/keys/k/", "https://v/v1/t/keys/k", true},
	} {
		a, b := secrets.Recipient{Service: c.service, ID: c.a}, secrets.Recipient{Service: c.service, ID: c.b}
		if a.Same(b) != c.want || b.Same(a) != c.want {
			t.Errorf("%s %s and %s: want %v", c.service, c.a, c.b, c.want)
		}
	}
	if (secrets.Recipient{Service: "age", ID: "x"}).Same(secrets.Recipient{Service: "pgp", ID: "x"}) {
		t.Error("keys of two services are the same")
	}
}

const groups = `apiVersion: v1
kind: Secret
metadata: {name: a}
sops:
  shamir_threshold: %d
  key_groups:
    - age: [{recipient: age1a, enc: x}, {recipient: age1b, enc: x}]
    - age: [{recipient: age1c, enc: x}]
    - pgp: [{fp: ABCD, enc: x}]
  mac: ENC[AES256_GCM,data:x,type:str]
`

func TestOpens(t *testing.T) {
	for _, c := range []struct {
		threshold    int
		keys         string
		opens, known bool
	}{
		{0, "age1a age1c", false, false},
		{2, "age1a age1c", true, true},
		{2, "age1a age1b", false, false},
		{1, "age1c", true, true},
	} {
		repo := load(t, map[string]string{"a.yaml": fmt.Sprintf(groups, c.threshold)})
		meta, ok := secrets.MetadataOf(repo.Files()[0].Documents[0])
		if !ok || len(meta.Groups) != 3 || meta.Line != 4 {
			t.Fatalf("the metadata is %+v", meta)
		}
		if opens, known := meta.Opens(strings.Fields(c.keys)); opens != c.opens || known != c.known {
			t.Errorf("%s of %d groups: %v, %v", c.keys, c.threshold, opens, known)
		}
	}
}
