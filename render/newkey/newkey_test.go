package newkey_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/render/newkey"
)

const (
	key  = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
	head = "apiVersion: fleetwright.dev/v1alpha1\nkind: Encryption\nmetadata:\n  name: encryption\n"
	spec = "apiVersion: fleetwright.dev/v1alpha1\nkind: Fleet\nmetadata: {name: f}\nspec: {repository: {url: 'https://h/fleet'}}\n---\n" +
		"apiVersion: fleetwright.dev/v1alpha1\nkind: Cluster\nmetadata:\n  name: prod\n"
)

// A public key goes where it belongs, or into a new Encryption, and nothing else changes.
func TestAdd(t *testing.T) {
	dir := t.TempDir()
	file := put(t, dir, "fleet.yaml", spec)
	add(t, dir, secrets.Holder{Scope: secrets.Cluster, Name: "prod"}, "is new, with the public key")
	written := filepath.Join(dir, "fleet", "encryption.yaml")
	want := head + "  annotations:\n    config.kubernetes.io/local-config: \"true\"\nspec:\n  recipients:\n    clusters:\n      prod:\n        age:\n          - " + key + "\n"
	same(t, written, want)
	same(t, file, spec)
	put(t, dir, "encryption.yaml", want+"# the end\n")
	add(t, dir, secrets.Holder{Scope: secrets.Platform}, "has the public key, at spec.recipients.platform.age")
	same(t, written, want+"    platform:\n      age:\n        - "+key+"\n# the end\n")
}

// add adds a key and wants a word on it.
func add(t *testing.T, dir string, holder secrets.Holder, says string) {
	t.Helper()
	edit, err := newkey.Prepare(dir, holder)
	if err != nil {
		t.Fatal(err)
	}
	change, err := edit.Add(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := change.Write(t.Context()); err != nil || change.What != says {
		t.Fatalf("%q, %v", change.What, err)
	}
}

func same(t *testing.T, file, want string) {
	t.Helper()
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%v, have\n%s\nwant\n%s", err, got, want)
	}
}

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, "fleet", name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
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
