package helmrelease

import (
	"testing"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// TestRoom: a list that is compared takes as many HelmReleases as the limit says.
func TestRoom(t *testing.T) {
	for n, want := range map[int]bool{limits.HelmReleases - 1: true, limits.HelmReleases: false} {
		if got := (&Release{}).hasRoom(make([]*Release, n)); got != want {
			t.Errorf("beside %d there is room: %v", n, got)
		}
	}
}
