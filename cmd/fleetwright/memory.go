package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A command lives for a second and keeps most of what it allocates: collecting garbage as
// often as a server does takes a third of its time.
const (
	lavish  = 400       // GOGC while little is alive
	thrifty = 100       // GOGC, Go's default, above
	little  = 80 << 20  // bytes
	much    = 400 << 20 // bytes, from which on garbage is collected whatever it takes
)

// tuneMemory trades memory for time as long as little memory is in use, and time for memory
// when much is. A GOGC or GOMEMLIMIT in the environment is left as it is.
func tuneMemory(env func(string) string) {
	if env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(much)
	}
	if env("GOGC") != "" {
		return
	}
	debug.SetGCPercent(lavish)
	watchHeap()
}

// watchHeap looks at what is alive after each collection, until it is more than little.
func watchHeap() {
	sentinel := new([16]byte)
	runtime.AddCleanup(sentinel, func(struct{}) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Uint64() > little {
			debug.SetGCPercent(thrifty)
			return
		}
		watchHeap()
	}, struct{}{})
}
