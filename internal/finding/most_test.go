package finding

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// TestFirst: a report holds a number of findings of each rule that people can read, says how many it leaves
// out, and never leaves one out by chance.
func TestFirst(t *testing.T) {
	var all []Finding
	for i := range limits.Findings + 3 {
		f := Finding{Rule: "many", Severity: Error, Place: Place{File: fmt.Sprintf("%05d.yaml", i)}, Message: "m"}
		all = append(all, f, f) // twice: it counts once
	}
	long := strings.Repeat("ä", limits.MessageBytes)
	all = append(all, Finding{Rule: "few", Place: Place{File: "z.yaml"}, Message: "x" + long, Hint: "short"})
	for range 2 {
		kept, left := First(all)
		if len(kept) != limits.Findings+1 || len(left) != 1 || left["many"] != 3 {
			t.Fatalf("kept %d, left %v", len(kept), left)
		}
		if last := kept[limits.Findings-1].File; last != fmt.Sprintf("%05d.yaml", limits.Findings-1) {
			t.Errorf("the last one is of %s", last)
		}
		few := Shown(kept)[limits.Findings]
		if want := "x" + long[:limits.MessageBytes-2] + fmt.Sprintf("… (%d bytes in all)", len(long)+1); few.Message != want || few.Hint != "short" {
			t.Errorf("the message ends with %q", few.Message[len(few.Message)-40:])
		}
		all = all[1:]
		all = append(all, all[0]) // in another order
	}
}
