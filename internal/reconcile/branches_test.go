package reconcile

import (
	"context"
	"fmt"
	"testing"

	"github.com/fleetwright/fleetwright/internal/builds"
	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/repository"
)

// TestManyBranches: as many branches are read as the limit says.
func TestManyBranches(t *testing.T) {
	read := 0
	b := &branches{read: map[string]*branch{}, clone: func(context.Context, string, string) (*repository.Repository, error) {
		read++
		return nil, nil
	}}
	for i := range limits.Branches {
		if one := b.of(t.Context(), "", fmt.Sprintf("refs/heads/%d", i)); one.kind != builds.OtherSource {
			t.Fatalf("branch %d %s", i, one.because)
		}
	}
	if one := b.of(t.Context(), "", "refs/heads/last"); one.kind != builds.Limit || read != limits.Branches {
		t.Errorf("the last one %s; %d are read", one.because, read)
	}
}
