// Fleetwright builds and keeps whole a Flux GitOps repository.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run())
}

// run wires the process to the command: streams, environment, signals.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv}
	quietLibraries()
	tuneMemory(os.Getenv)
	return execute(ctx, os.Args[1:], s)
}

// quietLibraries keeps libraries from printing: kustomize warns on the standard error of each
// deprecated field, once for each build, where there is a finding or nothing to tell.
func quietLibraries() {
	log.SetOutput(io.Discard)
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
		os.Stderr = null
	}
}
