//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// pipeSize is more than a pipe holds: who writes it waits until the other side reads.
const pipeSize = 1 << 20

// TestSignals: a signal ends a command that waits for input, with the status for it.
func TestSignals(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "fleetwright", "fn")
			cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // or else the race detector waits for a second
			stdin, err := cmd.StdinPipe()                              // which stays open
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := stdin.Write(bytes.Repeat([]byte("#\n"), pipeSize/2)); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != statusStopped {
				t.Errorf("after the signal: %v", err)
			}
		})
	}
}
