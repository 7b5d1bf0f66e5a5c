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

// Bounds of a unit and of a run. The times are CPU time, of a machine of the pace that slowness
// compares with: one that is slower, or has much else to do, refuses no more. docs/security.md says how
// near to them public repositories come.
const (
	// unitTime is what a unit may take, and unitTimePerByte what it may take on top for each byte of
	// YAML in the repository: kustomize needs about 1 µs for each byte that it builds, and more than
	// that for each object the more there are in a build.
	unitTime        = raceFactor * 600 * time.Millisecond
	unitTimePerByte = raceFactor * 600 * time.Nanosecond
	// runTime is what the whole run may take, and runTimePerByte what it may take on top for each byte:
	// it parses, builds and judges all of the repository.
	runTime        = 4 * unitTime
	runTimePerByte = raceFactor * 2 * time.Microsecond

	// runTimeouts is how many units --timeout is for.
	runTimeouts = 4

	// memory is the bytes that may be alive, and memoryPerByte those for each byte of the repository.
	memory        = 160 << 20
	memoryPerByte = 50
	// stacks is the bytes that all stacks together may take: beyond 1 GB Go ends the process.
	stacks = 128 << 20

	// interval is how often the watchdog looks.
	interval = 10 * time.Millisecond
)

// Limits replace the bounds that grow with the repository; zero keeps those.
type Limits struct {
	// Time is the wall-clock time that the run may take. A unit may take a quarter of it.
	Time time.Duration
	// Memory is the bytes that may be alive.
	Memory int64
}

// monitor watches the units of the process.
type monitor struct {
	limits atomic.Pointer[Limits]
	input  atomic.Int64
	more   atomic.Int64 // input that only the run's bounds grow with
	state  state
	// confinement says what the next image may do; nil is everything.
	confinement atomic.Pointer[func() Confinement]
	// restart replaces the process; it returns only errors.
	restart func(state) error
	// give up ends the process with a message.
	giveUp func(message string)

	// slow is the machine's slowness, measured when it is first asked for.
	slow func() float64

	used  atomic.Int64 // nanoseconds of CPU time of the process
	heap  atomic.Int64 // bytes of objects and stacks
	watch sync.Once
	turns chan struct{} // of units, where they run one at a time; rules have turns of their own
	rules chan struct{}

	mu     sync.Mutex
	active map[*running]struct{}
	met    map[Unit]*Error
	kinds  time.Duration // that units of many took
	samples
}

// running is a unit that has begun.
type running struct {
	unit   Unit
	thread int
	cpu    time.Duration // of the thread when it began
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

// nested says whether a unit of the thread is under way.
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

// Kinds of units that are begun whatever the run has taken: files are read, and rules look at what is
// known. A rule begins other units, and may take as long as a run, as a rendering may.
const (
	ruleKind      = "rule"
	fileKind      = "file"
	renderingKind = "rendering"
)

// revisionKind is read by its name, as a rule is.
const revisionKind = "revision"

// timeOf is the CPU time that a unit of a kind may take.
func (m *monitor) timeOf(kind string) time.Duration {
	if kind == ruleKind || kind == renderingKind {
		return m.runTime()
	}
	return m.unitTime()
}

// refused returns why a unit is not begun, nil when it is.
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
	if m.state.Blind || u.Kind != ruleKind && u.Kind != fileKind {
		what = m.muchOf(u.Kind)
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
	// One entry for each kind, with the first unit that was met.
	key := Unit{Kind: u.Kind}
	e := m.met[key]
	if e == nil {
		e = &Error{Unit: u, What: "was not begun: " + what}
		m.met[key] = e
	}
	e.Left++
	return e
}

// many are the kinds of which a run has many small units, and which may take together twice what one
// unit may: each looks at definitions that the repository brings.
var many = map[string]bool{"schema": true, "document": true}

// muchOf returns why no more units of a kind are begun, "" where they are.
func (m *monitor) muchOf(kind string) string {
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

// over says whether a CPU time is more than a bound, on a machine of this pace.
func (m *monitor) over(took, most time.Duration) bool {
	return took > most && (m.limits.Load().Time > 0 || float64(took) > float64(most)*m.slow())
}

// unitTime is the CPU time that a unit may take.
func (m *monitor) unitTime() time.Duration {
	if own := m.limits.Load().Time; own > 0 {
		return own / runTimeouts
	}
	return unitTime + time.Duration(m.input.Load())*unitTimePerByte
}

// runTime is the CPU time that the run may take.
func (m *monitor) runTime() time.Duration {
	if own := m.limits.Load().Time; own > 0 {
		return own * time.Duration(runtime.GOMAXPROCS(0)) // the clock ends it before
	}
	return runTime + time.Duration(m.input.Load()+m.more.Load())*runTimePerByte
}

// memory is the bytes that may be alive.
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

// look measures once.
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
	if most := m.runTime(); m.over(used-m.state.Used, 2*most) {
		m.overdue(fmt.Sprintf("takes more than %s of CPU time", rounded(most)))
		return
	}
	if bytes := m.memory(); alive > bytes || stack > stacks {
		m.tooLarge(bytes, stack > stacks)
	}
}

// tooLarge ends the unit that takes too much memory. Where several are under way, the next image
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
			continue // it waits for what it began
		}
		under++
		if largest == nil || r.heap >= largest.heap { // the innermost: it began last
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

// onlyRules says whether no units but rules are under way.
func (m *monitor) onlyRules() bool {
	for r := range m.active {
		if r.unit.Kind != ruleKind {
			return false
		}
	}
	return true
}

// late returns the units under way that take more CPU time than they may, and with them those that
// have taken most of theirs: each image that ends for one unit alone costs as much again.
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
	// Of units within one another, the innermost is to blame.
	taken := slices.Clone(all)
	all = slices.DeleteFunc(all, func(outer *running) bool {
		return slices.ContainsFunc(taken, func(r *running) bool { return r.thread == outer.thread && r.cpu > outer.cpu })
	})
	if !over {
		return nil
	}
	return all
}

// overdue ends a run that has taken twice what it may: the next image begins no more units but rules,
// and the one after it none of the rules that were under way then.
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

// exceeded refuses units from now on.
func (m *monitor) exceeded(units []*running, what string) {
	next := m.state
	next.Refused = next.Refused[:len(next.Refused):len(next.Refused)]
	for _, r := range units {
		next.Refused = append(next.Refused, Error{Unit: r.unit, What: what})
	}
	m.again(next, next.Refused[len(next.Refused)-1].Error())
}

// exhausted ends a run that has used up what it may take: the next image reads files and runs rules,
// and begins no other unit. Where that is too much as well, the one after it begins none at all.
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

// mostRestarts bounds how often a run begins again: the last image only reports.
const mostRestarts = 12

// again starts the process again, or says why it ends.
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

// alive returns the bytes that are alive, 0 where all objects are fewer than may be: garbage is
// collected to know, each time that the objects have grown by a third.
func (m *monitor) alive(objects int64) int64 {
	bytes := m.memory()
	if objects <= bytes || objects < m.collected+m.collected/3 {
		return 0
	}
	runtime.GC()
	m.collected, _ = m.read()
	return m.collected
}

// samples read the memory of the process.
type samples struct {
	metrics []metrics.Sample
	// collected are the bytes of the objects when garbage was last collected here.
	collected int64
}

func newSamples() samples {
	return samples{metrics: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}}
}

// read returns the bytes of objects, garbage among them, and those of stacks.
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
