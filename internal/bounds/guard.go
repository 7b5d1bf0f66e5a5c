package bounds

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// Limits are the guards of a run. Zero keeps the default.
type Limits struct {
	Unit   time.Duration // of a unit, by the clock
	Time   time.Duration // of the run, by the clock
	Memory int64         // bytes that are alive, and of all stacks
}

// The guards, which docs/security.md compares with the time and memory that public repositories need.
const (
	DefaultTime   = 10 * time.Minute
	DefaultMemory = 2 << 30          // bytes
	unitTime      = 30 * time.Second // of a unit, by the clock
	mostLate      = 4                // units that may take longer: each keeps a processor busy
	mostStacks    = 128 << 20        // bytes: a library that calls itself without end takes more within a second
	grace         = 5 * time.Second  // for a command to end after the run is over
	interval      = 10 * time.Millisecond
	unfinished    = "was not finished: the run "
)

// guard watches the units of the process.
type guard struct {
	limits Limits
	over   chan struct{} // closed when no more units may run

	mu      sync.Mutex
	why     string    // why the run is over; "" while it is not
	ended   time.Time // when that was noticed
	late    int       // units that were abandoned for their time
	running map[*Unit]struct{}
	met     map[Unit]*Error
}

// current is the process's guard, nil until Start.
var current atomic.Pointer[guard]

// Start guards a process that began at a time. It calls exit, which must end the process, if the run is over and the command
// does not end by itself. Only main calls Start, once.
func Start(began time.Time, exit func()) {
	debug.SetMaxStack(2 * DefaultMemory) // the guard must act before Go does, which would print all goroutines
	g := newGuard()
	current.Store(g)
	// The memory alive at the last garbage collection, and all stacks.
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	go func() {
		for now := range time.Tick(interval) {
			metrics.Read(samples)
			if g.look(now, now.Sub(began), int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())) && writing.Load() == 0 {
				exit()
			}
		}
	}()
}

func newGuard() *guard {
	return &guard{limits: Limits{unitTime, DefaultTime, DefaultMemory}, over: make(chan struct{}), running: map[*Unit]struct{}{}, met: map[Unit]*Error{}}
}

// Limit replaces the limits of the run that l sets.
func Limit(l Limits) {
	if g := current.Load(); g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.limits = Limits{cmp.Or(l.Unit, g.limits.Unit), cmp.Or(l.Time, g.limits.Time), cmp.Or(l.Memory, g.limits.Memory)}
	}
}

// writing is the number of writes in progress.
var writing atomic.Int32

// Writing keeps the guards from acting until the returned function is called: files are being written.
func Writing() (done func()) {
	writing.Add(1)
	return sync.OnceFunc(func() { writing.Add(-1) })
}

func run[T any](u Unit, timed bool, work func() (T, error)) (none T, err error) {
	g := current.Load()
	if g == nil {
		return work()
	}
	if err := g.begin(&u, timed); err != nil {
		return none, err
	}
	var value T // value and failed are read only when the work is done
	var failed, panicked error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				panicked = fmt.Errorf("%v\n\n%s", v, debug.Stack())
			}
		}()
		value, failed = work()
	}()
	var late <-chan time.Time
	if timed {
		timer := time.NewTimer(g.limits.Unit)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-done:
		_ = g.end(&u, false)
		if panicked != nil {
			panic(panicked)
		}
		return value, failed
	case <-late:
		return none, g.end(&u, true)
	case <-g.over:
		return none, &Error{Unit: u, What: unfinished + g.why}
	}
}

// begin records that a unit runs. It returns an error if the run is over.
func (g *guard) begin(u *Unit, timed bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why != "" {
		return &Error{Unit: *u, What: "was not started: the run " + g.why}
	}
	if timed {
		g.running[u] = struct{}{}
	}
	return nil
}

// end records that a unit does not run any more. It returns an error if the unit was too late, and ends the run if several
// units were.
func (g *guard) end(u *Unit, late bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, u)
	if !late {
		return nil
	}
	g.late++
	e := &Error{Unit: *u, Slow: true, What: fmt.Sprintf("takes more than %s", g.limits.Unit)}
	g.record(e)
	return e
}

// record adds an error to those of the run: one for each unit, whatever the order of the work. The caller holds g.mu.
func (g *guard) record(e *Error) {
	if known := g.met[e.Unit]; known == nil || known.Counted && e.Counted && e.What < known.What {
		g.met[e.Unit] = e
	}
}

// finish ends the run: it abandons the units that are running, and starts no others. The caller holds g.mu.
func (g *guard) finish(why string) {
	g.why = why
	g.record(&Error{Unit: Unit{Kind: "run"}, What: why + ": not everything was checked"})
	for u := range g.running {
		g.record(&Error{Unit: *u, What: unfinished + why})
	}
	close(g.over)
}

// look ends a run that takes more time or memory than it may. It reports whether the process must end, because the run
// is over and the command does not end by itself.
func (g *guard) look(now time.Time, took time.Duration, used, stacks int64) (exit bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	most := g.limits.Memory
	switch {
	case writing.Load() > 0:
	case g.why != "":
		if g.ended.IsZero() {
			g.ended = now
		}
		return now.Sub(g.ended) > grace || used+stacks > most+most/8
	case g.late >= mostLate:
		g.finish(fmt.Sprintf("has %d units that take more than %s", mostLate, g.limits.Unit))
	case took > g.limits.Time:
		g.finish(fmt.Sprintf("takes more than %s, which --timeout allows", g.limits.Time))
	case stacks > mostStacks:
		g.finish("calls itself too deep")
	case used+stacks > most:
		g.finish(fmt.Sprintf("takes more than %d MiB of memory, which --memory allows", most>>20))
	}
	return false
}
