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
	Time   time.Duration // of the run, by the clock
	Memory int64         // bytes that are alive, and of all stacks
}

// The defaults, which docs/security.md lists.
const (
	DefaultTime   = 10 * time.Minute
	DefaultMemory = 2 << 30

	// unitTime is the time that a unit may take by the clock. The slowest build of a public repository takes two
	// seconds, so that a machine with a tenth of a processor has time for it.
	unitTime = 30 * time.Second
	// mostLate is the number of units that a run abandons for their time before it is over: each keeps a processor.
	mostLate = 4
	// mostStacks is the number of bytes that all stacks together may take: a library that calls itself without end
	// takes more within a second.
	mostStacks = 128 << 20
	// grace is the time between the end of a run and that of its process, if the command has not ended by itself. A
	// run that is over by a quarter more memory than it may use ends at once.
	grace = 5 * time.Second
	// interval is the time between two measurements of memory.
	interval = 10 * time.Millisecond
)

// guard watches the units of the process.
type guard struct {
	unitTime time.Duration
	limits   Limits
	over     chan struct{} // closed when no unit may run any more

	mu      sync.Mutex
	why     string // why the run is over; "" while it is not
	ended   time.Time
	late    int // units that were abandoned for their time
	running map[*Unit]struct{}
	met     map[Unit]*Error
}

// current is the process's guard, nil until Start.
var current atomic.Pointer[guard]

// Start guards the process from now on. It calls exit, which must end the process, if the run is over and the command
// does not end by itself. Only main calls Start, once.
func Start(exit func()) {
	debug.SetMaxStack(2 * DefaultMemory) // the guard must act before Go does, which would print all goroutines
	g := newGuard()
	current.Store(g)
	began := time.Now()
	// What was alive at the last garbage collection, and all stacks.
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	go func() {
		for now := range time.Tick(interval) {
			metrics.Read(samples)
			if g.look(now, now.Sub(began), int64(samples[0].Value.Uint64()), int64(samples[1].Value.Uint64())) {
				exit()
			}
		}
	}()
}

func newGuard() *guard {
	return &guard{unitTime: unitTime, limits: Limits{DefaultTime, DefaultMemory}, over: make(chan struct{}), running: map[*Unit]struct{}{}, met: map[Unit]*Error{}}
}

// Limit replaces the guards of the run.
func Limit(l Limits) {
	if g := current.Load(); g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.limits = Limits{cmp.Or(l.Time, g.limits.Time), cmp.Or(l.Memory, g.limits.Memory)}
	}
}

// writing is the number of writes in progress.
var writing atomic.Int32

// Writing keeps the guards from acting until the returned function is called: files are being written.
func Writing() (done func()) {
	writing.Add(1)
	return sync.OnceFunc(func() { writing.Add(-1) })
}

// outcome is what became of a unit.
type outcome[T any] struct {
	value  T
	err    error
	panics error
}

func run[T any](u Unit, timed bool, work func() (T, error)) (none T, err error) {
	g := current.Load()
	if g == nil {
		return work()
	}
	if err := g.begin(&u, timed); err != nil {
		return none, err
	}
	done := make(chan outcome[T], 1)
	go func() {
		var o outcome[T]
		defer func() {
			if v := recover(); v != nil {
				o.panics = fmt.Errorf("%v\n\n%s", v, debug.Stack())
			}
			done <- o
		}()
		o.value, o.err = work()
	}()
	var late <-chan time.Time
	if timed {
		timer := time.NewTimer(g.unitTime)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case o := <-done:
		_ = g.end(&u, false)
		if o.panics != nil {
			panic(o.panics)
		}
		return o.value, o.err
	case <-late:
		return none, g.end(&u, true)
	case <-g.over:
		return none, &Error{Unit: u, What: unfinished + g.why}
	}
}

// begin notes that a unit runs. It returns an error if the run is over.
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

// end notes that a unit does not run any more. It returns an error if it was too late, and ends a run that has several
// such units.
func (g *guard) end(u *Unit, late bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, u)
	if !late {
		return nil
	}
	if g.late++; g.late == mostLate && g.why == "" {
		g.finish(time.Now(), fmt.Sprintf("has %d units that take more than %s", mostLate, g.unitTime))
	}
	return g.record(&Error{Unit: *u, What: fmt.Sprintf("takes more than %s", g.unitTime)})
}

// record adds an error to those of the run. Of several for one unit it keeps the one that counts first by its text, so
// that the order of the work does not matter. The caller holds g.mu.
func (g *guard) record(e *Error) *Error {
	if known := g.met[e.Unit]; known == nil || known.Counted && e.Counted && e.What < known.What {
		g.met[e.Unit] = e
	}
	return e
}

const unfinished = "was not finished: the run "

// finish ends the run: it abandons the units that are running, and starts no others. The caller holds g.mu.
func (g *guard) finish(now time.Time, why string) {
	g.why, g.ended = why, now
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
		return now.Sub(g.ended) > grace || used+stacks > most+most/4
	case took > g.limits.Time:
		g.finish(now, fmt.Sprintf("takes more than %s, which --timeout allows", g.limits.Time))
	case stacks > mostStacks:
		g.finish(now, "calls itself too deep")
	case used+stacks > most:
		g.finish(now, fmt.Sprintf("takes more than %d MiB of memory, which --memory allows", most>>20))
	}
	return false
}
