//go:build unix

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// mostEnding is how long a process may take to end here: a second, and as much again for a machine
// that has much else to do.
const mostEnding = 2 * time.Second

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
				cmd := exec.CommandContext(t.Context(), "fleetwright", arguments...)
				if _, err := cmd.StdinPipe(); err != nil { // which stays open
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
				var exit *exec.ExitError
				if took := time.Since(sent); took > mostEnding || !errors.As(err, &exit) || exit.ExitCode() != statusStopped {
					t.Errorf("it ended %s after the signal: %v", took, err)
				}
			})
		}
	}
}
