package main

import (
	"errors"
	"testing"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

// TestDefaultMemory: a run may use less where its container has less.
func TestDefaultMemory(t *testing.T) {
	for container, want := range map[uint64]int64{100 << 20: 94371840, 2 << 30: 1932735276, 4 << 30: bounds.DefaultMemory, 1 << 63: bounds.DefaultMemory} {
		if got := defaultMemory(func() (uint64, error) { return container, nil }); got != want {
			t.Errorf("in a container of %d bytes: %d, want %d", container, got, want)
		}
	}
	if got := defaultMemory(func() (uint64, error) { return 0, errors.New("no container") }); got != bounds.DefaultMemory {
		t.Errorf("without a container: %d", got)
	}
}
