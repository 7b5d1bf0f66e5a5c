//go:build hostile && unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// confinedEnv names the program that a confined test process becomes.
const confinedEnv = "FLEETWRIGHT_TEST_CONFINED"

// opened is a file that a process opened, or tried to.
type opened struct {
	path    string
	written bool
}

// becomeOther becomes the program of confinedEnv, if there is one.
func becomeOther() {
	if os.Getenv(confinedEnv) != "" {
		fmt.Fprintln(os.Stderr, confined())
		os.Exit(125)
	}
}

// strangerEnv is the environment of a command that reads a stranger's repository. It has two cores, however
// many the machine has: with more of them it takes more memory.
func strangerEnv() []string {
	return []string{"HOME=/nonexistent", "NO_COLOR=1", "GOMAXPROCS=" + strconv.Itoa(strangerCores)}
}

// strangerCores are the cores of such a command.
const strangerCores = 2

// confinedCommand is a command for runConfined.
func confinedCommand(ctx context.Context, program string, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], arguments...)
	cmd.Env = []string{confinedEnv + "=" + program}
	return cmd
}

// canConfine says whether commands can be confined here: a container may forbid it.
func canConfine(t *testing.T) bool {
	t.Helper()
	file, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(file, "empty")
	putFile(t, file, nil)
	files, _, err := runConfined(confinedCommand(t.Context(), "/bin/cat", file))
	seen := slices.Contains(files, opened{path: file})
	if err != nil || !seen {
		t.Logf("not confined: %v; %q is seen: %v", err, file, seen)
	}
	return err == nil && seen
}

// TestConfinement proves that the confinement confines: what it shall prevent ends the
// process, and what is opened is seen.
func TestConfinement(t *testing.T) {
	if !canConfine(t) {
		if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
			t.Fatal("the hostile cases ran without the confinement that shows what they open and run: the kernel forbids it")
		}
		t.Skip("no confinement on " + runtime.GOOS + "/" + runtime.GOARCH)
	}
	for _, c := range []struct {
		name, program string
		arguments     []string
		killed        bool
	}{
		{"nothing", "/bin/true", nil, false},
		{"a process", "/bin/sh", []string{"-c", "/bin/true; true"}, true},
		{"a program", "/bin/sh", []string{"-c", "exec /bin/true"}, true},
		{"a socket", "/bin/bash", []string{"-c", ": </dev/tcp/127.0.0.1/9"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := os.Stat(c.program); err != nil {
				t.Skip(err)
			}
			cmd := confinedCommand(t.Context(), c.program, c.arguments...)
			_, _, err := runConfined(cmd)
			if killed := wasKilled(cmd.ProcessState); killed != c.killed {
				t.Errorf("killed: %v (%v)", killed, err)
			}
		})
	}
	t.Run("files", func(t *testing.T) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		putFile(t, filepath.Join(dir, "sub", "read"), nil)
		cmd := confinedCommand(t.Context(), "/bin/sh", "-c", ": <sub/../sub/read >written; : <missing")
		cmd.Dir = dir
		files, _, _ := runConfined(cmd)
		for _, want := range []opened{{dir + "/sub/read", false}, {dir + "/written", true}, {dir + "/missing", false}} {
			if !slices.Contains(files, want) {
				t.Errorf("%v is not in %v", want, files)
			}
		}
	})
}
