package bounds

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a unit and of a run. The times are CPU time on the reference machine of slowness; on a machine that is slower
// or busy, they are longer. docs/security.md says how close public repositories come to them.
const (
	// unitTime is the CPU time that a unit may take, and unitTimePerByte the additional time for each byte of
	// YAML in the repository: kustomize needs about 1 µs for each byte that it builds, and more
	// for each object the more objects a build has.
	unitTime        = raceFactor * 30 * time.Second
	unitTimePerByte = raceFactor * 600 * time.Nanosecond
	// runTime is the CPU time that the whole run may take, and runTimePerByte the additional time for each byte:
	// the run parses, builds and checks the whole repository.
	runTime        = raceFactor * 10 * time.Minute
	runTimePerByte = raceFactor * 2 * time.Microsecond

	// runTimeouts is the number of units that may use up the time of --timeout.
	runTimeouts = 4

	// memory is the number of bytes that may be in use, and memoryPerByte the additional bytes for each byte of the repository.
	memory        = 2 << 30
	memoryPerByte = 50
	// stacks is the number of bytes that all stacks together may take: beyond 1 GB Go ends the process.
	stacks = 128 << 20

	// interval is the time between two measurements of the watchdog.
	interval = 10 * time.Millisecond
)

// Limits replace the bounds that grow with the repository; zero keeps a bound.
type Limits struct {
	// Time is the wall-clock time of the run. A unit may use a quarter of it.
	Time time.Duration
	// Memory is the number of bytes that may be in use.
	Memory int64
}

// monitor watches the units of the process.
type monitor struct {
	limits atomic.Pointer[Limits]
	input  atomic.Int64
	more   atomic.Int64 // bytes of input by which only the run's bounds grow
	state  state
	// confinement returns what the next image may do; nil allows everything.
	confinement atomic.Pointer[func() Confinement]
	// restart replaces the process; it returns only errors.
	restart func(state) error
	// giveUp ends the process with a message.
	giveUp func(message string)

	// slow returns the machine's slowness, measured at the first call.
	slow func() float64

	used  atomic.Int64 // nanoseconds of CPU time of the process
	heap  atomic.Int64 // bytes of objects and stacks
	watch sync.Once
	turns chan struct{} // turns and rules let units, and rules, run one at a time if state.Serial is set
	rules chan struct{}

	mu     sync.Mutex
	active map[*running]struct{}
	met    map[Unit]*Error
	kinds  time.Duration // CPU time of all units of the kinds in many
	samples
}

// running is a unit that has started.
type running struct {
	unit   Unit
	thread int
	cpu    time.Duration // CPU time of the thread when the unit started
	heap   int64
}

func newMonitor(s state, restart func(state) error, giveUp func(string)) *monitor {
	m := &monitor{state: s, restart: restart, giveUp: giveUp, active: map[*running]struct{}{}, met: map[Unit]*Error{}, samples: newSamples()}
	m.limits.Store(&Limits{})
	m.slow = sync.OnceValue(func() float64 {
		if s.Slow > 0 {
			return s.Slow
		}
		return slowness()
	})
	if s.Serial {
		m.turns, m.rules = make(chan struct{}, 1), make(chan struct{}, 1)
	}
	return m
}

func (m *monitor) do(u Unit, work func() error) error {
	if err := m.refused(u); err != nil {
		return err
	}
	m.watch.Do(func() { go m.loop() })
	// The CPU time of a unit is that of its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &running{unit: u, thread: thread()}
	turns := m.turns
	if u.Kind == ruleKind {
		turns = m.rules
	}
	if turns != nil && (u.Kind == ruleKind || !m.nested(r.thread)) {
		turns <- struct{}{}
		defer func() { <-turns }()
	}
	r.cpu, r.heap = threadTime(r.thread), m.heap.Load()
	m.mu.Lock()
	m.active[r] = struct{}{}
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		delete(m.active, r)
		if many[u.Kind] {
			m.kinds += threadTime(r.thread) - r.cpu
		}
		m.mu.Unlock()
	}()
	return work()
}

// nested reports whether a unit of the thread is running.
func (m *monitor) nested(thread int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for r := range m.active {
		if r.thread == thread && r.unit.Kind != ruleKind {
			return true
		}
	}
	return false
}

// Kinds of units that start even if the run has exceeded its bounds: files are read, and rules use only what is
// already known. A rule starts other units, so it may take as long as a run; so may a rendering.
const (
	ruleKind      = "rule"
	fileKind      = "file"
	revisionKind  = "revision"
	readingKind   = "reading"
	renderingKind = "rendering"
)

// alwaysStarted are the kinds of units that start even if the run has exceeded its bounds.
var alwaysStarted = map[string]bool{ruleKind: true, fileKind: true, revisionKind: true, readingKind: true}

// timeOf returns the CPU time that a unit of a kind may take.
func (m *monitor) timeOf(kind string) time.Duration {
	if kind == ruleKind || kind == renderingKind {
		return m.runTime()
	}
	return m.unitTime()
}

// refused returns why a unit must not start, or nil if it may.
func (m *monitor) refused(u Unit) error {
	for i := range m.state.Refused {
		if e := m.state.Refused[i]; e.Unit == u {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.met[u] = &e
			return &e
		}
	}
	what := ""
	if m.state.Blind || !alwaysStarted[u.Kind] {
		what = m.whyNoMore(u.Kind)
		if m.state.Exhausted != "" {
			what = "the run " + m.state.Exhausted
		} else if most := m.runTime(); m.over(time.Duration(m.used.Load()), most) {
			what = fmt.Sprintf("the run takes more than %s of CPU time", rounded(most))
		}
	}
	if what == "" {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// There is one entry for each kind, with the first unit that was refused.
	key := Unit{Kind: u.Kind}
	e := m.met[key]
	if e == nil {
		e = &Error{Unit: u, What: "was not begun: " + what}
		m.met[key] = e
	}
	e.Left++
	return e
}

// many are the kinds with many small units in a run. All units of these kinds together may take twice the time of one
// unit, because each reads definitions that the repository contains.
var many = map[string]bool{"schema": true, "document": true}

// whyNoMore returns why no more units of a kind start, or "" if they do.
func (m *monitor) whyNoMore(kind string) string {
	if !many[kind] {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if most := 2 * m.unitTime(); m.over(m.kinds, most) {
		return fmt.Sprintf("the schemas of the repository take more than %s of CPU time", rounded(most))
	}
	return ""
}

// over reports whether a CPU time exceeds a bound, adjusted to the speed of this machine.
func (m *monitor) over(took, most time.Duration) bool {
	return took > most && (m.limits.Load().Time > 0 || float64(took) > float64(most)*m.slow())
}

// unitTime returns the CPU time that a unit may take.
func (m *monitor) unitTime() time.Duration {
	if own := m.limits.Load().Time; own > 0 {
		return own / runTimeouts
	}
	return unitTime + time.Duration(m.input.Load())*unitTimePerByte
}

// runTime returns the CPU time that the run may take.
func (m *monitor) runTime() time.Duration {
	if own := m.limits.Load().Time; own > 0 {
		return own * time.Duration(runtime.GOMAXPROCS(0)) // the wall clock ends the run earlier
	}
	return runTime + time.Duration(m.input.Load()+m.more.Load())*runTimePerByte
}

// memory returns the number of bytes that may be in use.
func (m *monitor) memory() int64 {
	if own := m.limits.Load().Memory; own > 0 {
		return own
	}
	return memory + (m.input.Load()+m.more.Load())*memoryPerByte
}

func (m *monitor) loop() {
	for {
		time.Sleep(interval)
		m.look()
	}
}

// look measures time and memory once, and ends what exceeds its bounds.
func (m *monitor) look() {
	used := processTime()
	m.used.Store(int64(used))
	objects, stack := m.read()
	alive := m.alive(objects)
	m.heap.Store(objects + stack)
	m.mu.Lock()
	defer m.mu.Unlock()
	if own := m.limits.Load().Time; own > 0 && time.Since(m.state.Began) > own && m.state.Exhausted == "" {
		next := m.state
		next.Exhausted, next.Blind = fmt.Sprintf("takes more than %s, which --timeout allows", own), true
		m.again(next, "the run "+next.Exhausted)
		return
	}
	if late := m.late(); late != nil {
		m.exceeded(late, fmt.Sprintf("takes more than %s of CPU time", rounded(m.timeOf(late[0].unit.Kind))))
		return
	}
	if most := m.runTime(); m.over(used-m.state.Used, 2*most) || m.squanders(used, most) {
		m.overdue(fmt.Sprintf("takes more than %s of CPU time", rounded(most)))
		return
	}
	if bytes := m.memory(); alive > bytes || stack > stacks {
		m.tooLarge(bytes, stack > stacks)
	}
}

// tooLarge ends the unit that takes too much memory. If several units are running, the next image
// runs one at a time and finds it.
func (m *monitor) tooLarge(bytes int64, deep bool) {
	what := fmt.Sprintf("takes more than %d MB of memory", bytes>>20)
	if deep {
		what = "calls itself too deep"
	}
	var largest *running
	under := 0
	rules := m.onlyRules()
	for r := range m.active {
		if r.unit.Kind == ruleKind && !rules {
			continue // it waits for the units that it started
		}
		under++
		if largest == nil || r.heap >= largest.heap { // the innermost: it started last
			largest = r
		}
	}
	switch {
	case largest == nil:
		m.exhausted(what)
	case m.turns == nil && under > 1:
		next := m.state
		next.Serial = true
		m.again(next, what)
	default:
		m.exceeded([]*running{largest}, what)
	}
}

// onlyRules reports whether only rules are running.
func (m *monitor) onlyRules() bool {
	for r := range m.active {
		if r.unit.Kind != ruleKind {
			return false
		}
	}
	return true
}

// late returns the running units that exceed their CPU time. It adds those that have used most of their time,
// because each restart for a single unit costs as much again.
func (m *monitor) late() []*running {
	var all []*running
	over := false
	for r := range m.active {
		took, most := threadTime(r.thread)-r.cpu, m.timeOf(r.unit.Kind)
		over = over || m.over(took, most)
		if m.over(took, most*3/4) {
			all = append(all, r)
		}
	}
	// Of nested units, only the innermost is refused.
	taken := slices.Clone(all)
	all = slices.DeleteFunc(all, func(outer *running) bool {
		return slices.ContainsFunc(taken, func(r *running) bool { return r.thread == outer.thread && r.cpu > outer.cpu })
	})
	if !over {
		return nil
	}
	return all
}

// squanders reports whether a run with refused units has used up its time while a running unit has used half of its
// own: refusing that unit keeps the remaining units from being refused for the run's time.
func (m *monitor) squanders(used, most time.Duration) bool {
	if len(m.state.Refused) == 0 || m.state.Exhausted != "" || !m.over(used, most) {
		return false
	}
	for r := range m.active {
		if took := threadTime(r.thread) - r.cpu; r.unit.Kind != ruleKind && r.unit.Kind != fileKind && m.over(took, m.timeOf(r.unit.Kind)/2) {
			return true
		}
	}
	return false
}

// overdue ends a run that has taken twice its time: the next image starts only rules, and the image after
// that starts none of the rules that were running then.
func (m *monitor) overdue(what string) {
	if m.state.Exhausted == "" {
		m.exhausted(what)
		return
	}
	var rules []*running
	for r := range m.active {
		if r.unit.Kind == ruleKind {
			rules = append(rules, r)
		}
	}
	if len(rules) == 0 {
		m.exhausted(what)
		return
	}
	m.exceeded(rules, "is part of a run that "+what)
}

// exceeded refuses units from now on: it starts the process again without them.
func (m *monitor) exceeded(units []*running, what string) {
	next := m.state
	next.Refused = next.Refused[:len(next.Refused):len(next.Refused)]
	for _, r := range units {
		next.Refused = append(next.Refused, Error{Unit: r.unit, What: what})
	}
	m.again(next, next.Refused[len(next.Refused)-1].Error())
}

// exhausted ends a run that has used up its time or memory: the next image reads files and runs rules,
// and starts no other unit. If that is too much as well, the image after it starts none at all.
func (m *monitor) exhausted(what string) {
	next := m.state
	switch {
	case next.Exhausted == "":
		next.Exhausted = what
	case !next.Blind:
		next.Blind = true
	default:
		m.giveUp("the run " + what + " before any work has begun")
		return
	}
	m.again(next, "the run "+what)
}

// mostRestarts is the maximum number of restarts of a run: the last image only reports.
const mostRestarts = 12

// again starts the process again, or ends it with a message.
func (m *monitor) again(next state, why string) {
	next.Restarts++
	next.Used = timeKept()
	next.Slow = m.slow()
	if next.Restarts > mostRestarts {
		m.giveUp(fmt.Sprintf("%s, after %d others", why, mostRestarts))
		return
	}
	if next.Restarts == mostRestarts && !next.Blind {
		next.Blind, next.Exhausted = true, cmp.Or(next.Exhausted, fmt.Sprintf("has %d units that take too much", mostRestarts))
	}
	if err := m.restart(next); err != nil {
		m.giveUp(fmt.Sprintf("%s, and the run cannot go on without it: %v", why, err))
	}
}

// alive returns the number of bytes in use, or 0 if they cannot exceed the bound. To measure them it
// collects garbage, each time that the objects have grown by a third.
func (m *monitor) alive(objects int64) int64 {
	bytes := m.memory()
	if objects <= bytes || objects < m.collected+m.collected/3 {
		return 0
	}
	// Bytes that were allocated since then may be garbage; waiting for another collection would let them grow too far.
	runtime.GC()
	m.read()
	m.collected = int64(m.metrics[2].Value.Uint64())
	return m.collected
}

// samples reads the memory of the process.
type samples struct {
	metrics []metrics.Sample
	// collected is the size of the objects at the last garbage collection here, in bytes.
	collected int64
}

func newSamples() samples {
	return samples{metrics: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/gc/heap/live:bytes"}}}
}

// read returns the size of all objects, garbage included, and of all stacks, in bytes.
func (s *samples) read() (objects, stack int64) {
	metrics.Read(s.metrics)
	return int64(s.metrics[0].Value.Uint64()), int64(s.metrics[1].Value.Uint64())
}

func rounded(d time.Duration) time.Duration {
	if d > 10*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(100 * time.Millisecond)
}
