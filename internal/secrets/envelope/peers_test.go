//go:build peers

package envelope_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"testing/cryptotest"

	"github.com/fleetwright/fleetwright/internal/secrets/envelope"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// decrypted is what the real sops makes of a text, with the keys of some peers and no other.
func decrypted(t *testing.T, file string, sealed []byte, all ...peer) []byte {
	t.Helper()
	home, env := homeOf(t, all)
	dir := t.TempDir()
	put(t, dir, file, sealed)
	sops := testpeer.Command{Tool: "sops", Args: []string{"decrypt", file}, Dir: dir, Env: append(env, "HOME="+home, "XDG_CONFIG_HOME="+home), Unrecorded: true}
	return []byte(sops.Output(t))
}

// A file that is for a PGP key too is read, given to others and verified without PGP, and stays
// readable to its holder.
func TestSopsCommandPGP(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	home := t.TempDir()
	t.Setenv("GNUPGHOME", home)
	if out, err := exec.Command("gpg", "--batch", "--passphrase", "", "--quick-gen-key", "test@example.com", "rsa2048", "encr", "never").CombinedOutput(); err != nil {
		t.Fatalf("gpg makes no key here: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--kill", "gpg-agent").Run() })
	out, err := exec.Command("gpg", "--list-keys", "--with-colons").Output()
	if err != nil {
		t.Fatal(err)
	}
	fingerprint := regexp.MustCompile(`(?m)^fpr:+([0-9A-F]{40}):`).FindSubmatch(out)
	if fingerprint == nil {
		t.Fatalf("%s", out)
	}
	alice, bob := newPair(t), newPair(t)
	config := func(age string) string {
		return "creation_rules:\n  - encrypted_regex: ^(data|stringData)$\n    pgp: " + string(fingerprint[1]) + "\n    age: " + age + "\n"
	}
	dir := t.TempDir()
	put(t, dir, ".sops.yaml", []byte(config(alice.public)))
	put(t, dir, "a.yaml", []byte(secret))
	sealed := []byte(testpeer.Command{Tool: "sops", Args: []string{"encrypt", "a.yaml"}, Dir: dir, Env: []string{"GNUPGHOME=" + home}, Unrecorded: true}.Output(t))
	if change, err := envelope.Compare("a.yaml", sealed, ruleOf(t, config(alice.public))); err != nil || change.Any() {
		t.Errorf("%v, %v", change, err)
	}
	more, change, err := envelope.UpdateKeys("a.yaml", sealed, ruleOf(t, config(alice.public+","+bob.public)), alice.ids)
	if err != nil || len(change.Added) != 1 {
		t.Fatalf("%v, %v", change, err)
	}
	plain, err := envelope.Decrypt("a.yaml", more, bob.ids)
	if err != nil {
		t.Fatal(err)
	}
	if got := decrypted(t, "a.yaml", more, peer{env: "GNUPGHOME=" + home}); !bytes.Equal(got, plain) {
		t.Errorf("with PGP, sops decrypts to\n%s", got)
	}
}

// The data keys in a file are messages that the age command opens.
func TestAgeCommandOpens(t *testing.T) {
	private, public, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put(t, dir, "key", []byte(private+"\n"))
	sealed, err := keys.Seal(public, []byte("a data key"))
	if err != nil {
		t.Fatal(err)
	}
	age := testpeer.Command{Tool: "age", Args: []string{"--decrypt", "--identity", filepath.Join(dir, "key")}, Stdin: sealed, Unrecorded: true}
	if got := age.Output(t); got != "a data key" {
		t.Errorf("age opens it as %q", got)
	}
}
