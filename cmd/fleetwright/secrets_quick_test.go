//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// mostChecked is how long the pre-commit hook may take for a commit of 100 files, the start of the
// process included, on a machine as quick as that of referenceTime.
const mostChecked = 300 * time.Millisecond

// TestSecretsCheckStagedIsQuick measures the hook; of several runs the quickest counts, since other
// work on the machine only adds to it. It takes no longer than its CPU time where nothing else runs.
func TestSecretsCheckStagedIsQuick(t *testing.T) {
	if raced || testing.Short() {
		t.Skip("it measures")
	}
	needTools(t, "git")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "fleetwright")
	if err := os.Symlink(self, binary); err != nil {
		t.Fatal(err)
	}
	limit := time.Duration(slowness(measureReference(t)) * float64(mostChecked))
	dir, quickest := stagedFiles(t), time.Hour
	for range 20 {
		cmd, begin := exec.Command(binary, "secrets", "check", "--staged", dir), time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		took := min(time.Since(begin), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		if quickest = min(quickest, took); quickest < limit {
			t.Logf("it takes %v", quickest)
			return
		}
	}
	t.Errorf("it takes %v at its quickest, and is to take less than %v", quickest, limit)
}
