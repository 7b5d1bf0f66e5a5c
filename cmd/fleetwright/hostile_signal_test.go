//go:build hostile && unix

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

// TestSignalsInTime: a signal ends a command within a second, whatever it does.
func TestSignalsInTime(t *testing.T) {
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

// mostStarting is how long a process may take until it answers signals, on a busy machine and with the race detector.
const mostStarting = 16 * time.Second

// endAfter returns how long a command takes to end after a signal. The signal is sent a second after the start, or later
// if the process has not started to answer signals by then.
func endAfter(t *testing.T, signal syscall.Signal, arguments []string) time.Duration {
	t.Helper()
	for wait := time.Second; ; wait *= 2 {
		took, err := signalled(t, signal, wait, arguments)
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatalf("after the signal: %v", err)
		}
		status, ok := exit.Sys().(syscall.WaitStatus)
		if ok && status.Signaled() && wait < mostStarting {
			continue
		}
		if exit.ExitCode() != statusStopped {
			t.Errorf("after the signal: %v", err)
		}
		return took
	}
}

// signalled sends a signal to a command, the given time after its start. It returns how the command ended, and how long it
// took to end.
func signalled(t *testing.T, signal syscall.Signal, wait time.Duration, arguments []string) (took time.Duration, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "fleetwright", arguments...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0") // or else the race detector waits for a second
	if _, err := cmd.StdinPipe(); err != nil {                 // which stays open
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(wait)
	sent := time.Now()
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatalf("it has ended before the signal: %v", err)
	}
	err = cmd.Wait()
	return time.Since(sent), err
}
