//go:build hostile

package bounds

import (
	"bytes"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
)

// sink keeps what a unit makes alive.
var sink [][]byte

// The units that the watchdog must notice, or must not.
var _ = func() bool {
	maps.Copy(units, map[string]func() error{
		"time": func() error {
			for i := 0; ; i++ {
				if i < 0 {
					return nil
				}
			}
		},
		"memory": func() error {
			for {
				sink = append(sink, bytes.Repeat([]byte{1}, 1<<20))
			}
		},
		"garbage": garbage,
		"depth":   func() error { return fmt.Errorf("%d", recurse(1)) },
	})
	return true
}()

// garbage allocates more than may be alive, and keeps none of it. Only the watchdog collects it.
func garbage() error {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range memory >> 20 {
				runtime.KeepAlive(bytes.Repeat([]byte{1}, 1<<20))
			}
		})
	}
	all.Wait()
	return nil
}

// recurse calls itself without end, or nearly.
//
//go:noinline
func recurse(n int) int {
	if n < 0 {
		return 0
	}
	var frame [64]int
	frame[n%64] = recurse(n+1) + 1
	return frame[n%64] + frame[(n+1)%64]
}

// TestWatchdog: the watchdog notices the units that take too much, and no others.
func TestWatchdog(t *testing.T) {
	for kinds, want := range map[string]string{
		"garbage":     "garbage: <nil>\nread \"input\", 0 exceeded\n",
		"time,good":   "time: the test of time" + tooLate + "good: <nil>\nread \"input\", 1 exceeded\n",
		"good,memory": "good: <nil>\nmemory: the test of memory" + tooLarge + "read \"input\", 1 exceeded\n",
		"depth,good":  "depth: the test of depth" + tooDeep + "good: <nil>\nread \"input\", 1 exceeded\n",
		"depth,time,memory,good": "depth: the test of depth" + tooDeep + "time: the test of time" + tooLate +
			"memory: the test of memory" + tooLarge + "good: <nil>\nread \"input\", 3 exceeded\n",
	} {
		t.Run(kinds, func(t *testing.T) { checkRun(t, kinds, want) })
	}
}
