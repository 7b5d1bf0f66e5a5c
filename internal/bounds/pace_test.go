package bounds

import (
	"testing"
	"time"
)

// TestPace: on a slower machine a unit may take as much longer, and messages say the same.
func TestPace(t *testing.T) {
	if s := slowness(); s < 1 || s > mostSlowness {
		t.Errorf("this machine is %.1f times slower", s)
	}
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
	m := newMonitor(state{}, func(s state) error { next = s; return nil }, nil)
	m.over(time.Hour, time.Second)
	if m.again(state{}, "the run takes too much"); next.Slow < 1 {
		t.Errorf("the next image is told %.1f", next.Slow)
	}
}
