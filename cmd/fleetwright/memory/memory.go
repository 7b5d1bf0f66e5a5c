// Package memory trades memory for time. A command runs for about a second and keeps most of what it allocates,
// and collecting garbage as often as a server does would take a third of its time. It is enough to import the
// package. It has few imports, so that Go initializes it early: otherwise the tables of other packages would be
// garbage collected several times before main begins.
package memory

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	first   = 1600      // GOGC of the first collection: most commands end before 64 MB
	lavish  = 400       // GOGC while the live heap is much smaller than enough
	thrifty = 100       // GOGC for a larger live heap: Go's default
	enough  = 400 << 20 // bytes that a command may allocate without many collections
)

var _ = tune(os.Getenv)

// tune lets the heap grow to enough without many collections, and beyond that to twice the live heap. With a fixed limit,
// Go would collect garbage all the time if the repository alone needs that much. It does not change a GOGC or GOMEMLIMIT
// from the environment, and returns whether it changed anything.
func tune(env func(string) string) bool {
	percent, limit := env("GOGC") == "", env("GOMEMLIMIT") == ""
	if percent || limit {
		allot(0, percent, limit)
		watchHeap(percent, limit)
	}
	return percent || limit
}

// most is the number of bytes that the process may use.
var most = func() *atomic.Int64 {
	most := &atomic.Int64{}
	most.Store(math.MaxInt64)
	return most
}()

// Limit sets the maximum size of the heap, in bytes. Close to it, Go collects garbage as often as necessary, so that only
// live objects count.
func Limit(bytes int64) { most.Store(bytes) }

// watchHeap adapts the settings to the live heap after each collection.
func watchHeap(percent, limit bool) {
	runtime.AddCleanup(new([16]byte), func(struct{}) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		allot(int64(live[0].Value.Uint64()), percent, limit)
		watchHeap(percent, limit)
	}, struct{}{})
}

// allot sets when the next collection starts, for a number of live bytes.
func allot(live int64, percent, limit bool) {
	if percent {
		debug.SetGCPercent(growth(live))
	}
	if limit {
		debug.SetMemoryLimit(min(max(enough, 2*live), most.Load()))
	}
}

// growth returns the GOGC with which the heap grows to enough, or to twice the live heap.
func growth(live int64) int {
	if live == 0 {
		return first
	}
	return int(min(lavish, max(thrifty, 100*enough/max(live, 1)-100)))
}
