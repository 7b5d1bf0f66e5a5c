package declared

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/testpeer"
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
	if got := secrets.HasGeneratedValues([]byte(f.files()[madeFile])); got != want {
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

// The keys that records are made with.
const (
	recordedKey    = "AGE-SECRET-KEY-1WMT8DRC2VFVCZTAVT6MVQKTQ2GZLPZE55N6FP87GPM4WRFMKCEJQY0L4XZ"
	recordedPublic = "age1as2u3aj53gw6vs429j4z9044fsuq45vchvqqqgcgzjnhrl6asf0sqqz38n"
)

// secretParts are what differs each time that sops encrypts.
var secretParts = regexp.MustCompile(`data:[^,]*,iv:[^,]*,tag:[^,]*,|-----BEGIN AGE ENCRYPTED FILE-----[^-]*-----END AGE ENCRYPTED FILE-----|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// TestAsMadeWithSops changes a file with the real sops.
func TestAsMadeWithSops(t *testing.T) {
	f := newFleet(t, "")
	f.private, f.public = recordedKey, recordedPublic
	f.declare(declareDB("user", "password"))
	f.mustSync()
	content, err := os.ReadFile("testdata/made.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	made := string(content)
	f.write(made)
	f.asMade("made", true)
	sops := func(what string, more ...string) {
		t.Helper()
		dir := t.TempDir()
		file := filepath.Join(dir, "db.sops.yaml")
		if err := os.WriteFile(file, []byte(f.files()[madeFile]), 0o600); err != nil {
			t.Fatal(err)
		}
		testpeer.Command{Tool: "sops", Args: append(strings.Fields(what), append([]string{"db.sops.yaml"}, more...)...), Dir: dir, Reads: []string{dir}, Writes: dir,
			Env: []string{"SOPS_AGE_KEY=" + f.private}, Alike: func(text string) string { return secretParts.ReplaceAllString(text, "") }}.Output(t)
		changed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f.write(string(changed))
	}
	sops("rotate -i")
	f.asMade("encrypted anew by sops, with who knows what", false)
	f.write(made)
	f.asMade("as it was", true)
	sops("set", `["data"]["password"]`, `"aHVudGVyMg=="`)
	f.asMade("changed", false)
	f.declare(declareDB("user", "password", "token"))
	f.mustSync()
	f.asMade("changed, then another key declared", false)
	if got := f.open(madeFile).Data["password"]; got != "hunter2" {
		t.Errorf("the password is %q", got)
	}
}
