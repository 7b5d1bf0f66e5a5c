package bounds

import (
	"context"
	"runtime"
	"sync"
)

// Parallel runs work for 0…n-1 on all processors, until the context ends.
func Parallel(ctx context.Context, n int, work func(int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				work(i)
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
}
