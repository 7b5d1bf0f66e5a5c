package bounds

import (
	"encoding/json"
	"math"
	"runtime"
	"strings"
	"time"
)

// The bounds are CPU time on a reference machine, which does the work of slowness in paceTime. On a slower machine, or
// while other processes use its caches, the bounds are up to mostSlowness times longer.
const (
	paceTime     = raceFactor * 2000 * time.Microsecond
	mostSlowness = 4
)

// paceText is the JSON that slowness parses: maps, lists, strings and numbers.
var paceText = []byte("[" + strings.Repeat(`{"name": "a", "list": [1, 2, 3], "text": "b c"}, `, 1000) + "0]")

// slowness returns how many times slower this machine is than the reference machine: at least 1,
// and at most mostSlowness. It takes about 4 ms; the monitor measures it when a bound is first exceeded.
func slowness() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, least := thread(), time.Duration(math.MaxInt64)
	for range 3 {
		began := threadTime(own)
		var parsed any
		_ = json.Unmarshal(paceText, &parsed) // a constant, which is valid
		least = min(least, threadTime(own)-began)
	}
	return min(max(1, float64(least)/float64(paceTime)), mostSlowness)
}
