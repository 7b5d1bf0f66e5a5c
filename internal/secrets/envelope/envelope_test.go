package envelope_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/getsops/sops/v3/version"
	"golang.org/x/crypto/ssh"

	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// now is when the tests encrypt.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// pair is a key pair: age's, or of SSH.
type pair struct {
	public string
	ids    *keys.Identities
}

func newPair(t testing.TB) pair {
	t.Helper()
	private, public, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	ids, err := keys.Parse("test", private)
	if err != nil {
		t.Fatal(err)
	}
	return pair{public, ids}
}

func newSSH(t *testing.T, private any, public any) pair {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	ids, err := keys.ParseSSH("test", pem.EncodeToMemory(block))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return pair{strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " somebody@example.com", ids}
}

func ed25519Pair(t *testing.T) pair {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newSSH(t, private, public)
}

func rsaPair(t *testing.T) pair {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return newSSH(t, private, &private.PublicKey)
}

// ruleOf is the only rule of a .sops.yaml.
func ruleOf(t testing.TB, text string) *secrets.CreationRule {
	t.Helper()
	c, err := secrets.ParseConfig(".sops.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Rules) != 1 || c.Err != nil {
		t.Fatalf("want one rule, have %d: %v", len(c.Rules), c.Err)
	}
	return &c.Rules[0]
}

// to is a rule for recipients.
func to(t testing.TB, recipients ...string) *secrets.CreationRule {
	t.Helper()
	return ruleOf(t, "creation_rules:\n  - encrypted_regex: ^(data|stringData)$\n    mac_only_encrypted: true\n    age: \""+strings.Join(recipients, ",")+"\"\n")
}

const secret = `# who changes this asks the team
apiVersion: v1
kind: Secret
metadata:
  name: db
stringData:
  password: canary-6b1f # the real one
  empty: ""
  lines: |
    one
    two
data:
  token: Y2FuYXJ5LTZiMWY=
`

func encrypt(t testing.TB, file, text string, rule *secrets.CreationRule) []byte {
	t.Helper()
	out, err := envelope.Encrypt(file, []byte(text), rule, now)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out, []byte("canary-6b1f")) || bytes.Contains(out, []byte("Y2FuYXJ5LTZiMWY=")) {
		t.Fatalf("a value is in plaintext:\n%s", out)
	}
	return out
}

func TestVersion(t *testing.T) {
	if envelope.Version != version.Version {
		t.Errorf("files would name sops %s, and it is %s", envelope.Version, version.Version)
	}
}

// Every format and every kind of recipient goes there and back.
func TestRoundTrip(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	x25519, ed, rsaKey := newPair(t), ed25519Pair(t), rsaPair(t)
	all := fmt.Sprintf("    age: [%q, %q, %q]\n", x25519.public, ed.public, rsaKey.public)
	for file, text := range map[string]string{
		"a.sops.yaml": secret,
		"two.yaml":    secret + "---\napiVersion: v1\nkind: Secret\nstringData:\n  other: canary-6b1f\n",
		"a.json":      `{"data": {"password": "canary-6b1f", "n": 9007199254740993, "list": ["canary-6b1f", true, null]}}`,
		"a.env":       "# a comment\nPASSWORD=canary-6b1f\nLINES=one\\ntwo\n",
		"a.ini":       "[db]\npassword = canary-6b1f\n",
		"age.agekey":  "# a key\ncanary-6b1f\n",
	} {
		t.Run(file, func(t *testing.T) {
			sealed := encrypt(t, file, text, ruleOf(t, "creation_rules:\n  - path_regex: .*\n"+all))
			for name, p := range map[string]pair{"X25519": x25519, "ed25519": ed, "rsa": rsaKey} {
				plain, err := envelope.Decrypt(file, sealed, p.ids)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !bytes.Contains(plain, []byte("canary-6b1f")) {
					t.Errorf("%s: %s", name, plain)
				}
			}
			_, err := envelope.Decrypt(file, sealed, newPair(t).ids)
			wantReason(t, err, envelope.NoKey, x25519.public)
		})
	}
}

func wantReason(t *testing.T, err error, want envelope.Reason, says string) {
	t.Helper()
	e := (*envelope.Error)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("want an error of reason %q, have %v", want, err)
	}
	if e.Reason != want || !strings.Contains(err.Error(), says) || e.Hint() == "" {
		t.Errorf("want reason %q, %q and a hint, have %q: %v (hint: %s)", want, says, e.Reason, err, e.Hint())
	}
	if strings.Contains(err.Error(), "canary") {
		t.Errorf("the error holds a value: %v", err)
	}
}

func TestUpdateKeys(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	alice, bob, carol := newPair(t), newPair(t), ed25519Pair(t)
	sealed := encrypt(t, "a.yaml", secret, to(t, alice.public, bob.public))

	same, change, err := envelope.UpdateKeys("a.yaml", sealed, to(t, bob.public, alice.public), &keys.Identities{})
	if err != nil || change.Any() || !bytes.Equal(same, sealed) {
		t.Errorf("the order of recipients counts: %v %v", change, err)
	}

	_, _, err = envelope.UpdateKeys("a.yaml", sealed, to(t, alice.public, carol.public), newPair(t).ids)
	wantReason(t, err, envelope.NoKey, "no private key that is available")

	out, change, err := envelope.UpdateKeys("a.yaml", sealed, to(t, alice.public, carol.public), alice.ids)
	if err != nil || len(change.Added) != 1 || len(change.Removed) != 1 || change.Removed[0].ID != bob.public {
		t.Fatalf("%v %v", change, err)
	}
	if err := envelope.Check("a.yaml", out, carol.ids); err != nil {
		t.Errorf("who was added: %v", err)
	}
	wantReason(t, envelope.Check("a.yaml", out, bob.ids), envelope.NoKey, "a.yaml")
	if value := cipherText(t, sealed); !bytes.Contains(out, value) {
		t.Error("a value was encrypted anew")
	}

	gone, _, err := envelope.UpdateKeys("a.yaml", out, to(t, alice.public), &keys.Identities{})
	if err != nil {
		t.Fatalf("to take somebody away needs no key: %v", err)
	}
	wantReason(t, envelope.Check("a.yaml", gone, carol.ids), envelope.NoKey, "a.yaml")
}

// The last letter of an RSA key may be a slash, which is no separator then.
func TestUpdateKeysOfKeyThatEndsWithSlash(t *testing.T) {
	const public = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDWJS3E6jtf57kn9OC4vxIefcrXdtRmDv26AZrf0DfHFk7b3ScakWSis4yd3g5NGkGwew6qC1BOx/Ot0vu1oyhxUVDGALjclcNSPMCEBtiA99p6Wg+/G18jU3Ea+Ph7kuoCYPJznNCEwsyUcIHc/vX8HaGm4ZIH7zqAL9uqludeJWG9jSjxNMy9uTYj/OBipdPambOjcxn1XOYAyV5xqZVHucf8tx1//90qNw6/ovrh/rzlCnabX+QTUfNOFsdPZSLgfNYXdOJydtqihqr1pFf70HiyzxPTkUn6Cw97hB5WsT0aOXGlz9sPx9mi7V2ljFzrLyRHLFuM+K8QmxTbIma/"
	rule := to(t, public)
	sealed := encrypt(t, "a.yaml", secret, rule)
	same, change, err := envelope.UpdateKeys("a.yaml", sealed, rule, &keys.Identities{})
	if err != nil || change.Any() || !bytes.Equal(same, sealed) {
		t.Errorf("not up to date: %v, %v", change, err)
	}
	listed := ruleOf(t, fmt.Sprintf("creation_rules:\n  - key_groups:\n      - age: [{recipient: %q}]\n", public))
	if len(listed.Recipients) != 1 || listed.Recipients[0].ID != public {
		t.Errorf("recipients %v", listed.Recipients)
	}
}

// Whatever letter an SSH key ends with, who has it is told from who hasn't.
func TestUpdateKeysOfKeysWithEveryEnd(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	stranger, ends := newPair(t), map[byte]bool{}
	for len(ends) < 64 {
		someone := ed25519Pair(t)
		key := strings.Fields(someone.public)[1]
		if ends[key[len(key)-1]] {
			continue
		}
		ends[key[len(key)-1]] = true
		rule := to(t, someone.public)
		sealed := encrypt(t, "a.yaml", secret, rule)
		same, change, err := envelope.UpdateKeys("a.yaml", sealed, rule, &keys.Identities{})
		if err != nil || change.Any() || !bytes.Equal(same, sealed) {
			t.Errorf("%s is not up to date: %v, %v", key, change, err)
		}
		out, change, err := envelope.UpdateKeys("a.yaml", sealed, to(t, stranger.public), someone.ids)
		if err != nil || len(change.Added) != 1 || len(change.Removed) != 1 {
			t.Fatalf("%s is replaced: %v, %v", key, change, err)
		}
		wantReason(t, envelope.Check("a.yaml", out, someone.ids), envelope.NoKey, "a.yaml")
	}
}

// cipherText is the first encrypted value.
func cipherText(t *testing.T, sealed []byte) []byte {
	t.Helper()
	at := bytes.Index(sealed, []byte("ENC["))
	if at < 0 {
		t.Fatal("nothing is encrypted")
	}
	value, _, _ := bytes.Cut(sealed[at:], []byte("]"))
	return value
}

// Who was taken out of a file that was rotated does not open it with the data key of before.
func TestRotate(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	alice, bob := newPair(t), newPair(t)
	sealed := encrypt(t, "a.yaml", secret, to(t, alice.public, bob.public))
	out, change, err := envelope.Rotate("a.yaml", sealed, to(t, alice.public), alice.ids, now)
	if err != nil || len(change.Removed) != 1 {
		t.Fatalf("%v %v", change, err)
	}
	wantReason(t, envelope.Check("a.yaml", out, bob.ids), envelope.NoKey, alice.public)
	// Bob puts his data key of before into the new file.
	wantReason(t, envelope.Check("a.yaml", withMetadataOf(t, sealed, out), bob.ids), envelope.Changed, "stringData.password")
	before, err := envelope.Decrypt("a.yaml", sealed, bob.ids)
	if err != nil {
		t.Fatal(err)
	}
	after, err := envelope.Decrypt("a.yaml", out, alice.ids)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the text changed: %v", err)
	}
}

// withMetadataOf puts the metadata of one file under the values of another.
func withMetadataOf(t *testing.T, metadata, values []byte) []byte {
	t.Helper()
	a, b := bytes.Index(metadata, []byte("\nsops:\n")), bytes.Index(values, []byte("\nsops:\n"))
	if a < 0 || b < 0 {
		t.Fatal("there are no metadata")
	}
	return append(bytes.Clone(values[:b]), metadata[a:]...)
}

func groups(t *testing.T, threshold int, of ...pair) *secrets.CreationRule {
	t.Helper()
	text := fmt.Sprintf("creation_rules:\n  - shamir_threshold: %d\n    encrypted_regex: ^(data|stringData)$\n    key_groups:\n", threshold)
	for _, p := range of {
		text += fmt.Sprintf("      - age: [%q]\n", p.public)
	}
	return ruleOf(t, text)
}

func both(a, b pair) *keys.Identities {
	i := *a.ids
	return i.And(b.ids)
}

func TestKeyGroups(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	a, b, c, d := newPair(t), newPair(t), newPair(t), newPair(t)
	sealed := encrypt(t, "a.yaml", secret, groups(t, 2, a, b, c))
	wantReason(t, envelope.Check("a.yaml", sealed, a.ids), envelope.NoKey, "1 of the 2 required key groups")
	if err := envelope.Check("a.yaml", sealed, both(a, c)); err != nil {
		t.Error(err)
	}
	// Somebody joins a group: who is in it adds them, without the other groups.
	rule := groups(t, 2, a, b, c)
	rule.Groups[1] = append(rule.Groups[1], secrets.Recipient{Service: "age", ID: d.public})
	joined, change, err := envelope.UpdateKeys("a.yaml", sealed, rule, b.ids)
	if err != nil || len(change.Added) != 1 || change.Groups {
		t.Fatalf("%v %v", change, err)
	}
	if err := envelope.Check("a.yaml", joined, both(a, d)); err != nil {
		t.Error(err)
	}
	// A group goes: the data key is shared out anew, which needs as many as open the file.
	_, _, err = envelope.UpdateKeys("a.yaml", joined, groups(t, 2, a, b), b.ids)
	wantReason(t, err, envelope.NoKey, "1 of the 2 required key groups")
	two, change, err := envelope.UpdateKeys("a.yaml", joined, groups(t, 2, a, b), both(a, c))
	if err != nil || !change.Groups {
		t.Fatalf("%v %v", change, err)
	}
	if err := envelope.Check("a.yaml", two, both(a, b)); err != nil {
		t.Error(err)
	}
}
