// Fleetwright builds and keeps whole a Flux GitOps repository.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/output"
)

func main() {
	os.Exit(run())
}

// run wires the process to the command: streams, environment, signals.
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
	tuneMemory(os.Getenv)
	return execute(ctx, os.Args[1:], s)
}

// mostToEnd is how long a command may take to end after a signal. What it writes meanwhile is
// healed by the next command, as after any kill.
const mostToEnd = 800 * time.Millisecond

// endInterrupted ends a process that does not end by itself.
func endInterrupted(stderr io.Writer) {
	_ = output.Printf(stderr, "interrupted\n")
	os.Exit(statusStopped)
}

// quietLibraries keeps libraries from printing: kustomize warns on the standard error of each
// deprecated field, once for each build, where there is a finding or nothing to tell.
func quietLibraries() {
	log.SetOutput(io.Discard)
	// A process that started again may open no file for writing: writing to this one fails.
	os.Stderr = os.NewFile(noFile, os.DevNull)
}

// noFile is no file descriptor of the process.
const noFile = 1 << 30
