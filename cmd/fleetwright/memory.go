package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A command lives for a second and keeps most of what it allocates: collecting garbage as
// often as a server does takes a third of its time.
const (
	first   = 1600      // GOGC of the first collection: most commands end before 64 MB
	lavish  = 400       // GOGC while what is alive is small against enough
	thrifty = 100       // GOGC where more is alive: Go's default
	enough  = 400 << 20 // bytes that a command may take without collecting garbage
)

// tuneMemory trades memory for time up to enough, and from there on lets a command have
// twice what is alive: a fixed limit would collect garbage without end where a large
// repository is that much itself. A GOGC or GOMEMLIMIT in the environment is left
// as it is.
func tuneMemory(env func(string) string) {
	percent, limit := env("GOGC") == "", env("GOMEMLIMIT") == ""
	if percent || limit {
		allot(0, percent, limit)
		watchHeap(percent, limit)
	}
}

// watchHeap looks at what is alive after each collection.
func watchHeap(percent, limit bool) {
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		allot(int64(live[0].Value.Uint64()), percent, limit)
		watchHeap(percent, limit)
	}, struct{}{})
}

// allot says when the next garbage is collected, of so many bytes alive.
func allot(live int64, percent, limit bool) {
	if percent {
		debug.SetGCPercent(growth(live))
	}
	if limit {
		debug.SetMemoryLimit(max(enough, 2*live))
	}
}

// growth is the GOGC with which what is alive grows to enough, or to twice itself.
func growth(live int64) int {
	if live == 0 {
		return first
	}
	return int(min(lavish, max(thrifty, 100*enough/max(live, 1)-100)))
}
