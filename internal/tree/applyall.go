package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Write is a plan and the folder that it is for.
type Write struct {
	Dir  string
	Plan *Plan
}

// sideBySide is how many folders are written to at a time: they wait for the disk
// together. More of them only wait for each other's locks.
const sideBySide = 32

// ApplyAll applies each plan to its folder, as Apply does: each folder gets all
// of its plan or nothing. It goes on after an error, and joins the errors in the
// order of the writes.
//
// Many folders are on one file system, so that they share its syncs.
func ApplyAll(ctx context.Context, writes []Write) error {
	open := newDisk
	if len(writes) > 1 {
		shared := &rounds{}
		open = func(root *os.Root) fsys { return sharedDisk{disk{root}, shared} }
	}
	errs := make([]error, len(writes))
	places := make(chan struct{}, sideBySide)
	var group sync.WaitGroup
	for i, w := range writes {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			if err := applyWith(ctx, w.Dir, w.Plan, open); err != nil {
				errs[i] = fmt.Errorf("writing %q: %w", w.Dir, err)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// ApplyTogether applies plans to folders when it is sure that each of them can be:
// where one cannot be, none is.
func ApplyTogether(ctx context.Context, writes []Write) error {
	type begun struct {
		*session
		journal *journal
	}
	var all []begun
	for _, w := range writes {
		if w.Plan.Empty() {
			continue
		}
		s, j, err := begin(ctx, w.Dir, w.Plan, newDisk)
		if err != nil {
			for _, other := range all {
				err = errors.Join(err, other.finish())
			}
			return err
		}
		all = append(all, begun{s, j})
	}
	for i, one := range all {
		if err := one.decide(one.journal); err != nil {
			err = one.takeBack(err)
			for _, other := range all[i+1:] {
				err = errors.Join(err, other.finish())
			}
			for _, other := range all[:i] {
				err = errors.Join(err, other.carryOut(other.journal, true))
			}
			return err
		}
	}
	var failed error
	for _, one := range all {
		failed = errors.Join(failed, one.carryOut(one.journal, true))
	}
	return failed
}

// sharedDisk syncs in rounds that folders share.
type sharedDisk struct {
	disk
	rounds *rounds
}

var _ fsys = sharedDisk{}

func (d sharedDisk) syncAll([]string) error   { return d.rounds.sync(d.syncFS) }
func (d sharedDisk) syncFile(string) error    { return d.rounds.sync(d.syncFS) }
func (d sharedDisk) syncDirs(...string) error { return d.rounds.sync(d.syncFS) }

// rounds lets those who wait for a sync share one: whoever asks while a sync runs
// is served by the next, whose start is after everything that they have written.
type rounds struct {
	turn sync.Mutex // held while a sync runs
	mu   sync.Mutex
	next *round // which the next sync serves; nil when nobody waits
}

type round struct {
	done chan struct{}
	err  error
}

// sync returns when a run of the function that began after the call has ended.
func (s *rounds) sync(run func() error) error {
	s.mu.Lock()
	r := s.next
	first := r == nil
	if first {
		r = &round{done: make(chan struct{})}
		s.next = r
	}
	s.mu.Unlock()
	if first {
		s.turn.Lock()
		s.mu.Lock()
		s.next = nil
		s.mu.Unlock()
		r.err = run()
		s.turn.Unlock()
		close(r.done)
	}
	<-r.done
	return r.err
}
