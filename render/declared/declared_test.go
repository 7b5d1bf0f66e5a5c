package declared

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/render"
)

// fleet is a folder with a specification that declares Secrets.
type fleet struct {
	t       *testing.T
	dir     string
	private string
	public  string
	env     map[string]string
	asked   []string // variables that were looked up
}

func newFleet(t *testing.T, declared string) *fleet {
	t.Helper()
	private, public, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	f := &fleet{t: t, dir: t.TempDir(), private: private, public: public, env: map[string]string{}}
	f.declare(declared)
	return f
}

// declare writes the specification anew.
func (f *fleet) declare(declared string) {
	f.t.Helper()
	text := "apiVersion: fleetwright.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec: {repository: {url: 'https://h/fleet'}}\n---\n" +
		"apiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata: {name: eu}\n---\n" +
		"apiVersion: fleetwright.dev/v1alpha1\nkind: Tenant\nmetadata: {name: shop}\nspec: {source: {url: 'https://h/shop'}}\n---\n" +
		"apiVersion: fleetwright.dev/v1alpha1\nkind: Encryption\nmetadata: {name: e}\nspec:\n  recipients: # who\n    clusters:\n      eu:\n        age:\n        - " + f.public + "\n  secrets:\n" + declared
	if err := os.MkdirAll(filepath.Join(f.dir, "fleet"), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "fleet/fleet.yaml"), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) sync(o Options) (Outcome, error) {
	f.t.Helper()
	o.Now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o.Env = func(name string) string {
		f.asked = append(f.asked, name)
		return f.env[name]
	}
	if o.Keys == nil {
		o.Keys = func() *keys.Identities { return f.identities(f.private) }
	}
	return Sync(f.t.Context(), f.dir, o)
}

func (f *fleet) identities(private string) *keys.Identities {
	f.t.Helper()
	ids, err := keys.Parse("a test's", private)
	if err != nil {
		f.t.Fatal(err)
	}
	return ids
}

// files are all files of the folder.
func (f *fleet) files() map[string]string {
	f.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(f.dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(p)
		name, _ := filepath.Rel(f.dir, p)
		files[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return files
}

// open decrypts a Secret.
func (f *fleet) open(file string) *object {
	f.t.Helper()
	plain, err := envelope.Decrypt(file, []byte(f.files()[file]), f.identities(f.private))
	if err != nil {
		f.t.Fatal(err)
	}
	o, err := readObject(plain)
	if err != nil {
		f.t.Fatal(err)
	}
	for key, value := range o.Data {
		decoded, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			f.t.Fatal(err)
		}
		o.Data[key] = string(decoded)
	}
	return o
}

const allSources = `
  - name: all
    namespace: flux-system
    type: example.com/all
    labels: {part-of: platform}
    annotations: {owner: ann}
    keys:
    - {name: env, from: {env: VALUE}}
    - {name: file, from: {file: ../value.bin}}
    - {name: text, from: {generate: {length: 200, charset: hex}}}
    - {name: default, from: {generate: {}}}
    - {name: key, from: {ageKey: {}}}
    - {name: identity, from: {sshKeyPair: {}}}
    - {name: ed, from: {sshKeyPair: {algorithm: ed25519}}}
  - {name: sops-age, scope: tenant, tenant: shop, keys: [{name: age.agekey, from: {ageKey: {}}}]}
`

const (
	allFile    = "infrastructure/secrets/base/flux-system/all.sops.yaml"
	tenantFile = "tenants/base/shop/secrets/shop-flux/sops-age.sops.yaml"
)

// withAll is a fleet whose Secrets are made.
func withAll(t *testing.T) (*fleet, Outcome) {
	t.Helper()
	f := newFleet(t, allSources)
	f.env["VALUE"] = "canary-$2y$10$in-the-environment\n"
	f.dir = filepath.Join(f.dir, "repo")
	f.declare(allSources)
	if err := os.WriteFile(filepath.Join(f.dir, "../value.bin"), []byte("canary\x00\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := f.sync(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f, out
}

func TestValues(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	f, out := withAll(t)
	o := f.open(allFile)
	if o.Data["env"] != f.env["VALUE"] || o.Data["file"] != "canary\x00\xff" {
		t.Errorf("values are not what they come from: %q, %q", o.Data["env"], o.Data["file"])
	}
	if o.Type != "example.com/all" || o.name() != "flux-system/all" || o.Metadata.Labels["part-of"] != "platform" || o.Metadata.Annotations["owner"] != "ann" {
		t.Errorf("the Secret is %+v", o)
	}
	if text := o.Data["text"]; len(text) != 200 || strings.Trim(text, "0123456789abcdef") != "" || len(o.Data["default"]) != 32 {
		t.Errorf("generated %q and %q", text, o.Data["default"])
	}
	ids := f.identities(o.Data["key"])
	if ids.Len() != 1 || !slices.Equal(ids.Recipients, []string{out.Results[0].PublicKeys["key"]}) {
		t.Errorf("the age key opens what is for %v, told is %v", ids.Recipients, out.Results[0].PublicKeys)
	}
	for name, kind := range map[string]string{"identity": "ecdsa-sha2-nistp384", "ed": ssh.KeyAlgoED25519} {
		signer, err := ssh.ParsePrivateKey([]byte(o.Data[name]))
		if err != nil {
			t.Fatal(err)
		}
		block, rest := pem.Decode([]byte(o.Data[name]))
		if _, err := x509.ParsePKCS8PrivateKey(block.Bytes); err != nil || block.Type != "PRIVATE KEY" || len(rest) > 0 {
			t.Errorf("%s is a %s: %v", name, block.Type, err)
		}
		if public := string(ssh.MarshalAuthorizedKey(signer.PublicKey())); public != o.Data[name+".pub"] || signer.PublicKey().Type() != kind ||
			strings.TrimSpace(public) != out.Results[0].PublicKeys[name] || o.Metadata.Annotations[publicKey+name] != out.Results[0].PublicKeys[name] {
			t.Errorf("the public key of %s is %q, in the Secret %q, told %q", name, public, o.Data[name+".pub"], out.Results[0].PublicKeys[name])
		}
	}
}

func TestRSAKey(t *testing.T) {
	f := newFleet(t, "\n  - {name: azure, namespace: flux-system, keys: [{name: identity, from: {sshKeyPair: {algorithm: rsa}}}]}\n")
	if _, err := f.sync(Options{}); err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey([]byte(f.open("infrastructure/secrets/base/flux-system/azure.sops.yaml").Data["identity"]))
	if err != nil {
		t.Fatal(err)
	}
	if public := signer.PublicKey().(ssh.CryptoPublicKey).CryptoPublicKey().(*rsa.PublicKey); public.N.BitLen() != 4096 {
		t.Errorf("the key has %d bits", public.N.BitLen())
	}
}

// A tenant's own key opens what is encrypted to the recipient that the specification
// has now, and the Secret is for the tenant's clusters alone.
func TestTenantKey(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	f, out := withAll(t)
	o := f.open(tenantFile)
	read, err := render.ReadSpecification(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := read.Spec.Encryption.Spec.Recipients.Tenants["shop"].Age; !slices.Equal(got, f.identities(o.Data["age.agekey"]).Recipients) {
		t.Errorf("the tenant's recipients are %v, its key is another", got)
	}
	if out.Specification != "fleet/fleet.yaml" || o.Metadata.Labels["toolkit.fluxcd.io/tenant"] != "shop" || !strings.Contains(f.files()["fleet/fleet.yaml"], "recipients: # who\n") {
		t.Errorf("specification %q, labels %v", out.Specification, o.Metadata.Labels)
	}
	// Taken out of the specification, it comes back from the Secret, without a key.
	f.declare(allSources)
	before := f.files()[tenantFile]
	if out, err = f.sync(Options{Keys: func() *keys.Identities { return &keys.Identities{} }}); err != nil || out.Results[1].Action != Publish {
		t.Fatalf("%+v, %v", out.Results, err)
	}
	if read, err = render.ReadSpecification(f.dir); err != nil || len(read.Spec.Encryption.Spec.Recipients.Tenants["shop"].Age) != 1 || f.files()[tenantFile] != before {
		t.Errorf("the public key was not added again: %v", err)
	}
}

// Nothing in plaintext stands in any file, in what is returned, or in an error.
func TestNothingInClear(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	f, out := withAll(t)
	var values []string
	for _, file := range []string{allFile, tenantFile} {
		for key, value := range f.open(file).Data {
			if !strings.HasSuffix(key, ".pub") {
				values = append(values, strings.TrimSpace(value), base64.StdEncoding.EncodeToString([]byte(value)))
			}
		}
	}
	shown := fmt.Sprintf("%+v", out)
	for name, content := range f.files() {
		for _, value := range append(values, "canary", "AGE-SECRET-KEY", "PRIVATE KEY") {
			if strings.Contains(content, value) {
				t.Errorf("%s holds a value in plaintext", name)
			}
			if strings.Contains(shown, value) {
				t.Errorf("the outcome holds a value in plaintext")
			}
		}
	}
	f.declare(strings.Replace(allSources, "{env: VALUE}", "{env: OTHER}", 1) + "  - {name: more, namespace: flux-system, keys: [{name: a, from: {env: VALUE}}, {name: b, from: {file: ../nowhere}}]}\n")
	if _, err := f.sync(Options{}); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
}

// A second sync, or one with nothing at hand, leaves every byte.
func TestNothingChanges(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	f, _ := withAll(t)
	before := f.files()
	f.env = nil
	for _, check := range []bool{false, true} {
		f.asked = nil
		out, err := f.sync(Options{Check: check, Keys: func() *keys.Identities { t.Error("keys were asked for"); return &keys.Identities{} }})
		if err != nil || out.Any() || len(f.asked) > 0 {
			t.Errorf("check %v: %+v, %v, asked for %v", check, out, err, f.asked)
		}
	}
	if !maps.Equal(before, f.files()) {
		t.Error("files changed")
	}
}

// What is missing is named, all of it, and nothing is written.
func TestMissing(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	f := newFleet(t, allSources+"  - {name: more, namespace: flux-system, keys: [{name: a, from: {env: ANOTHER}}]}\n")
	before := f.files()
	if out, err := f.sync(Options{Check: true}); err != nil || len(f.asked) > 0 || !out.Any() {
		t.Errorf("a check says %v, and asked for %v", err, f.asked)
	}
	_, err := f.sync(Options{})
	var input *advice.Error
	if !errors.As(err, &input) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"VALUE", "ANOTHER", "value.bin", "no such file"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
	if !maps.Equal(before, f.files()) {
		t.Error("something was written")
	}
}

func TestChange(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	f, _ := withAll(t)
	old := f.open(allFile)
	changed := strings.NewReplacer("    - {name: default, from: {generate: {}}}\n", "", "{owner: ann}", "{owner: bob}",
		"{name: env, from: {env: VALUE}}", "{name: env, from: {env: ELSEWHERE}}\n    - {name: added, from: {env: VALUE}}").Replace(allSources)
	f.declare(changed)
	other, _, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	before := f.files()
	_, err = f.sync(Options{Keys: func() *keys.Identities { return f.identities(other) }})
	if e := (*envelope.Error)(nil); !errors.As(err, &e) || e.Reason != envelope.NoKey || !strings.Contains(err.Error(), "+added, -default, annotations") || !maps.Equal(before, f.files()) {
		t.Fatalf("without a key: %v", err)
	}
	out, err := f.sync(Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := out.Results[0]
	if r.Action != Change || !slices.Equal(r.KeysAdded, []string{"added"}) || !slices.Equal(r.KeysRemoved, []string{"default"}) || !slices.Equal(r.Changed, []string{"annotations"}) || len(r.PublicKeys) > 0 {
		t.Errorf("got %+v", r)
	}
	o := f.open(allFile)
	for key, value := range old.Data {
		if key != "default" && o.Data[key] != value {
			t.Errorf("the value of %q changed, which nothing was said of", key)
		}
	}
	if _, there := o.Data["default"]; there || o.Data["added"] != f.env["VALUE"] || o.Metadata.Annotations["owner"] != "bob" || o.Metadata.Annotations[publicKey+"identity"] == "" {
		t.Errorf("the Secret is %+v", o.Metadata)
	}
}

func TestFilesOfOthers(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	f, _ := withAll(t)
	for name, c := range map[string]struct{ content, want string }{
		"in plaintext":   {"apiVersion: v1\nkind: Secret\nmetadata: {name: all, namespace: flux-system}\ndata: {env: Y2FuYXJ5}\n", allFile + ":1:1: the Secret is not encrypted"},
		"half encrypted": {strings.Replace(f.files()[allFile], "  env: ENC[", "  env: x # ENC[", 1), `:20:3: the Secret contains "env" in plaintext`},
		"another":        {strings.Replace(f.files()[allFile], "name: all", "name: other", 1), "contains Secret flux-system/other, but flux-system/all is declared there"},
		"cut off":        {f.files()[allFile][:400], "is not encrypted"},
	} {
		if err := os.WriteFile(filepath.Join(f.dir, allFile), []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := f.sync(Options{}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Y2FuYXJ5") {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if f.files()[allFile] != c.content {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// Every character of a set is drawn, and no other; no set has one twice, which
// would be drawn more often.
func TestGenerate(t *testing.T) {
	for name, set := range charsets {
		sorted := []byte(set)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != len(set) {
			t.Errorf("%s has a character twice", name)
		}
		text, err := generate(v1alpha1.Generate{Length: 4096, Charset: name})
		if err != nil || len(text) != 4096 {
			t.Fatalf("%s: %d, %v", name, len(text), err)
		}
		drawn := slices.Clone(text)
		slices.Sort(drawn)
		if got := slices.Compact(drawn); string(got) != string(sorted) {
			t.Errorf("%s: drew %q of %q", name, got, sorted)
		}
		again, err := generate(v1alpha1.Generate{Length: 4096, Charset: name})
		if err != nil || string(again) == string(text) {
			t.Errorf("%s: twice the same", name)
		}
	}
	if _, err := generate(v1alpha1.Generate{Length: 8, Charset: "none"}); err == nil {
		t.Error("an unknown charset")
	}
}

// What somebody added with sops stays, whatever is declared otherwise: a key under data or
// stringData, a field, a comment. A key that is no longer declared goes.
func TestAddedByHandStays(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	f, _ := withAll(t)
	plain, err := envelope.Decrypt(allFile, []byte(f.files()[allFile]), f.identities(f.private))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(plain), "\ndata:\n", "\nimmutable: false\nstringData:\n    by-text: canary-text\ndata:\n    # of the auditors\n    by-hand: Y2FuYXJ5LWhhbmQ=\n", 1)
	rule := &secrets.CreationRule{Groups: [][]secrets.Recipient{{{Service: "age", ID: f.public}}}, Selection: secrets.Selection{EncryptedRegex: "^(data|stringData)$"}}
	edited, err := envelope.Encrypt(allFile, []byte(text), rule, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.dir, allFile)
	if err := os.WriteFile(file, edited, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, check := range []bool{true, false} {
		out, err := f.sync(Options{Check: check})
		if err != nil || out.Any() || !slices.Equal(out.Results[0].KeysKept, []string{"by-hand", "by-text"}) || f.files()[allFile] != string(edited) {
			t.Fatalf("with nothing to do: %+v, %v", out.Results[0], err)
		}
	}
	f.declare(strings.Replace(allSources, "    - {name: default, from: {generate: {}}}\n", "    - {name: added, from: {env: VALUE}}\n", 1))
	out, err := f.sync(Options{})
	if err != nil || !slices.Equal(out.Results[0].KeysRemoved, []string{"default"}) || !slices.Equal(out.Results[0].KeysKept, []string{"by-hand", "by-text"}) {
		t.Fatalf("%+v, %v", out.Results, err)
	}
	o := f.open(allFile)
	if _, there := o.Data["default"]; there || o.Data["by-hand"] != "canary-hand" || o.Data["by-text"] != "canary-text" || o.Data["added"] != f.env["VALUE"] || len(o.StringData) > 0 {
		t.Errorf("the Secret has %v", sortedKeys(o.Data))
	}
	if plain, err = envelope.Decrypt(allFile, []byte(f.files()[allFile]), f.identities(f.private)); err != nil || !strings.Contains(string(plain), "# of the auditors\n") || !strings.Contains(string(plain), "immutable: false\n") {
		t.Errorf("the comment, or the field, is lost (%v)", err)
	}
	// A file from before keys were written down: what isn't declared is kept.
	if err := os.WriteFile(file, bytes.ReplaceAll(edited, []byte("declared-keys"), []byte("other")), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err = f.sync(Options{Check: true}); err != nil || len(out.Results[0].KeysRemoved) > 0 {
		t.Errorf("%+v, %v", out.Results[0], err)
	}
}

// To replace a tenant's key, its file and its public key go, whatever is left of the list.
func TestReplaceTenantKey(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	f, out := withAll(t)
	old := out.Results[1].PublicKeys["age.agekey"]
	if err := os.Remove(filepath.Join(f.dir, tenantFile)); err != nil {
		t.Fatal(err)
	}
	spec := f.files()["fleet/fleet.yaml"]
	var left string
	for line := range strings.Lines(spec) {
		if !strings.Contains(line, old) {
			left += line
		}
	}
	if err := os.WriteFile(filepath.Join(f.dir, "fleet/fleet.yaml"), []byte(left), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := f.sync(Options{})
	if err != nil || out.Results[1].Action != Create {
		t.Fatalf("%v\n%s", err, left)
	}
	if got, want := f.files()["fleet/fleet.yaml"], strings.Replace(spec, old, out.Results[1].PublicKeys["age.agekey"], 1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A tenant that gets no key from anywhere needs one.
	f.declare(strings.Split(allSources, "  - {name: sops-age")[0])
	bare := strings.Replace(f.files()["fleet/fleet.yaml"], "  secrets:\n", "    tenants:\n      shop:\n        age:\n  secrets:\n", 1)
	if err := os.WriteFile(filepath.Join(f.dir, "fleet/fleet.yaml"), []byte(bare), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.sync(Options{}); err == nil || !strings.Contains(err.Error(), "tenants.shop has no recipient") {
		t.Errorf("got %v", err)
	}
}

// What programs keep for themselves is not read for a stranger's specification, not through a link
// either, unless it is allowed; what else lies outside is told of.
func TestFilesOutside(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(home, ".ssh", "id_rsa")
	if err := os.MkdirAll(filepath.Dir(key), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{key, filepath.Join(home, "value")} {
		if err := os.WriteFile(file, []byte("canary"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ file, refused, told string }{
		"a hidden folder": {key, "/.ssh/id_rsa, for which the specification asks", ""},
		"by a way up":     {"", "/.ssh/id_rsa, for which the specification asks", ""},
		"through a link":  {"link", "/.ssh/id_rsa, for which the specification asks", ""},
		"the system's":    {"/etc/hosts", "/etc/hosts, for which the specification asks", ""},
		"another file":    {filepath.Join(home, "value"), "", "/value"},
		"inside":          {".hidden", "", ""},
	} {
		f := newFleet(t, "  - {name: x, namespace: flux-system, keys: [{name: a, from: {generate: {}}}]}\n")
		if name == "by a way up" {
			up, err := filepath.Rel(f.dir, key)
			if err != nil {
				t.Fatal(err)
			}
			c.file = filepath.ToSlash(up)
		}
		f.declare("  - {name: x, namespace: flux-system, keys: [{name: a, from: {file: '" + c.file + "'}}]}\n")
		if err := os.Symlink(key, filepath.Join(f.dir, "link")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.dir, ".hidden"), []byte("canary"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := f.files()
		out, err := f.sync(Options{})
		var input *advice.Error
		switch {
		case c.refused != "" && (!errors.As(err, &input) || !strings.Contains(err.Error(), c.refused) || !strings.Contains(input.Hint(), "--allow-outside") || !maps.Equal(before, f.files())):
			t.Errorf("%s: %v", name, err)
		case c.refused == "" && (err != nil || strings.Join(out.Outside, " ") != map[bool]string{true: home + c.told}[c.told != ""]):
			t.Errorf("%s: %v, told %v", name, err, out.Outside)
		}
		if c.refused == "" {
			continue
		}
		if out, err = f.sync(Options{Outside: true}); err != nil || len(out.Outside) > 0 {
			t.Errorf("%s, allowed: %v, told %v", name, err, out.Outside)
		}
	}
}

// A stranger's specification gets no credentials from CI's environment, and SOPS' keys from none,
// unless they are allowed by name.
func TestCredentialsInVariables(t *testing.T) {
	for _, c := range []struct {
		name, ci string
		refused  bool
	}{
		{"DB_PASSWORD", "true", false},
		{"CLOUDFLARE_API_TOKEN", "true", false},
		{"AWS_SECRET_ACCESS_KEY", "", false},
		{"AWS_SECRET_ACCESS_KEY", "false", false},
		{"AWS_SECRET_ACCESS_KEY", "true", true},
		{"GITHUB_TOKEN", "", false},
		{"GITHUB_TOKEN", "1", true},
		{"CI_JOB_TOKEN", "true", true},
		{"SOPS_AGE_KEY", "", true},
		{"sops_age_key", "", true},
	} {
		f := newFleet(t, "  - {name: x, namespace: flux-system, keys: [{name: a, from: {env: "+c.name+"}}]}\n")
		f.env = map[string]string{c.name: "canary", "CI": c.ci}
		before := f.files()
		_, err := f.sync(Options{Variables: []string{"ANOTHER"}})
		if !c.refused {
			if err != nil {
				t.Errorf("%s with CI=%q: %v", c.name, c.ci, err)
			}
			continue
		}
		var input *advice.Error
		if !errors.As(err, &input) || !strings.Contains(err.Error(), c.name+", for which") || !strings.Contains(input.Hint(), "--allow-env "+c.name) || !maps.Equal(before, f.files()) {
			t.Errorf("%s with CI=%q is not refused: %v", c.name, c.ci, err)
		}
		if slices.Contains(f.asked, c.name) {
			t.Errorf("%s was read", c.name)
		}
		if _, err := f.sync(Options{Variables: []string{c.name}}); err != nil {
			t.Errorf("%s, allowed: %v", c.name, err)
		}
	}
}
