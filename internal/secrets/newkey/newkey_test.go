package newkey_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/newkey"
)

const (
	key   = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
	other = "age1cy0su9fwf3gf9mw868g5yut09p6nytfmmnktexz2ya5uqg9vl9sss4euqm"
	head  = "apiVersion: fleetwright.dev/v1alpha1\nkind: Encryption\nmetadata:\n  name: e\n"
	spec  = "apiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata:\n  name: prod\n---\n"
)

// A public key goes where it belongs, whatever the layout, and nothing else changes.
func TestAdd(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"a list":         {"spec:\n  recipients:\n    clusters:\n      prod:\n        age:\n        - OTHER # old\n# end\n", "spec:\n  recipients:\n    clusters:\n      prod:\n        age:\n        - OTHER # old\n        - KEY\n# end\n"},
		"a deep list":    {"spec:\n  recipients:\n    clusters:\n      prod:\n        age:\n            - OTHER\n", "spec:\n  recipients:\n    clusters:\n      prod:\n        age:\n            - OTHER\n            - KEY\n"},
		"no new line":    {"spec:\n  recipients:\n    clusters:\n      prod:\n        age:\n        - OTHER", "spec:\n  recipients:\n    clusters:\n      prod:\n        age:\n        - OTHER\n        - KEY\n"},
		"brackets":       {"spec:\n  recipients:\n    clusters:\n      prod: {age: [OTHER]} # x\n", "spec:\n  recipients:\n    clusters:\n      prod: {age: [OTHER, KEY]} # x\n"},
		"quotes":         {"spec:\n  recipients:\n    clusters:\n      prod: {age: [\"OTHER\"]}\n", "spec:\n  recipients:\n    clusters:\n      prod: {age: [\"OTHER\", KEY]}\n"},
		"empty brackets": {"spec:\n  recipients:\n    clusters:\n      prod: {age: []}\n", "spec:\n  recipients:\n    clusters:\n      prod: {age: [KEY]}\n"},
		"empty braces":   {"spec:\n  recipients:\n    clusters: {}\n", "spec:\n  recipients:\n    clusters: {prod: {age: [KEY]}}\n"},
		"braces":         {"spec: {recipients: {platform: {age: [OTHER]}}}\n", "spec: {recipients: {clusters: {prod: {age: [KEY]}}, platform: {age: [OTHER]}}}\n"},
		"no cluster yet": {"spec:\n  recipients:\n    platform:\n      age: [OTHER]\n  # regex\n  encryptedRegex: ^x$\n", "spec:\n  recipients:\n    platform:\n      age: [OTHER]\n    clusters:\n      prod:\n        age:\n          - KEY\n  # regex\n  encryptedRegex: ^x$\n"},
		"another":        {"spec:\n  recipients:\n    clusters:\n      stage:\n        age: [OTHER]\n", "spec:\n  recipients:\n    clusters:\n      stage:\n        age: [OTHER]\n      prod:\n        age:\n          - KEY\n"},
		"nothing below":  {"spec:\n  recipients:\n    clusters:\n    platform: {age: [OTHER]}\n", "spec:\n  recipients:\n    clusters:\n      prod:\n        age:\n          - KEY\n    platform: {age: [OTHER]}\n"},
		"no list below":  {"spec:\n  recipients:\n    clusters:\n      prod:\n        age: # none yet\n", "spec:\n  recipients:\n    clusters:\n      prod:\n        age: # none yet\n          - KEY\n"},
		"CRLF":           {"spec:\r\n  recipients:\r\n    clusters:\r\n      prod:\r\n        age:\r\n        - OTHER\r\n  encryptedRegex: x\r\n", "spec:\r\n  recipients:\r\n    clusters:\r\n      prod:\r\n        age:\r\n        - OTHER\r\n        - KEY\r\n  encryptedRegex: x\r\n"},
		"a document":     {"spec:\n  recipients:\n    clusters:\n      prod:\n        age:\n        - OTHER\n---\napiVersion: v1\n", "spec:\n  recipients:\n    clusters:\n      prod:\n        age:\n        - OTHER\n        - KEY\n---\napiVersion: v1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill := strings.NewReplacer("OTHER", other, "KEY", key)
			before := spec + head + fill.Replace(c.before)
			if name == "CRLF" {
				before = strings.ReplaceAll(strings.ReplaceAll(before, "\r\n", "\n"), "\n", "\r\n")
			}
			file := put(t, dir, before)
			if err := add(t, dir); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := spec + head + fill.Replace(c.after)
			if name == "CRLF" {
				want = strings.ReplaceAll(strings.ReplaceAll(want, "\r\n", "\n"), "\n", "\r\n")
			}
			if string(got) != want {
				t.Errorf("have\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func put(t *testing.T, dir, text string) string {
	t.Helper()
	file := filepath.Join(dir, "fleet", "encryption.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func add(t *testing.T, dir string) error {
	t.Helper()
	edit, err := newkey.Prepare(dir, secrets.Holder{Scope: secrets.Cluster, Name: "prod"})
	if err != nil {
		t.Fatal(err)
	}
	change, err := edit.Add(key)
	if err != nil {
		return err
	}
	return change.Write()
}

// What can't be added without changing the layout is said, with the way out.
func TestAddByHand(t *testing.T) {
	for name, text := range map[string]string{
		"an alias":    "spec:\n  recipients:\n    platform: &p {age: [" + other + "]}\n    clusters:\n      prod: *p\n",
		"a text":      "spec:\n  recipients:\n    clusters:\n      prod:\n        age: " + other + "\n",
		"a long text": "spec:\n  recipients:\n    clusters:\n      prod:\n        age:\n        - |\n          " + other + "\n          x\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := put(t, dir, spec+head+text)
			err := add(t, dir)
			known := (*newkey.Error)(nil)
			if !errors.As(err, &known) || !strings.Contains(known.Hint(), "add it by hand, at spec.recipients.clusters.prod.age") || !strings.HasPrefix(known.At, "fleet/encryption.yaml:") {
				t.Errorf("%v", err)
			}
			if got, _ := os.ReadFile(file); string(got) != spec+head+text {
				t.Errorf("it was changed:\n%s", got)
			}
		})
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "keys", "a.agekey")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := newkey.Save(file, "PRIVATE", key, now); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := newkey.Save(file, "SECOND", key, now); err == nil || strings.Contains(err.Error(), "SECOND") {
		t.Errorf("it was written over: %v", err)
	}
	if text, _ := os.ReadFile(file); string(text) != "# created: 2026-01-02T03:04:05Z\n# public key: "+key+"\nPRIVATE\n" {
		t.Errorf("%s", text)
	}
	if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) != 1 {
		t.Errorf("something is left: %v", entries)
	}
}
