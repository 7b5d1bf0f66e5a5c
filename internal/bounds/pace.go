package bounds

import (
	"encoding/json"
	"math"
	"runtime"
	"strings"
	"time"
)

// The bounds are CPU time of a machine that does the pace's work in paceTime; on a slower one, or while
// others use its caches, time counts for less, down to a mostSlowness-th.
const (
	paceTime     = raceFactor * 2000 * time.Microsecond
	mostSlowness = 4
)

// paceText is what the pace's work parses: maps, lists, texts and numbers.
var paceText = []byte("[" + strings.Repeat(`{"name": "a", "list": [1, 2, 3], "text": "b c"}, `, 1000) + "0]")

// slowness is how many times longer this machine takes than the one that the bounds are for: at least 1,
// and at most mostSlowness. It takes about 4 ms, and is measured when a bound is first exceeded.
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
