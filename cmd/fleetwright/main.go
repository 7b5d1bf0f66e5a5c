// Fleetwright generates and validates Flux GitOps repositories.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "github.com/fleetwright/fleetwright/cmd/fleetwright/memory"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/output"
)

func main() {
	os.Exit(run())
}

// run connects the process to the command: streams, environment, signals.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	forget := context.AfterFunc(ctx, func() {
		stop() // a second signal ends the process at once
		time.AfterFunc(mostToEnd, func() { endInterrupted(os.Stderr) })
	})
	defer forget() // before stop, which ends the context too
	process := bounds.Start(bounds.Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Began: time.Now()})
	s := streams{in: process.In, out: process.Out, err: process.Err, env: os.Getenv}
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

// quietLibraries prevents libraries from printing. For each build, kustomize prints a warning to standard error
// for each deprecated field, although a finding already reports it or it does not matter.
func quietLibraries() {
	log.SetOutput(io.Discard)
	// A restarted process may not open files for writing; writing to this file fails.
	os.Stderr = os.NewFile(noFile, os.DevNull)
}

// noFile is an invalid file descriptor.
const noFile = 1 << 30
