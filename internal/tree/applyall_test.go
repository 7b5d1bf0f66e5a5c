package tree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestApplyAll(t *testing.T) {
	dir := t.TempDir()
	var writes []Write
	for i := range 300 {
		writes = append(writes, Write{Dir: filepath.Join(dir, fmt.Sprint(i)), Plan: onePlan(t, fmt.Sprint(i))})
	}
	if err := ApplyAll(t.Context(), writes); err != nil {
		t.Fatal(err)
	}
	for i, w := range writes {
		got, err := os.ReadFile(filepath.Join(w.Dir, "a/b.yaml"))
		if err != nil || string(got) != fmt.Sprint(i) {
			t.Fatalf("%s: %q (%v)", w.Dir, got, err)
		}
		if _, err := os.Stat(filepath.Join(w.Dir, workFolder)); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%s: the working folder is left (%v)", w.Dir, err)
		}
	}
}

func onePlan(t *testing.T, content string) *Plan {
	t.Helper()
	desired := &Tree{}
	if err := desired.Add(File{Path: "a/b.yaml", Mode: Managed, Content: []byte(content)}); err != nil {
		t.Fatal(err)
	}
	p, err := Compare(desired, Memory{}, &Inventory{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// One folder that cannot be written to does not keep the others from it.
func TestApplyAllGoesOn(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "file")
	if err := os.WriteFile(bad, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := ApplyAll(t.Context(), []Write{{bad, onePlan(t, "x")}, {filepath.Join(dir, "good"), onePlan(t, "y")}})
	if err == nil || !strings.Contains(err.Error(), "file") {
		t.Errorf("error: %v", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "good/a/b.yaml")); err != nil || string(got) != "y" {
		t.Errorf("the good folder: %q (%v)", got, err)
	}
}

// Whoever waits is served by a sync that began after they asked, one at a time.
func TestRounds(t *testing.T) {
	var r rounds
	var runs, running atomic.Int64
	var group sync.WaitGroup
	for range 500 {
		group.Go(func() {
			began := int64(-1)
			before := runs.Load()
			err := r.sync(func() error {
				if running.Add(1) != 1 {
					t.Error("two syncs at a time")
				}
				began = runs.Add(1)
				runtime.Gosched()
				running.Add(-1)
				return nil
			})
			if err != nil || began == -1 && runs.Load() <= before {
				t.Errorf("served by no later sync (%v)", err)
			}
		})
	}
	group.Wait()
	failed := errors.New("disk")
	if err := r.sync(func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("error: %v", err)
	}
}

// Those who ask before a sync begins share it, and who asks later waits for the next.
func TestRoundsAreShared(t *testing.T) {
	var r rounds
	one, leads := r.join()
	two, follows := r.join()
	if one != two || !leads || follows {
		t.Errorf("%v and %v are in rounds %p and %p", leads, follows, one, two)
	}
	failed := errors.New("disk")
	r.lead(one, func() error {
		if late, leads := r.join(); late == one || !leads {
			t.Error("served by a sync that began before")
		}
		return failed
	})
	<-two.done
	if !errors.Is(two.err, failed) {
		t.Errorf("error: %v", two.err)
	}
}
