//go:build hostile && !race

package charts

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// watch tells how much memory was in use at most until stop is called.
func watch() (stop func() (megabytes uint64)) {
	runtime.GC()
	end, peak := make(chan struct{}), make(chan uint64)
	go func() {
		live := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(live)
		before, most := live[0].Value.Uint64(), uint64(0)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(live)
			most = max(most, live[0].Value.Uint64(), before)
			select {
			case <-end:
				peak <- (most - before) >> 20
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 {
		close(end)
		return <-peak
	}
}

// TestMemoryOfBombs: no bomb takes much more memory than the texts that it may include.
func TestMemoryOfBombs(t *testing.T) {
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			stop := watch()
			err := explode(t, bomb.template)
			if used := stop(); used > 500 {
				t.Errorf("it takes %d MB: %.100v", used, err)
			}
		})
	}
}
