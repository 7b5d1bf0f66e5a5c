package declared

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/secrets"
)

const madeFile = "infrastructure/secrets/base/flux-system/db.sops.yaml"

// declareDB declares a Secret with some keys, which are drawn.
func declareDB(names ...string) string {
	text := "    - name: db\n      namespace: flux-system\n      keys:\n"
	for _, name := range names {
		text += "        - {name: " + name + ", from: {generate: {}}}\n"
	}
	return text
}

// write writes the file of the Secret.
func (f *fleet) write(content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, madeFile), []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) mustSync() {
	f.t.Helper()
	if _, err := f.sync(Options{}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) asMade(when string, want bool) {
	f.t.Helper()
	if got := secrets.AsMade([]byte(f.files()[madeFile])); got != want {
		f.t.Errorf("%s: as made: %v, want %v", when, got, want)
	}
}

// TestAsMade: a file is as it was made until somebody changes a value with sops, and
// from then on it is theirs, whatever is declared of it later.
func TestAsMade(t *testing.T) {
	f := newFleet(t, declareDB("user", "password"))
	f.mustSync()
	f.asMade("made", true)
	f.declare(declareDB("user", "password", "token"))
	f.mustSync()
	f.asMade("another key declared", true)
	f.write("# a comment\n" + strings.ReplaceAll(f.files()[madeFile], "\n  ", "\n    "))
	f.asMade("formatted", true)
	f.write(strings.Replace(f.files()[madeFile], "mac_only_encrypted: true", "mac_only_encrypted: false", 1))
	f.asMade("with a checksum of the annotation", false)
}

// TestAsMadeWithSops changes a file with the real sops.
func TestAsMadeWithSops(t *testing.T) {
	if _, err := exec.LookPath("sops"); err != nil {
		t.Skip("sops is not on PATH: make peers builds it")
	}
	f := newFleet(t, declareDB("user", "password"))
	f.mustSync()
	made := f.files()[madeFile]
	sops := func(args ...string) {
		t.Helper()
		c := exec.Command("sops", args...)
		c.Dir = f.dir
		c.Env = []string{"HOME=" + f.dir, "PATH=" + os.Getenv("PATH"), "SOPS_AGE_KEY=" + f.private}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("sops %s: %v: %s", args[0], err, out)
		}
	}
	sops("rotate", "-i", madeFile)
	f.asMade("encrypted anew by sops, with who knows what", false)
	f.write(made)
	f.asMade("as it was", true)
	sops("set", madeFile, `["data"]["password"]`, `"aHVudGVyMg=="`)
	f.asMade("changed", false)
	f.declare(declareDB("user", "password", "token"))
	f.mustSync()
	f.asMade("changed, then another key declared", false)
	if got := f.open(madeFile).Data["password"]; got != "hunter2" {
		t.Errorf("the password is %q", got)
	}
}
