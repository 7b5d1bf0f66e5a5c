package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/fleetwright/fleetwright/internal/bounds"
)

// Write is a plan and its folder.
type Write struct {
	Dir  string
	Plan *Plan
}

// sideBySide is the number of folders that are written at the same time: they share the waits for the
// disk. More folders would only wait for locks.
const sideBySide = 32

// ApplyAll applies each plan to its folder, as Apply does: each folder gets all of its plan or
// nothing. It continues after an error, and joins the errors in the order of the writes. Folders on
// the same file system share its syncs.
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

// ApplyTogether applies plans to folders, all of them or none: it first checks that each of them can be applied.
func ApplyTogether(ctx context.Context, writes []Write) error {
	type begun struct {
		*session
		journal *journal
	}
	var all []begun
	defer bounds.Writing()()
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
			err = one.revert(err)
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

// sharedDisk is a disk whose folders share syncs.
type sharedDisk struct {
	disk
	rounds *rounds
}

var _ fsys = sharedDisk{}

func (d sharedDisk) syncAll([]string) error   { return d.rounds.sync(d.syncFS) }
func (d sharedDisk) syncFile(string) error    { return d.rounds.sync(d.syncFS) }
func (d sharedDisk) syncDirs(...string) error { return d.rounds.sync(d.syncFS) }

// rounds lets goroutines that wait for a sync share one. A request during a sync is served by the next sync, which starts
// after everything that was written before the request.
type rounds struct {
	turn sync.Mutex // held while a sync runs
	mu   sync.Mutex
	next *round // the round of the next sync; nil if no goroutine waits
}

type round struct {
	done chan struct{}
	err  error
}

// sync returns after a call of run that started after sync was called.
func (s *rounds) sync(run func() error) error {
	r, first := s.join()
	if first {
		s.lead(r, run)
	}
	<-r.done
	return r.err
}

// join returns the next round, and whether the caller is the first in it and must lead it.
func (s *rounds) join() (r *round, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = s.next == nil
	if first {
		s.next = &round{done: make(chan struct{})}
	}
	return s.next, first
}

// lead waits for the sync that runs, if any, closes the round to further goroutines, and calls run once. The round keeps its error
// for all goroutines that joined it.
func (s *rounds) lead(r *round, run func() error) {
	s.turn.Lock()
	s.mu.Lock()
	s.next = nil
	s.mu.Unlock()
	r.err = run()
	s.turn.Unlock()
	close(r.done)
}
