package encryption

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"filippo.io/age"
	"go.yaml.in/yaml/v3"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/specs"
)

// ageKeys makes a public key for each name.
func ageKeys(t *testing.T, names ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range names {
		identity, err := age.GenerateX25519Identity()
		if err != nil {
			t.Fatal(err)
		}
		out[name] = identity.Recipient().String()
	}
	return out
}

func load(t *testing.T, content string) *v1alpha1.Spec {
	t.Helper()
	spec, err := specs.Load([]specs.File{{Path: "spec.yaml", Content: []byte(content)}})
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func object(kind, name, spec string) string {
	return fmt.Sprintf("---\n{apiVersion: fleetwright.dev/v1alpha1, kind: %s, metadata: {name: %s}, spec: %s}\n", kind, name, spec)
}

// platformFile is the platform's .sops.yaml.
func platformFile(t *testing.T, spec *v1alpha1.Spec) []byte {
	t.Helper()
	content, err := Platform(spec)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// chosen are the recipients that SOPS takes for a path, as its
// parseCreationRuleForFile does: those of the first rule whose expression matches
// the path from the configuration's folder, split at commas.
func chosen(t *testing.T, content []byte, path string) []string {
	t.Helper()
	var c struct {
		CreationRules []struct {
			PathRegex        string `yaml:"path_regex"`
			EncryptedRegex   string `yaml:"encrypted_regex"`
			MACOnlyEncrypted bool   `yaml:"mac_only_encrypted"`
			Age              string `yaml:"age"`
		} `yaml:"creation_rules"`
	}
	if err := yaml.Unmarshal(content, &c); err != nil {
		t.Fatalf("%v in\n%s", err, content)
	}
	if c.CreationRules == nil {
		t.Fatalf("no creation_rules in\n%s", content)
	}
	for _, r := range c.CreationRules {
		if !regexp.MustCompile(r.PathRegex).MatchString(path) {
			continue
		}
		if !r.MACOnlyEncrypted || !regexp.MustCompile(r.EncryptedRegex).MatchString("stringData") {
			t.Errorf("the rule for %s does not fit Secrets: %+v", path, r)
		}
		var out []string
		for key := range strings.SplitSeq(r.Age, ",") {
			if key = strings.TrimSpace(key); key != "" {
				out = append(out, key)
			}
		}
		return out
	}
	return nil
}

func TestPlatformRules(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	key := ageKeys(t, "platform", "staging", "eu", "us", "shop", "own")
	clusters := object("Cluster", "staging", "{environment: staging}") +
		object("Cluster", "eu", "{environment: production, path: clusters/eu.1}") +
		object("Cluster", "us", "{environment: production}")
	fleet := object("Fleet", "acme", "{repository: {url: https://github.com/acme/platform}}") + clusters +
		object("Addon", "everywhere", "{namespace: a, chart: {url: oci://example.com/everywhere, version: 1.0.0}}") +
		object("Addon", "abroad", "{namespace: b, chart: {url: oci://example.com/abroad, version: 1.0.0}, clusters: {environments: [production]}}") +
		object("Tenant", "shop", "{source: {url: https://github.com/acme/shop}, environments: {eu: ./eu}}") +
		object("Encryption", "keys", fmt.Sprintf("{rules: [{pathRegex: '^docs/', recipients: {age: [%s]}}], recipients: {platform: {age: [%[2]s, %[2]s]}, "+
			"clusters: {staging: {age: [%s]}, eu: {age: [%s]}, us: {age: [%s]}}, tenants: {shop: {age: [%s]}}}}",
			key["own"], key["platform"], key["staging"], key["eu"], key["us"], key["shop"]))
	apps := object("Fleet", "home", "{repository: {url: https://github.com/me/home}, layout: apps}") + object("Cluster", "eu", "{}") +
		object("Addon", "cilium", "{namespace: kube-system, chart: {url: oci://example.com/cilium, version: 1.0.0}, bootstrap: {}}") +
		object("Encryption", "keys", fmt.Sprintf("{recipients: {platform: {age: [%s]}, clusters: {eu: {age: [%s]}}}}", key["platform"], key["eu"]))

	for _, c := range []struct{ spec, path, recipients string }{
		{fleet, "docs/notes.sops.yaml", "own"},
		{fleet, "clusters/staging/secret.sops.yaml", "platform staging"},
		{fleet, "clusters/staging/deep/er/secret.sops.yml", "platform staging"},
		{fleet, "clusters/eu.1/secret.sops.yaml", "platform eu"},
		{fleet, "clusters/eux1/secret.sops.yaml", ""},
		{fleet, "other/clusters/staging/secret.sops.yaml", ""},
		{fleet, "clusters/staging/secret.yaml", ""},
		{fleet, "clusters/staging/secret.sops.yaml.bak", ""},
		{fleet, "bootstrap/us/secret.sops.yaml", "platform us"},
		{fleet, "tenants/us/secret.sops.yaml", "platform us"},
		{fleet, "tenants/base/shop/age.sops.yaml", "platform eu"},
		{fleet, "tenants/base/shopping/age.sops.yaml", ""},
		{fleet, "infrastructure/controllers/us/secret.sops.yaml", "platform us"},
		{fleet, "infrastructure/controllers/base/everywhere/secret.sops.yaml", "platform staging eu us"},
		{fleet, "infrastructure/controllers/base/abroad/secret.sops.yaml", "platform eu us"},
		{fleet, "infrastructure/extra/secret.sops.yaml", "platform staging eu us"},
		{apps, "kubernetes/apps/kube-system/cilium/app/secret.sops.yaml", "platform eu"},
		{apps, "kubernetes/flux/cluster/secret.sops.yaml", "platform eu"},
		{apps, "bootstrap/secret.sops.yaml", "platform eu"},
	} {
		var want []string
		for name := range strings.FieldsSeq(c.recipients) {
			want = append(want, key[name])
		}
		slices.Sort(want)
		if got := chosen(t, platformFile(t, load(t, c.spec)), c.path); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want those of %q: %v", c.path, got, c.recipients, want)
		}
	}
}

// A cluster without recipients must not get secrets that only others can read: its
// rule stands, without keys, and SOPS refuses it ("empty key group provided").
func TestClusterWithoutRecipients(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	key := ageKeys(t, "eu")
	spec := load(t, object("Fleet", "acme", "{repository: {url: https://github.com/acme/platform}}")+
		object("Cluster", "eu", "{}")+object("Cluster", "us", "{}")+
		object("Addon", "everywhere", "{namespace: a, chart: {url: oci://example.com/everywhere, version: 1.0.0}}")+
		object("Encryption", "keys", fmt.Sprintf("{recipients: {clusters: {eu: {age: [%s]}}}}", key["eu"])))
	content := platformFile(t, spec)
	if got := chosen(t, content, "infrastructure/controllers/us/secret.sops.yaml"); len(got) != 0 {
		t.Errorf("a secret of cluster us is encrypted to %v", got)
	}
	if got := chosen(t, content, "infrastructure/controllers/eu/secret.sops.yaml"); len(got) != 1 {
		t.Errorf("a secret of cluster eu is encrypted to %v", got)
	}
}

// SOPS splits recipients at commas, and takes what follows a key of SSH for another.
func TestKeysOfSSH(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	const ssh = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIP2YcDn2I3XEd6Jo1YSvp7Rd4YSQPBT+tZx8AFrj9gNe"
	key := ageKeys(t, "eu")
	spec := load(t, object("Fleet", "acme", "{repository: {url: https://github.com/acme/platform}}")+object("Cluster", "eu", "{}")+
		object("Encryption", "keys", fmt.Sprintf("{recipients: {platform: {age: ['%s Ann, of the platform']}, clusters: {eu: {age: [%s]}}}}", ssh, key["eu"])))
	if got := chosen(t, platformFile(t, spec), "clusters/eu/secret.sops.yaml"); !slices.Equal(got, []string{key["eu"], ssh}) {
		t.Errorf("encrypted to %q", got)
	}
}

func TestWithoutEncryption(t *testing.T) {
	spec := load(t, object("Fleet", "acme", "{repository: {url: https://github.com/acme/platform}}")+object("Cluster", "eu", "{}"))
	empty := platformFile(t, spec)
	// SOPS takes a missing list for no configuration and an empty one for no
	// matching rule; only the latter is an error.
	if !strings.Contains(string(empty), "creation_rules: []\n") {
		t.Errorf("no empty list in\n%s", empty)
	}
	if chosen(t, empty, "clusters/eu/secret.sops.yaml") != nil || Decryption(spec) != nil {
		t.Error("something is encrypted without an Encryption")
	}
}

func TestTenant(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	key := ageKeys(t, "shop")
	spec := load(t, object("Fleet", "acme", "{repository: {url: https://github.com/acme/platform}}")+object("Cluster", "eu", "{}")+
		object("Tenant", "shop", "{source: {url: https://github.com/acme/shop}}")+
		object("Tenant", "plain", "{source: {url: https://github.com/acme/plain}}")+
		object("Encryption", "keys", fmt.Sprintf("{secretRef: {name: own-key}, recipients: {tenants: {shop: {age: [%s]}}}}", key["shop"])))
	plain, shop := spec.Tenants[0], spec.Tenants[1]
	if d := Decryption(spec); d != nil {
		t.Errorf("the platform decrypts with %+v, though nothing is encrypted to it", d)
	}
	if got := platformFile(t, spec); chosen(t, got, "clusters/eu/secret.sops.yaml") != nil {
		t.Errorf("a rule without recipients in\n%s", got)
	}
	if d := TenantDecryption(spec, shop); d == nil || d.Provider != "sops" || d.SecretRef.Name != "own-key" {
		t.Errorf("the tenant decrypts with %+v", d)
	}
	if d := TenantDecryption(spec, plain); d != nil {
		t.Errorf("a tenant without recipients decrypts with %+v", d)
	}
	for _, c := range []struct {
		folders []string
		path    string
		matches bool
	}{
		{[]string{"base", "./eu"}, "eu/a.sops.yaml", true},
		{[]string{"base", "./eu"}, "base/sub/a.sops.yaml", true},
		{[]string{"base", "./eu"}, "europe/a.sops.yaml", false},
		{[]string{"deploy/eu.1"}, "deploy/eu-1/a.sops.yaml", false},
		{[]string{"./", "base"}, "a.sops.yaml", true},
		{[]string{".", "base"}, "any/a.sops.yaml", true},
	} {
		content, err := Tenant(spec, shop, c.folders...)
		if err != nil {
			t.Fatal(err)
		}
		if got := chosen(t, content, c.path); (len(got) == 1 && got[0] == key["shop"]) != c.matches {
			t.Errorf("%v: %s gets %v", c.folders, c.path, got)
		}
	}
	content, err := Tenant(spec, plain, "base")
	if err != nil {
		t.Fatal(err)
	}
	if chosen(t, content, "base/a.sops.yaml") != nil || !strings.Contains(string(content), "tenant plain") {
		t.Errorf("without recipients:\n%s", content)
	}
}

// A public key of SSH is a recipient like any other. Its comment, which SOPS would split at a
// comma, does not get into .sops.yaml.
func TestSSHRecipients(t *testing.T) {
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILfe1/O+76LGVWLxX7uPZyWKdJ4gy3nmbemlaTC0iHyX"
	fleet := object("Fleet", "fleet", "{repository: {url: 'https://h/fleet'}}") + object("Cluster", "production", "{}")
	spec := load(t, fleet+object("Encryption", "encryption", "{recipients: {platform: {age: ['"+key+" alice, of the platform team']}}}"))
	if got := chosen(t, platformFile(t, spec), "clusters/production/a.sops.yaml"); !slices.Equal(got, []string{key}) {
		t.Errorf("the recipients are %q", got)
	}
}
