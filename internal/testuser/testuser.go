// Package testuser runs tests such that the permissions of files hold even for root.
package testuser

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// again is set in the process that Again starts.
const again = "FLEETWRIGHT_TEST_AGAIN"

// Again runs the test in another process if this one ignores the permissions of files, as root does, and reports whether it
// did: the caller then returns. The test fails if it fails there.
func Again(t *testing.T) bool {
	t.Helper()
	if bound(t) {
		return false
	}
	if os.Getenv(again) != "" {
		t.Fatal("this process ignores the permissions of files")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), again+"=1")
	out, err := run(t, cmd)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Fatalf("%v\n%s", err, out)
	}
	return true
}

// bound reports whether a read-only folder is read-only for this process.
func bound(t *testing.T) bool {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o755) }()
	return os.Mkdir(filepath.Join(dir, "x"), 0o755) != nil
}
