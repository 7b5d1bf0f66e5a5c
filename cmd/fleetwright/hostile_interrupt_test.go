//go:build hostile

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestInterrupted: what signals end while it encrypts leaves no plaintext.
func TestInterrupted(t *testing.T) {
	needTools(t, "git")
	c := newCanaries(t)
	c.ownTemporary()
	c.must("fleetwright", "secrets", "keygen", "--platform")
	c.must("fleetwright", "secrets", "keygen", "--cluster", "production")
	c.must("fleetwright", "render")
	c.oneWholeFiles()
	c.interrupt()
}

// interrupt ends the command while it writes. Asked to end, it leaves all files as they were and
// nothing beside them; killed, it leaves each file whole, and what lies around is not in plaintext.
func (c *canaries) interrupt() {
	c.t.Helper()
	var files []string
	for i := range 40 {
		files = append(files, c.plain(fmt.Sprintf("n%d", i))...)
	}
	before := c.contents(files)
	for _, by := range []os.Signal{os.Interrupt, syscall.SIGTERM, os.Kill} {
		state, left := c.endWhileWriting(by, files, before)
		c.look(fmt.Sprintf("ended by %v", by), files...)
		c.unchanged(fmt.Sprintf("ended by %v", by), before)
		if by != os.Kill {
			if state.ExitCode() != statusStopped || len(left) > 0 {
				c.t.Errorf("ended by %v: status %d, and there are %v", by, state.ExitCode(), left)
			}
			continue
		}
		if state.Exited() || len(left) == 0 {
			c.t.Errorf("it ended by itself (%v), or wrote nothing: %v", state, left)
		}
	}
	// What the killed run left is taken back by the next.
	c.must(append([]string{"fleetwright", "secrets", "encrypt"}, files...)...)
	c.look("encrypted after all")
	c.must("fleetwright", "secrets", "verify", "--decrypt")
}

// endWhileWriting encrypts files, ends the command while it writes, and tells how it ended and what
// it left beside the files. Where a disk is quick, or the machine has much else to do, the signal may
// come when files are being replaced already, or all are: then what they held is put back, and it is
// tried again.
func (c *canaries) endWhileWriting(by os.Signal, files []string, before map[string][]byte) (state *os.ProcessState, left []string) {
	c.t.Helper()
	for range 50 {
		state = c.signalWhileWriting(by, files)
		left = c.drafts()
		if state.ExitCode() == statusStopped || maps.EqualFunc(c.contents(files), before, bytes.Equal) {
			return state, left
		}
		c.must("fleetwright", "secrets", "encrypt") // which finishes what was begun
		for file, data := range before {
			putFile(c.t, filepath.Join(c.repo, filepath.FromSlash(file)), data)
		}
	}
	c.t.Fatalf("no %v comes while it writes", by)
	return nil, nil
}

// drafts are the files that are to replace others.
func (c *canaries) drafts() []string {
	c.t.Helper()
	drafts, err := filepath.Glob(filepath.Join(c.repo, ".fleetwright/.git/new/*"))
	if err != nil {
		c.t.Fatal(err)
	}
	return drafts
}

// signalWhileWriting encrypts files and sends a signal as soon as something is written, unless the
// command has ended by then.
func (c *canaries) signalWhileWriting(by os.Signal, files []string) *os.ProcessState {
	c.t.Helper()
	cmd := exec.Command(filepath.Join(c.dir, "bin", "fleetwright"), append([]string{"secrets", "encrypt"}, files...)...)
	cmd.Dir, cmd.Env = c.repo, c.env(nil)
	cmd.Stdout, cmd.Stderr = &c.said, &c.said
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		failed = cmd.Wait()
	}()
	for len(c.drafts()) == 0 {
		select {
		case <-ended:
			if failed != nil {
				c.t.Fatalf("it ended before the signal: %v\n%s", failed, &c.said)
			}
			return cmd.ProcessState
		case <-time.After(time.Millisecond):
		}
	}
	if err := cmd.Process.Signal(by); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Error(err)
	}
	<-ended // its state tells
	return cmd.ProcessState
}
