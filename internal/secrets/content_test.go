package secrets_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/secrets"
)

const (
	anyValue = "ENC[AES256_GCM,data:9fQkzA==,iv:c29tZQ==,tag:dGFn,type:str]"
	anyTime  = "2026-01-01T00:00:00Z"
)

// sealedYAML is metadata that SOPS accepts, with more fields.
func sealedYAML(more string) string {
	return "sops:\n  age:\n    - recipient: age1x\n      enc: x\n  lastmodified: \"" + anyTime + "\"\n  mac: " + anyValue + "\n" + more
}

// A file is encrypted when SOPS takes its metadata for its own, and broken when it has some that
// SOPS refuses. A text that only speaks of SOPS is neither.
func TestStateOf(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       secrets.State
	}{
		{"a.yaml", "a: " + anyValue + "\n" + sealedYAML(""), secrets.Encrypted},
		{"a.yml", "a: b\n" + sealedYAML("  encrypted_regex: ^data$\n"), secrets.Encrypted},
		{"a.json", `{"a": "` + anyValue + `", "sops": {"lastmodified": "` + anyTime + `", "mac": "` + anyValue + `"}}`, secrets.Encrypted},
		{"a.bin", `{"data": "` + anyValue + `", "sops": {"lastmodified": "` + anyTime + `", "mac": "` + anyValue + `"}}`, secrets.Encrypted},
		{"a.env", "A=" + anyValue + "\nsops_lastmodified=" + anyTime + "\nsops_mac=" + anyValue + "\n", secrets.Encrypted},
		{".env.a.encrypted", "A=" + anyValue + "\nsops_lastmodified=" + anyTime + "\nsops_mac=" + anyValue + "\n", secrets.Encrypted},
		{"a.sh", "A=b\nsops_mac=a\n", secrets.Plaintext},
		{"a.ini", "[a]\nb = " + anyValue + "\n[sops]\nlastmodified = " + anyTime + "\nmac = " + anyValue + "\n", secrets.Encrypted},

		// Cut off, merged, or made up.
		{"a.yaml", "a: " + anyValue + "\nsops:\n  age:\n    - recipient: age1x\n      enc: x\n", secrets.Broken},
		{"a.yaml", strings.Replace("a: b\n"+sealedYAML(""), anyTime, "yesterday", 1), secrets.Broken},
		{"a.yaml", "a: b\nsops:\n  lastmodified: \"" + anyTime + "\"\n  mac: ENC[AES256_GCM,made up]\n", secrets.Broken},
		{"a.yaml", "a: b\n" + sealedYAML("  encrypted_regex: a\n  unencrypted_regex: b\n"), secrets.Broken},
		{"a.yaml", "a: " + anyValue + "\nsops:\n  age: [\n", secrets.Broken},
		{"a.json", `{"a": "` + anyValue + `", "sops": {"mac": "x`, secrets.Broken},
		{"a.env", "A=x\nsops_mac=x\n", secrets.Broken},
		{"a.env", "A=x\nsops_age__list_0__map_enc=x\n", secrets.Broken},

		// What speaks of SOPS.
		{"a.yaml", "# ENC[AES256_GCM,data:x]\nsops:\n  enabled: true\npassword: x\n", secrets.Plaintext},
		{"a.yaml", "sops:\n  version: v3.9.0\n  age: {enabled: true}\n", secrets.Plaintext},
		{"a.yaml", "text: |\n  " + strings.ReplaceAll(sealedYAML(""), "\n", "\n  ") + "\n", secrets.Plaintext},
		{"a.yaml", "a: b\n---\n" + sealedYAML(""), secrets.Plaintext}, // SOPS reads the first document
		{"a.env", "A=x\n# sops_mac=" + anyValue + "\n", secrets.Plaintext},
		{"a.env", "a: " + anyValue + "\n" + sealedYAML(""), secrets.Plaintext}, // not in the format of its name
		{"a.md", "sops: " + anyValue + "\n[sops]\nmac = " + anyValue + "\n", secrets.Plaintext},
		{"a.yaml", "", secrets.Plaintext},
	} {
		if got := secrets.StateOf(c.file, []byte(c.text)); got != c.want {
			t.Errorf("%s: %d, want %d\n%s", c.file, got, c.want, c.text)
		}
	}
}

// What a rule, or the metadata of an encrypted file, choose and is not encrypted stands in plaintext.
func TestClearIn(t *testing.T) {
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\n"
	for name, c := range map[string]struct {
		file, text string
		rule       secrets.Selection
		want       string
	}{
		"all values":              {"a.yaml", "a: v1\nb: [v2, {c: v3}]\nn: null\non: true\nleft_unencrypted: x\nempty: ''\n", secrets.Selection{}, "a:1 b:2 b.c:2"},
		"by names":                {"a.yaml", "a: v1\nb: {c: v2}\n", secrets.Selection{EncryptedRegex: "^b$"}, "b.c:2"},
		"but names":               {"a.json", "{\"a\": 1,\n\"b\": {\"c\": \"v1\"}}", secrets.Selection{UnencryptedRegex: "^a$"}, "b.c:2"},
		"by ends":                 {"a.env", "# x=y\nA_secret=v1\nB=y\n", secrets.Selection{EncryptedSuffix: "_secret"}, "A_secret:2"},
		"sections":                {"a.ini", "x = v1\n[db]\n; c = d\npassword: v1\nport = 1\n", secrets.Selection{EncryptedRegex: "^(db|DEFAULT)$"}, "x:1 password:4 port:5"},
		"a whole file":            {"a.bin", "hunter2", secrets.Selection{}, ":1"},
		"an empty file":           {"a.bin", "\n", secrets.Selection{}, ""},
		"what stands for another": {"a.env", "A=${B}\nC=changeme\n", secrets.Selection{}, ""},
		"no form of SOPS'":        {"a.yaml", "a: ENC[hunter2]\n", secrets.Selection{}, "a:1"},

		"added":                      {"a.yaml", "a: " + anyValue + "\nb: ${X}\n" + sealedYAML(""), secrets.Selection{}, "b:2"},
		"the file's own rule counts": {"a.yaml", "a: " + anyValue + "\nb: x\n" + sealedYAML("  encrypted_regex: ^a$\n"), secrets.Selection{EncryptedRegex: "^b$"}, ""},
		"a number was added":         {"a.yaml", "a: " + anyValue + "\nb: 5432\n" + sealedYAML(""), secrets.Selection{}, "b:2"},
		"added to variables":         {"a.env", "A=" + anyValue + "\nB=x\nsops_lastmodified=" + anyTime + "\nsops_mac=" + anyValue + "\n", secrets.Selection{}, "B:2"},
		"a Secret by its field":      {"a.yaml", secret + "data:\n  a: bm90LWVuY3J5cHRlZA==\n", secrets.Selection{EncryptedRegex: "^data$"}, "data.a:5"},
		"left on purpose":            {"a.yaml", secret + "stringData:\n  password: " + anyValue + "\n  mode: fast-and-loose\n" + sealedYAML("  encrypted_regex: ^password$\n"), secrets.Selection{}, ""},
		"left, and a secret":         {"a.yaml", secret + "stringData:\n  password: " + anyValue + "\n  api-token: kX9vbQ2mZ7pL\n" + sealedYAML("  encrypted_regex: ^password$\n"), secrets.Selection{}, "stringData.api-token:6"},
		"the other field is missed":  {"a.yaml", secret + "data:\n  a: " + anyValue + "\nstringData:\n  b: tr0ub4dor\n" + sealedYAML("  encrypted_regex: ^data$\n"), secrets.Selection{}, "stringData.b:7"},
		"a document was added":       {"a.yaml", "a: " + anyValue + "\n" + sealedYAML("") + "---\nb: x\n", secrets.Selection{}, "b:9"},
	} {
		var got []string
		values, err := secrets.ClearIn(c.file, []byte(c.text), c.rule)
		for _, v := range values {
			got = append(got, fmt.Sprintf("%s:%d", v.Name, v.Line))
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("%s: %v (%v), want %s\n%s", name, got, err, c.want, c.text)
		}
	}
	if values, err := secrets.ClearIn("a.yaml", []byte("a: x\n"), secrets.Selection{EncryptedCommentRegex: "x"}); !errors.Is(err, secrets.ErrByComments) || len(values) > 0 {
		t.Errorf("what comments choose is known: %v", values)
	}
}

// The names that say that a file is encrypted, and what a rule wants encrypted.
func TestWants(t *testing.T) {
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {a: b}\n"
	for _, c := range []struct {
		file, text string
		all        bool // the rule has no path_regex
		want       bool
	}{
		{"a.sops.env", "A=b", false, true}, {"a.enc.json", "{}", true, true}, {"a.SOPS.yaml", "a: b", true, true},
		{".sops.yaml", "creation_rules: []", false, false}, {".sops.yml", "a: b", true, false},
		{"secret.yaml", secret, false, true}, {"secret.yaml", secret, true, false}, {"map.yaml", "kind: ConfigMap", false, false},
		{"db.env", "MODE=fast\nDB_PASSWORD=tr0ub4dor", false, true}, {"db.env", "MODE=fast", false, false}, {"db.env", "DB_PASSWORD=tr0ub4dor", true, false},
		{"secret.json", "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Secret\",\n\t\"stringData\": {\"a\": \"b\"}\n}\n", false, true},
		{"secret.json", `{"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "b"}}`, true, false}, {"map.json", `{"kind": "ConfigMap", "data": {"a": "b"}}`, false, false},
		{"readme.txt", "password: tr0ub4dor", false, false},
	} {
		r := secrets.CreationRule{PathRegex: "x"}
		if c.all {
			r.PathRegex = ""
		}
		if got := r.Wants(c.file, []byte(c.text)); got != c.want {
			t.Errorf("%s, a rule for all: %v: %v, want %v\n%s", c.file, c.all, got, c.want, c.text)
		}
	}
	if files := []string{"a.yaml", "sops.yaml", ".sops.yaml"}; slices.ContainsFunc(files, secrets.IsNamedEncrypted) {
		t.Errorf("one of %v is named encrypted", files)
	}
}

// What cannot be read and may hold a Secret, and what a file that is too large may hold.
func TestUnread(t *testing.T) {
	const head = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData:\n"
	for _, c := range []struct {
		file, text    string
		unread, large bool
	}{
		{"a.yaml", head + "  password: *Xk9PqLw82mZ\n", true, true}, {"a.yaml", head + "  password: a\n", false, true},
		{"a.yaml", "kind: ConfigMap\ndata: *x\n", false, false}, {"a.yaml", "kind: ExternalSecret\ndata: *x\n", false, false},
		{"a.json", `{"kind": "Secret", "stringData": {"password": "x"`, true, true}, {"a.json", `{"kind": "List", "items": [`, false, false},
		{"a.yaml", head + "{{- range .Values.x }}\n  password: {{ .y }}\n{{- end }}\n", false, true},
		{"a.yaml", head + "{{- range .Values.x }}\n  password: tr0ub4dor-and-3\n{{- end }}\n", true, true},
		{"a.env", "A=b\n", false, true}, {"a.md", head + "  password: *x\n", false, false},
	} {
		if got := secrets.Unread(c.file, []byte(c.text)); (got != nil) != c.unread || got != nil && strings.Contains(got.Message, "Xk9") {
			t.Errorf("%s: %v, want one: %v\n%s", c.file, got, c.unread, c.text)
		}
		if got := secrets.MayHoldSecret(c.file, strings.NewReader(c.text)); got != c.large {
			t.Errorf("%s, if it were large: %v\n%s", c.file, got, c.text)
		}
	}
}
