package envelope_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"filippo.io/age/plugin"
	"golang.org/x/crypto/ssh"

	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// peer is a holder of keys whom both we and the real sops know.
type peer struct {
	kind, public string
	ids          *keys.Identities
	env          string
}

// encryptedBySops is what the real sops makes of a file, by the rule beside it.
func encryptedBySops(t *testing.T, dir, file string) []byte {
	t.Helper()
	return []byte(testpeer.Command{Tool: "sops", Args: []string{"encrypt", file}, Dir: dir, Reads: []string{dir}, Alike: shape}.Output(t))
}

// The keys that records are made with.
const (
	ageKey    = "AGE-SECRET-KEY-1WMT8DRC2VFVCZTAVT6MVQKTQ2GZLPZE55N6FP87GPM4WRFMKCEJQY0L4XZ"
	agePublic = "age1as2u3aj53gw6vs429j4z9044fsuq45vchvqqqgcgzjnhrl6asf0sqqz38n"
)

// peers have keys that records are made with.
func peers(t *testing.T) []peer {
	t.Helper()
	ids, err := keys.Parse("x", ageKey)
	if err != nil {
		t.Fatal(err)
	}
	all := []peer{{"X25519", agePublic, ids, "SOPS_AGE_KEY=" + ageKey}}
	for _, kind := range []string{"ssh-ed25519", "ssh-rsa"} {
		file, err := filepath.Abs(filepath.Join("testdata/keys", kind))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		signer, err := ssh.ParsePrivateKey(text)
		if err != nil {
			t.Fatal(err)
		}
		ids, err := keys.ParseSSH(file, text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, peer{kind, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), ids, "SOPS_AGE_SSH_PRIVATE_KEY_FILE=" + file})
	}
	return all
}

// The formats, and what chooses the values: each of them with each.
var (
	peerFiles = map[string]string{
		"values.yaml":     "# a comment\ndb:\n  password: hunter2 # inline\n  port: 5432\n  ratio: 0.5\n  on: true\n  none: null\n  at: 2026-01-02T03:04:05Z\n  list: [a, {b: c}]\n  text: |\n    one\n    two\nkept_unencrypted: clear\ntoken_secret: x\n",
		"values.json":     `{"data": {"password": "hunter2", "port": 5432, "big": 9007199254740993, "ratio": 1.5, "on": false, "none": null, "list": ["a", 1]}, "kept_unencrypted": "clear", "token_secret": "x"}`,
		"vars.env":        "# a comment\nPASSWORD=hunter2\nLINES=one\\ntwo\ndata=x\nkept_unencrypted=clear\ntoken_secret=x\n",
		"conf.ini":        "[data]\npassword = hunter2\nkept_unencrypted = clear\ntoken_secret = x\n",
		"key.agekey":      "# a file as a whole\nhunter2\n",
		"data.sops.yaml":  "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: aHVudGVyMg==\n  token_secret: eA==\n",
		"plain.sops.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\nstringData:\n  password: hunter2\n  config.yaml: |\n    a: b\n  token_secret: x\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: second\nstringData:\n  other: hunter2\n  token_secret: x\n",
	}
	peerRules = map[string]string{
		"all values":              "",
		"encrypted_regex":         "    encrypted_regex: ^(data|stringData|db|PASSWORD)$\n",
		"unencrypted_regex":       "    unencrypted_regex: ^(apiVersion|kind|metadata)$\n",
		"unencrypted_suffix":      "    unencrypted_suffix: _unencrypted\n",
		"encrypted_suffix":        "    encrypted_suffix: _secret\n",
		"encrypted_comment_regex": "    encrypted_comment_regex: a comment\n",
		"mac_only_encrypted":      "    encrypted_regex: ^(data|stringData|db|PASSWORD)$\n    mac_only_encrypted: true\n",
	}
)

// What we encrypt sops decrypts; what its command encrypts we read, re-key and rotate, and it
// reads that: its library, and with the build tag peers its command. Each takes the other's recipients for right: each kind of recipient, with each
// format, with each way to choose values. With the race detector, which sops hasn't and which makes
// ours ten times slower, each kind is tried once.
func TestSopsCommand(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	newcomer := newPair(t)
	for _, who := range peers(t) {
		for _, ruleName := range slices.Sorted(maps.Keys(peerRules)) {
			for _, file := range slices.Sorted(maps.Keys(peerFiles)) {
				choice := peerRules[ruleName]
				if file == "key.agekey" && choice != "" || file != "values.yaml" && strings.Contains(choice, "comment") {
					continue // there is nothing to choose
				}
				if raced && (ruleName != "encrypted_regex" || file != "plain.sops.yaml") {
					continue
				}
				t.Run(who.kind+"/"+file+"/"+ruleName, func(t *testing.T) {
					config := fmt.Sprintf("creation_rules:\n  - age: [%q]\n%s", who.public, choice)
					exchange(t, file, peerFiles[file], config, strings.Replace(config, "age: [", "age: ["+newcomer.public+", ", 1), who, newcomer)
				})
			}
		}
	}
}

// exchange tries one file with one rule, and with another rule with a newcomer.
func exchange(t *testing.T, file, text, config, wider string, who peer, newcomer pair) {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, ".sops.yaml", []byte(config))
	put(t, dir, file, []byte(text))
	rule, more := ruleOf(t, config), ruleOf(t, wider)

	theirs := encryptedBySops(t, dir, file)
	want := decrypted(t, file, theirs, who)
	ours, err := envelope.Encrypt(file, []byte(text), rule, now)
	if err != nil {
		t.Fatal(err)
	}
	if got := decrypted(t, file, ours, who); !bytes.Equal(got, want) {
		t.Errorf("what we encrypt sops decrypts to\n%s\nand what it encrypts, to\n%s", got, want)
	}
	sameShape(t, ours, theirs)
	for name, sealed := range map[string][]byte{"ours": ours, "theirs": theirs} {
		plain, err := envelope.Decrypt(file, sealed, who.ids)
		if err != nil || !bytes.Equal(plain, want) {
			t.Errorf("%s: we decrypt to\n%s (%v)\nsops to\n%s", name, plain, err, want)
		}
		if _, change, err := envelope.UpdateKeys(file, sealed, rule, &keys.Identities{}); err != nil || change.Any() {
			t.Errorf("%s: not up to date: %v, %v", name, change, err)
		}
		rekeyed, _, err := envelope.UpdateKeys(file, sealed, more, who.ids)
		if err != nil {
			t.Fatal(err)
		}
		rotated, _, err := envelope.Rotate(file, rekeyed, more, newcomer.ids, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := decrypted(t, file, rotated, who); !bytes.Equal(got, want) {
			t.Errorf("%s: what we rotated sops decrypts to\n%s\nwant\n%s", name, got, want)
		}
	}
}

func put(t *testing.T, dir, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// homeOf is the home of somebody with the keys of some peers, and the variables that name them.
func homeOf(t *testing.T, all []peer) (home string, env []string) {
	t.Helper()
	home = t.TempDir()
	for _, p := range all {
		name, value, _ := strings.Cut(p.env, "=")
		if name == "SOPS_AGE_KEY" || len(all) == 1 {
			env = append(env, p.env)
			continue
		}
		data, err := os.ReadFile(value)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(home, ".ssh"), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(home, ".ssh"), map[string]string{"ssh-ed25519": "id_ed25519", "ssh-rsa": "id_rsa"}[p.kind], data)
	}
	return home, env
}

// secretParts are what differs each time: ciphertext, armor and the time.
var secretParts = regexp.MustCompile(`data:[^,]*,iv:[^,]*,tag:[^,]*,|-----BEGIN AGE ENCRYPTED FILE-----[^-]*-----END AGE ENCRYPTED FILE-----|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// shape is an encrypted file without them.
func shape(text string) string { return secretParts.ReplaceAllString(text, "") }

// sameShape says that two encrypted files differ in nothing but what is random.
func sameShape(t *testing.T, a, b []byte) {
	t.Helper()
	if x, y := shape(string(a)), shape(string(b)); x != y {
		t.Errorf("our file\n%s\nand that of sops\n%s", x, y)
	}
}

// Files with key groups go there and back.
func TestSopsCommandKeyGroups(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	all, newcomer := peers(t), newPair(t)
	for _, threshold := range []string{"", "    shamir_threshold: 2\n"} {
		config := "creation_rules:\n  - encrypted_regex: ^(data|stringData)$\n" + threshold + "    key_groups:\n"
		for _, p := range all {
			config += fmt.Sprintf("      - age: [%q]\n", p.public)
		}
		both := all[0]
		both.ids = all[0].ids.And(all[1].ids).And(all[2].ids)
		dir := t.TempDir()
		put(t, dir, ".sops.yaml", []byte(config))
		put(t, dir, "a.yaml", []byte(peerFiles["plain.sops.yaml"]))
		theirs := encryptedBySops(t, dir, "a.yaml")
		ours, err := envelope.Encrypt("a.yaml", []byte(peerFiles["plain.sops.yaml"]), ruleOf(t, config), now)
		if err != nil {
			t.Fatal(err)
		}
		sameShape(t, ours, theirs)
		wider := strings.Replace(config, "- age: [", "- age: ["+newcomer.public+", ", 1)
		for _, sealed := range [][]byte{ours, theirs} {
			plain, err := envelope.Decrypt("a.yaml", sealed, both.ids)
			if err != nil {
				t.Fatal(err)
			}
			more, change, err := envelope.UpdateKeys("a.yaml", sealed, ruleOf(t, wider), all[0].ids)
			if err != nil || len(change.Added) != 1 {
				t.Fatalf("%v, %v", change, err)
			}
			rotated, _, err := envelope.Rotate("a.yaml", more, ruleOf(t, wider), both.ids, now)
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range [][]byte{sealed, more, rotated} {
				if got := decrypted(t, "a.yaml", file, all...); !bytes.Equal(got, plain) {
					t.Errorf("sops decrypts to\n%s\nwe to\n%s", got, plain)
				}
			}
		}
	}
}

// A message of the age command opens.
func TestAgeCommand(t *testing.T) {
	who := peers(t)[0]
	sealed := testpeer.Command{Tool: "age", Args: []string{"--armor", "--recipient", who.public}, Stdin: "a data key", Alike: shape}.Output(t)
	if got, err := who.ids.Open(sealed); err != nil || string(got) != "a data key" {
		t.Errorf("we open age's as %q, %v", got, err)
	}
}

// The recipient of a plugin stays in a file as it is, byte by byte, whoever comes and goes beside
// it; without its plugin nothing new is encrypted to it, and no file changes.
func TestPluginRecipient(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	alice, bob := newPair(t), newPair(t)
	hardware := plugin.EncodeRecipient("yubikey", []byte("0123456789abcdef0123456789abcdef0"))
	config := func(age ...string) string {
		return "creation_rules:\n  - encrypted_regex: ^(data|stringData)$\n    age: " + strings.Join(age, ",") + "\n"
	}
	sealed, err := envelope.Encrypt("a.yaml", []byte(secret), ruleOf(t, config(alice.public)), now)
	if err != nil {
		t.Fatal(err)
	}
	entry := "        - enc: |\n            -----BEGIN AGE ENCRYPTED FILE-----\n            b2YgdGhlIGhhcmR3YXJl\n            -----END AGE ENCRYPTED FILE-----\n          recipient: " + hardware + "\n"
	withPlugin := bytes.Replace(sealed, []byte("\n    age:\n"), []byte("\n    age:\n"+entry), 1)
	if bytes.Equal(withPlugin, sealed) {
		t.Fatalf("no list of recipients in\n%s", sealed)
	}
	kept := func(when string, data []byte) {
		t.Helper()
		if !bytes.Contains(data, []byte(entry)) {
			t.Errorf("%s: the plugin's recipient changed:\n%s", when, data)
		}
	}
	meta, err := envelope.Metadata("a.yaml", withPlugin)
	if err != nil || len(meta.Recipients()) != 2 || meta.Recipients()[0].ID != hardware {
		t.Fatalf("it is read as %+v, %v", meta, err)
	}
	same, change, err := envelope.UpdateKeys("a.yaml", withPlugin, ruleOf(t, config(hardware, alice.public)), &keys.Identities{})
	if err != nil || change.Any() || !bytes.Equal(same, withPlugin) {
		t.Errorf("with nothing to change: %v, %v", change, err)
	}
	more, change, err := envelope.UpdateKeys("a.yaml", withPlugin, ruleOf(t, config(hardware, alice.public, bob.public)), alice.ids)
	if err != nil || len(change.Added) != 1 || len(change.Removed) != 0 {
		t.Fatalf("somebody comes: %v, %v", change, err)
	}
	kept("somebody comes", more)
	less, change, err := envelope.UpdateKeys("a.yaml", more, ruleOf(t, config(hardware, bob.public)), &keys.Identities{})
	if err != nil || len(change.Removed) != 1 {
		t.Fatalf("somebody goes: %v, %v", change, err)
	}
	kept("somebody goes", less)
	if err := envelope.Check("a.yaml", less, bob.ids); err != nil {
		t.Errorf("who came can't read it: %v", err)
	}

	t.Setenv("PATH", t.TempDir())
	for name, work := range map[string]func() error{
		"encrypting": func() error {
			_, err := envelope.Encrypt("a.yaml", []byte(secret), ruleOf(t, config(hardware)), now)
			return err
		},
		"adding it": func() error {
			_, _, err := envelope.UpdateKeys("a.yaml", sealed, ruleOf(t, config(hardware, alice.public)), alice.ids)
			return err
		},
		"rotating": func() error {
			_, _, err := envelope.Rotate("a.yaml", less, ruleOf(t, config(hardware, bob.public)), bob.ids, now)
			return err
		},
	} {
		err := work()
		if known := (*envelope.Error)(nil); !errors.As(err, &known) || known.Reason != envelope.BadRecipient || known.Hint() != "install age-plugin-yubikey" {
			t.Errorf("%s without the plugin: %v", name, err)
		}
	}
}
