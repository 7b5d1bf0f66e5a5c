// Fleetwright generates and validates Flux GitOps repositories.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	_ "github.com/fleetwright/fleetwright/cmd/fleetwright/memory"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/output"
)

func main() {
	os.Exit(run(bounds.Limits{Memory: defaultMemory(memlimit.FromCgroup)}))
}

// run connects the process to the command: streams, environment, signals and guards.
func run(guards bounds.Limits) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv}
	forget := context.AfterFunc(ctx, func() {
		stop() // a second signal ends the process at once
		time.AfterFunc(mostToEnd, func() { endInterrupted(s.err) })
	})
	defer forget() // before stop, which ends the context too
	bounds.Start(time.Now(), func() { endExceeded(s) })
	setLimits(guards)
	quietLibraries()
	return execute(ctx, os.Args[1:], s)
}

// mostToEnd is the time that a command has to end after a signal. The next command recovers an incomplete
// write, as after a kill.
const mostToEnd = 800 * time.Millisecond

// endInterrupted ends a process that did not end by itself.
func endInterrupted(stderr io.Writer) {
	_ = output.Printf(stderr, "interrupted\n")
	os.Exit(statusStopped)
}

// reportExceeded, if set, writes the report of a command whose process endExceeded ends.
var reportExceeded atomic.Pointer[func() error]

// endExceeded ends a process that exceeds a guard and does not end by itself. It prints only the error about the guard.
func endExceeded(s streams) {
	if report := reportExceeded.Load(); report == nil || (*report)() != nil {
		s.printExceeded()
	}
	os.Exit(statusFindings)
}

// quietLibraries prevents libraries from printing. For each build, kustomize prints a warning to standard error
// for each deprecated field, although a finding already reports it or it does not matter.
func quietLibraries() {
	log.SetOutput(io.Discard)
	// Writing to this file fails.
	os.Stderr = os.NewFile(noFile, os.DevNull)
}

// noFile is an invalid file descriptor.
const noFile = 1 << 30
