package bounds

import (
	"testing"
)

// TestPace: on a slower machine a unit may take as much longer, and the next image knows it.
func TestPace(t *testing.T) {
	for slow, want := range map[float64]bool{1: true, 2: true, 3.5: false} {
		m := newMonitor(state{Slow: slow}, nil, nil)
		if got := m.over(3*unitTime, unitTime); got != want {
			t.Errorf("%.1f times slower: %v, want %v", slow, got, want)
		}
		if got := m.over(unitTime, unitTime); got {
			t.Errorf("%.1f times slower: what is within the bound exceeds it", slow)
		}
	}
	var next state
	m := newMonitor(state{Slow: 2.5}, func(s state) error { next = s; return nil }, nil)
	if m.again(state{}, "the run takes too much"); next.Slow != 2.5 {
		t.Errorf("the next image is told %.1f", next.Slow)
	}
}
