//go:build hostile

package tenant

import (
	"runtime"
	"testing"
)

// TestCostIsLinear: ten times the tenants allocate about ten times as often.
func TestCostIsLinear(t *testing.T) {
	allocated := func(n int) float64 {
		spec := many(t, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		generate(t, spec)
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs - before.Mallocs)
	}
	allocated(10) // fills the caches of the encoder
	small, large := allocated(30), allocated(300)
	if ratio := large / small; ratio > 11 {
		t.Errorf("10× the tenants allocate %.1f× as often", ratio)
	}
}
