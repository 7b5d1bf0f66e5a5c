package envelope_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

// replace changes a file in one place.
func replace(t *testing.T, data []byte, old, new string) []byte {
	t.Helper()
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("there is no %q in\n%s", old, data)
	}
	return bytes.Replace(data, []byte(old), []byte(new), 1)
}

func TestBrokenFiles(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	alice := newPair(t)
	sealed := encrypt(t, "a.yaml", secret, to(t, alice.public))
	sops := bytes.Index(sealed, []byte("\nsops:"))
	end := bytes.Index(sealed, []byte("-----END"))
	begin := bytes.Index(sealed, []byte("-----BEGIN"))
	mac := bytes.Index(sealed, []byte("mac:"))
	for name, c := range map[string]struct {
		data   []byte
		reason envelope.Reason
		says   string
	}{
		"cut off before the metadata":   {sealed[:sops+1], envelope.NotEncrypted, "a.yaml: the file has no SOPS metadata"},
		"cut off in the metadata":       {sealed[:mac], envelope.Malformed, "a.yaml:"},
		"cut off in the armor":          {sealed[:end], envelope.Malformed, "a.yaml:"},
		"cut off in the checksum":       {sealed[:mac+40], envelope.Malformed, "a.yaml:"},
		"a wrong checksum":              {replace(t, sealed, "mac: ENC[AES256_GCM,data:", "mac: ENC[AES256_GCM,data:AAAA"), envelope.Changed, "the checksum"},
		"another time":                  {replace(t, sealed, `lastmodified: "20`, `lastmodified: "19`), envelope.Changed, "the checksum"},
		"a value by hand":               {replace(t, sealed, string(cipherText(t, sealed))+"]", "canary-by-hand"), envelope.Changed, "a.yaml:7:15: the value at stringData.password"},
		"a value changed":               {replace(t, sealed, "password: ENC[AES256_GCM,data:", "password: ENC[AES256_GCM,data:AAAA"), envelope.Changed, "stringData.password"},
		"a value under another key":     {replace(t, sealed, "    password: ", "    passphrase: "), envelope.Changed, "stringData.passphrase"},
		"a value taken away":            {replace(t, sealed, "    token: ", "    #token: "), envelope.Changed, "the checksum"},
		"a number":                      {replace(t, sealed, string(cipherText(t, sealed))+"]", "42"), envelope.Changed, "was changed after it was encrypted"},
		"a corrupt armor":               {replace(t, sealed, "-----BEGIN AGE ENCRYPTED FILE-----", "-----BEGIN AGE FILE-----"), envelope.Corrupt, "a.yaml:"},
		"an armor with another letter":  {flip(sealed, end-40), envelope.Corrupt, alice.public},
		"the key's own stanza":          {flip(sealed, begin+90), envelope.Corrupt, alice.public},
		"a key twice":                   {replace(t, sealed, "kind: Secret\n", "kind: Secret\nkind: Secret\n"), envelope.Malformed, "a map has a duplicate key"},
		"no YAML":                       {[]byte("a: [\n"), envelope.Malformed, "a.yaml:"},
		"a text":                        {[]byte("canary\n"), envelope.Malformed, "a single value"},
		"aliases without end":           {bomb(), envelope.Malformed, "a.yaml:"},
		"metadata that are no mapping":  {[]byte("a: b\nsops: canary\n"), envelope.Malformed, "a.yaml:"},
		"metadata without a recipient":  {[]byte("a: b\nsops:\n  lastmodified: \"2026-01-01T00:00:00Z\"\n  mac: x\n"), envelope.Malformed, "a.yaml:"},
		"a time that is none, a canary": {replace(t, sealed, `lastmodified: "20`, `lastmodified: "canary`), envelope.Malformed, "a.yaml:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := envelope.Decrypt("a.yaml", c.data, alice.ids)
			wantBroken(t, err, c.reason, c.says)
			if _, _, err := envelope.Rotate("a.yaml", c.data, nil, alice.ids, now); err == nil {
				t.Error("it is rotated")
			}
		})
	}
}

// wantBroken is as wantReason, of errors that may have no hint.
func wantBroken(t *testing.T, err error, want envelope.Reason, says string) {
	t.Helper()
	e := (*envelope.Error)(nil)
	if !errors.As(err, &e) || e.Reason != want || !strings.Contains(err.Error(), says) {
		t.Fatalf("want reason %q and %q, have %v", want, says, err)
	}
	if strings.Contains(err.Error()+e.Hint(), "canary") {
		t.Errorf("the error holds a value: %v", err)
	}
}

// flip changes a letter.
func flip(data []byte, at int) []byte {
	changed := bytes.Clone(data)
	changed[at] ^= 1
	return changed
}

func bomb() []byte {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		n, m := string(rune('1'+i)), string(rune('0'+i))
		text += "a" + n + ": &a" + n + " [" + strings.TrimSuffix(strings.Repeat("*a"+m+", ", 10), ", ") + "]\n"
	}
	return []byte(text)
}

func TestBrokenPlain(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	alice := newPair(t)
	rule := to(t, alice.public)
	for name, c := range map[string]struct {
		file, text string
		rule       *secrets.CreationRule
		reason     envelope.Reason
		says       string
	}{
		"already encrypted":        {"a.yaml", string(encrypt(t, "a.yaml", secret, rule)), rule, envelope.Encrypted, "already encrypted"},
		"JSON, already":            {"a.json", string(encrypt(t, "a.json", `{"data": {"a": "b"}}`, rule)), rule, envelope.Encrypted, "already encrypted"},
		"nothing to encrypt":       {"a.yaml", "kind: ConfigMap\nvalues: {password: canary}\n", rule, envelope.Nothing, "selects no value"},
		"empty":                    {"a.yaml", "", rule, envelope.Nothing, "empty"},
		"JSON, cut off":            {"a.json", "{\"data\": {\n\"a\": \"canary\"", rule, envelope.Malformed, "a.json:2:1"},
		"JSON, a text":             {"a.json", `"canary"`, rule, envelope.Malformed, "single value"},
		"dotenv":                   {"a.env", "A=1\ncanary\n", ruleOf(t, "creation_rules:\n  - age: "+alice.public+"\n"), envelope.Malformed, "not of the form NAME=VALUE"},
		"INI":                      {"a.ini", "[a]\ncanary\n", ruleOf(t, "creation_rules:\n  - age: "+alice.public+"\n"), envelope.Malformed, "a.ini"},
		"a key twice":              {"a.yaml", "data:\n  a: canary\n  a: canary\n", rule, envelope.Malformed, "a.yaml:3:1: a map has a duplicate key"},
		"a list":                   {"a.yaml", "- canary\n", rule, envelope.Malformed, "a.yaml:1:1"},
		"keys that are numbers":    {"a.yaml", "data:\n  1: canary\n", rule, envelope.Unusable, "a.yaml"},
		"an expression that isn't": {"a.yaml", secret, ruleOf(t, "creation_rules:\n  - encrypted_regex: '('\n    age: "+alice.public+"\n"), envelope.Unusable, "not a valid regular expression"},
		"a mistyped recipient":     {"a.yaml", secret, ruleOf(t, "creation_rules:\n  - age: "+alice.public[:20]+"\n"), envelope.BadRecipient, "is not an age recipient"},
		"no recipient":             {"a.yaml", secret, ruleOf(t, "creation_rules:\n  - path_regex: a\n"), envelope.Unusable, "no recipient"},
		"another service":          {"a.yaml", secret, ruleOf(t, "creation_rules:\n  - age: "+alice.public+"\n    kms: arn:aws:kms:us-east-1:1:key/k\n"), envelope.OtherService, "kms arn:aws:kms:us-east-1:1:key/k"},
		"a plugin":                 {"a.yaml", secret, ruleOf(t, "creation_rules:\n  - age: age1yubikey1q2w7u3vpya839jxxuq8g0sedh3d740d4xvn639sqhr95ejj8vu3hyfumptt\n"), envelope.BadRecipient, "age-plugin-yubikey"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", t.TempDir())
			_, err := envelope.Encrypt(c.file, []byte(c.text), c.rule, now)
			wantBroken(t, err, c.reason, c.says)
		})
	}
}

// Keys of other services stay as they are while others come and go.
func TestOtherServices(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	alice, bob := newPair(t), newPair(t)
	const pgp = "    pgp:\n        - created_at: \"2026-01-01T00:00:00Z\"\n          enc: |-\n            -----BEGIN PGP MESSAGE-----\n\n            x\n            -----END PGP MESSAGE-----\n          fp: 85D77543B3D624B63CEA9E6DBC17301B491B3F21\n"
	const yubikey = "age1yubikey1q2w7u3vpya839jxxuq8g0sedh3d740d4xvn639sqhr95ejj8vu3hyfumptt"
	sealed := encrypt(t, "a.yaml", secret, to(t, alice.public))
	sealed = replace(t, sealed, "\nsops:\n", "\nsops:\n"+pgp)
	sealed = replace(t, sealed, "    age:\n", "    age:\n        - enc: plugged\n          recipient: "+yubikey+"\n")
	rule := func(age string) *secrets.CreationRule {
		return ruleOf(t, "creation_rules:\n  - encrypted_regex: ^(data|stringData)$\n    mac_only_encrypted: true\n    pgp: 85D77543B3D624B63CEA9E6DBC17301B491B3F21\n    age: "+age+"\n")
	}
	out, change, err := envelope.UpdateKeys("a.yaml", sealed, rule(alice.public+","+bob.public+","+yubikey), alice.ids)
	if err != nil || len(change.Added) != 1 || len(change.Removed) != 0 {
		t.Fatalf("%v %v", change, err)
	}
	for _, kept := range []string{"-----BEGIN PGP MESSAGE-----", "85D77543B3D624B63CEA9E6DBC17301B491B3F21", "plugged", yubikey} {
		if !bytes.Contains(out, []byte(kept)) {
			t.Errorf("%q was lost", kept)
		}
	}
	if err := envelope.Check("a.yaml", out, bob.ids); err != nil {
		t.Error(err)
	}
	_, _, err = envelope.Rotate("a.yaml", out, rule(alice.public), alice.ids, now)
	wantReason(t, err, envelope.OtherService, "pgp 85D7")
	gone, change, err := envelope.UpdateKeys("a.yaml", out, to(t, alice.public), &keys.Identities{})
	if err != nil || len(change.Removed) != 3 || bytes.Contains(gone, []byte("PGP")) {
		t.Errorf("%v %v", change, err)
	}
}

func TestKeyFiles(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	dir := t.TempDir()
	alice := newPair(t)
	sealed := encrypt(t, "a.yaml", secret, to(t, alice.public))
	private, _, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for name, c := range map[string]struct{ variable, value, says string }{
		"none":             {"", "", "no private key that is available"},
		"another":          {"SOPS_AGE_KEY", private, "no private key that is available"},
		"a public key":     {"SOPS_AGE_KEY_FILE", write("public.txt", "# mine\n"+alice.public+"\n"), "public.txt:2: it is a public key"},
		"a mistyped one":   {"SOPS_AGE_KEY_FILE", write("typo.txt", strings.ToLower(private)+"\n"), "typo.txt:1: it is not an age private key"},
		"a letter wrong":   {"SOPS_AGE_KEY_FILE", write("letter.txt", private[:len(private)-1]+"\n"), "letter.txt:1: it is not a valid age private key: a character"},
		"no file":          {"SOPS_AGE_KEY_FILE", filepath.Join(dir, "absent.txt"), "absent.txt: no such file"},
		"a folder":         {"SOPS_AGE_KEY_FILE", dir, "is a directory"},
		"a locked one":     {"SOPS_AGE_KEY_FILE", write("locked.txt", "age-encryption.org/v1\n-> scrypt x 18\n"), "locked.txt: the keys have a passphrase"},
		"no SSH key":       {"SOPS_AGE_SSH_PRIVATE_KEY_FILE", write("ssh", "x"), "not an SSH private key"},
		"from a command":   {"SOPS_AGE_KEY_CMD", "pass show age", "SOPS_AGE_KEY_CMD: only sops runs this command"},
		"in the user's":    {"XDG_CONFIG_HOME", filepath.Dir(write("keys.txt", "x")), "no private key that is available"},
		"in the variable ": {"SOPS_AGE_KEY", "canary", "SOPS_AGE_KEY:1: it is not an age private key"},
	} {
		t.Run(name, func(t *testing.T) {
			ids := keys.Find(func(variable string) string {
				if variable == c.variable {
					return c.value
				}
				return ""
			})
			err := envelope.Check("a.yaml", sealed, ids)
			wantReason(t, err, envelope.NoKey, c.says)
			if strings.Contains(err.Error(), private[20:40]) || strings.Contains(strings.ToUpper(err.Error()), private[20:40]) {
				t.Errorf("the error holds a private key: %v", err)
			}
		})
	}
}
