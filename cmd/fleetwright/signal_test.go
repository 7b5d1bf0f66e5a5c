//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// mostEnding is how long a process may take to end.
const mostEnding = time.Second

// TestSignals: a signal ends a command within a second, whatever it does.
func TestSignals(t *testing.T) {
	endless := t.TempDir()
	doubling := map[string]string{"clusters/one/ks.yaml": fluxKs("app", ""), "app/kustomization.yaml": "resources: [../a0]\n"}
	for i := range 24 {
		doubling[fmt.Sprintf("a%d/kustomization.yaml", i)] = fmt.Sprintf("namePrefix: x%d-\nresources: [../a%d, p]\n", i, i+1)
		doubling[fmt.Sprintf("a%d/p/kustomization.yaml", i)] = fmt.Sprintf("nameSuffix: -y%d\nresources: [../../a%d]\n", i, i+1)
	}
	doubling["a24/kustomization.yaml"], doubling["a24/a.yaml"] = "resources: [a.yaml]\n", configMap("a", "  b: c\n")
	files(doubling)(t, endless, "")
	for name, arguments := range map[string][]string{
		"waiting for input": {"fn"},
		"building":          {"validate", "--timeout", "10m", endless},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
			t.Run(fmt.Sprintf("%s/%s", name, signal), func(t *testing.T) {
				t.Parallel()
				took := endAfter(t, signal, arguments)
				for attempt := 0; took > mostEnding && attempt < 3; attempt++ {
					took = endAfter(t, signal, arguments) // what else goes on only adds to it
				}
				if took > mostEnding {
					t.Errorf("it ended %s after the signal", took)
				}
			})
		}
	}
}

// endAfter returns how long a command takes to end after a signal.
func endAfter(t *testing.T, signal syscall.Signal, arguments []string) time.Duration {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "fleetwright", arguments...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // or else the race detector waits for a second
	if _, err := cmd.StdinPipe(); err != nil {                 // which stays open
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	sent := time.Now()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatalf("it has ended before the signal: %v", err)
	}
	err := cmd.Wait()
	took := time.Since(sent)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != statusStopped {
		t.Errorf("after the signal: %v", err)
	}
	return took
}
