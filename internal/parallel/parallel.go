// Package parallel runs work on all processors.
package parallel

import (
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Each runs work for 0…n-1, in parallel on all processors.
func Each(n int, work func(int)) {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		all.Go(func() error { work(i); return nil })
	}
	_ = all.Wait() // no work returns an error
}
