package bounds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// bombVariable makes the test program a run with units of its own.
const bombVariable = "BOUNDS_TEST_RUN"

func TestMain(m *testing.M) {
	if kind := os.Getenv(bombVariable); kind != "" {
		os.Exit(bomb(kind))
	}
	os.Exit(m.Run())
}

// Variables that make that run confine itself: to a folder, in which it changes files or doesn't.
const (
	readVariable   = "BOUNDS_TEST_READ"
	changeVariable = "BOUNDS_TEST_CHANGE"
)

// units of the runs, by name.
var units = map[string]func() error{
	"good":    func() error { return nil },
	"late":    late,
	"large":   func() error { return large(false) },
	"deep":    func() error { return large(true) },
	"fails":   func() error { return errors.New("for its own reason") },
	"connect": func() error { return second(net.Listen("tcp", "127.0.0.1:0")) },
	"unix":    func() error { return second(net.Dial("unix", "/nowhere")) },
	"write":   func() error { return second(os.OpenFile(os.Args[0]+".new", os.O_WRONLY|os.O_CREATE, 0o600)) },
	"remove":  func() error { return os.Remove(os.Args[0]) },
	"rename":  func() error { return os.Rename(os.Args[0], os.Args[0]+".old") },
	"process": func() error { return exec.Command(os.Args[0]).Start() }, //nolint:noctx // it never starts
	"inside":  func() error { return second(os.ReadFile(filepath.Join(os.Getenv(readVariable), "sub", "file"))) },
	"outside": func() error { return second(os.ReadFile(filepath.Join(os.Getenv(readVariable), "..", "file"))) },
	"link":    func() error { return second(os.ReadFile(filepath.Join(os.Getenv(readVariable), "link"))) },
	"list":    func() error { return second(os.ReadDir(filepath.Join(os.Getenv(readVariable), ".."))) },
	"passwd":  func() error { return second(os.ReadFile("/etc/passwd")) },
	"put": func() error {
		draft := filepath.Join(os.Getenv(readVariable), "sub", "draft")
		return errors.Join(os.WriteFile(draft, nil, 0o600), os.Rename(draft, filepath.Join(os.Getenv(readVariable), "put")))
	},
	"threads": manyThreads,
}

func second[T any](_ T, err error) error { return err }

// late is a unit that has taken more time than it may: it began long ago.
func late() error {
	m := current.Load()
	m.mu.Lock()
	for r := range m.active {
		r.cpu -= 2 * mostSlowness * unitTime
	}
	m.mu.Unlock()
	m.look()
	return nil
}

// large is a unit that has taken more memory than it may, or whose stack is too deep.
func large(deep bool) error {
	m := current.Load()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tooLarge(m.memory(), deep)
	return nil
}

// manyThreads has many threads at a time.
func manyThreads() error {
	var all, begun sync.WaitGroup
	begun.Add(50)
	for range 50 {
		all.Go(func() {
			runtime.LockOSThread()
			begun.Done()
			begun.Wait()
		})
	}
	all.Wait()
	return nil
}

// bomb runs the named units, separated by commas, and prints what becomes of each.
func bomb(kinds string) int {
	s := Start(Process{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Began: time.Now()})
	_, _ = io.WriteString(s.Out, "begins\n")
	in, err := io.ReadAll(s.In)
	if err != nil {
		return 2
	}
	if dir := os.Getenv(readVariable); dir != "" {
		Confine(func() Confinement {
			c := Confinement{Reads: []string{dir}}
			if os.Getenv(changeVariable) != "" {
				c.Changes = c.Reads
			}
			return c
		})
	}
	Grow(1000)
	for _, name := range strings.Split(kinds, ",") {
		err := Do(Unit{Kind: "test", Name: name}, units[name])
		_, _ = fmt.Fprintf(s.Out, "%s: %v\n", name, err)
	}
	_, _ = fmt.Fprintf(s.Out, "read %q, %d exceeded\n", in, len(Exceeded()))
	return 0
}

// The messages of units that take too much, with the input of bomb.
var (
	tooLate  = " takes more than " + rounded(unitTime+1000*unitTimePerByte).String() + " of CPU time\n"
	tooLarge = fmt.Sprintf(" takes more than %d MB of memory\n", (memory+1000*memoryPerByte)>>20)
	tooDeep  = " calls itself too deep\n"
)

// TestUnits: a unit that takes too much is refused, all others run, what was printed before is
// printed once, and the input is there again.
func TestUnits(t *testing.T) {
	for kinds, want := range map[string]string{
		"good,fails": "good: <nil>\nfails: for its own reason\nread \"input\", 0 exceeded\n",
		"late,good":  "late: the test of late" + tooLate + "good: <nil>\nread \"input\", 1 exceeded\n",
		"good,large": "good: <nil>\nlarge: the test of large" + tooLarge + "read \"input\", 1 exceeded\n",
		"deep,good":  "deep: the test of deep" + tooDeep + "good: <nil>\nread \"input\", 1 exceeded\n",
		"deep,late,large,good": "deep: the test of deep" + tooDeep + "late: the test of late" + tooLate +
			"large: the test of large" + tooLarge + "good: <nil>\nread \"input\", 3 exceeded\n",
	} {
		t.Run(kinds, func(t *testing.T) { checkRun(t, kinds, want) })
	}
}

// checkRun checks what a run of units prints.
func checkRun(t *testing.T, kinds, want string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process of Windows ends instead")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), bombVariable+"="+kinds)
	cmd.Stdin = strings.NewReader("input")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(stderr.String()))
	}
	if got := string(out); got != "begins\n"+want {
		t.Errorf("got\n%s\nwant\nbegins\n%s", got, want)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr: %s", tail(stderr.String()))
	}
}

// TestTooLarge: of several units the next image finds the one that takes too much memory, one at a time; of
// nested ones it is the innermost.
func TestTooLarge(t *testing.T) {
	var next state
	run := func(s state, active ...*running) {
		next = state{}
		m := newMonitor(s, func(s state) error { next = s; return nil }, nil)
		for _, r := range active {
			m.active[r] = struct{}{}
		}
		m.tooLarge(m.memory(), false)
	}
	rule, outer, inner := &running{unit: Unit{Kind: ruleKind}, heap: 3}, &running{unit: Unit{Kind: "build"}, heap: 1}, &running{unit: Unit{Kind: "chart"}, heap: 2}
	if run(state{}, rule, outer, inner); !next.Serial || len(next.Refused) > 0 {
		t.Errorf("of several units: %+v", next)
	}
	for name, c := range map[string]struct {
		state  state
		active []*running
		want   Unit
	}{
		"one at a time": {state{Serial: true}, []*running{rule, outer, inner}, inner.unit},
		"of a rule":     {state{}, []*running{rule, outer}, outer.unit},
		"a rule":        {state{}, []*running{rule}, rule.unit},
	} {
		if run(c.state, c.active...); len(next.Refused) != 1 || next.Refused[0].Unit != c.want {
			t.Errorf("%s: %+v", name, next)
		}
	}
	if run(state{}); next.Exhausted == "" || len(next.Refused) > 0 {
		t.Errorf("of no unit: %+v", next)
	}
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

// TestRunTime: when a run has taken what it may, the units that are left are counted in one error.
func TestRunTime(t *testing.T) {
	m := newMonitor(state{Slow: 1}, nil, nil)
	m.used.Store(int64(runTime) + 1)
	current.Store(m)
	defer current.Store(nil)
	for _, name := range []string{"a", "b", "c"} {
		var refused *Error
		if err := Do(Unit{Kind: "test", Name: name}, func() error { t.Error("it runs"); return nil }); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all := Exceeded()
	if len(all) != 1 || all[0].Left != 3 || all[0].Error() != "the test of a was not begun: the run takes more than "+rounded(runTime).String()+" of CPU time" {
		t.Errorf("got %v", all)
	}
	Grow(1)
	if err := Do(Unit{Kind: "test", Name: "d"}, func() error { return nil }); err != nil {
		t.Errorf("with more input: %v", err)
	}
}

// TestExhausted: a run that takes too much begins less each time, and ends without a report only after it
// has begun nothing at all.
func TestExhausted(t *testing.T) {
	var next *state
	gave := ""
	from := func(s state) *monitor {
		next, gave = nil, ""
		return newMonitor(s, func(s state) error { next = &s; return nil }, func(message string) { gave = message })
	}
	from(state{}).overdue("takes too much")
	if next == nil || next.Exhausted != "takes too much" || next.Blind {
		t.Fatalf("the second image: %+v", next)
	}
	exhausted := *next
	from(exhausted).overdue("takes more")
	if next == nil || next.Exhausted != "takes too much" || !next.Blind {
		t.Fatalf("the third image: %+v", next)
	}
	blind := *next
	if from(blind).overdue("takes more"); next != nil || gave == "" {
		t.Errorf("after the third image: %+v, %q", next, gave)
	}
	for kind, begun := range map[string][2]bool{"build": {false, false}, "file": {true, false}, "rule": {true, false}, "revision": {true, false}, "reading": {true, false}} {
		for i, s := range []state{exhausted, blind} {
			if err := from(s).refused(Unit{Kind: kind}); (err == nil) != begun[i] {
				t.Errorf("a %s in image %d: %v", kind, i+2, err)
			}
		}
	}

	m := from(state{Began: time.Now().Add(-time.Minute)})
	m.limits.Store(&Limits{Time: time.Second})
	if m.look(); next == nil || !next.Blind {
		t.Errorf("after the time of --timeout: %+v", next)
	}
	m = from(state{Restarts: mostRestarts - 1})
	if m.exceeded([]*running{{unit: Unit{Kind: "build"}}}, "takes too much"); next == nil || !next.Blind || next.Exhausted == "" {
		t.Errorf("the last image: %+v", next)
	}
}

// TestWithoutStart: nothing is bounded where no command has started it.
func TestWithoutStart(t *testing.T) {
	want := errors.New("its own")
	if err := Do(Unit{Kind: "test"}, func() error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
	if all := Exceeded(); all != nil {
		t.Errorf("exceeded: %v", all)
	}
}

// TestState: a state that cannot be read is none.
func TestState(t *testing.T) {
	t.Setenv(variable, "{")
	s := Start(Process{In: strings.NewReader(""), Out: os.Stdout, Err: os.Stderr, Began: time.Now()})
	defer current.Store(nil)
	if s.Out.skip != 0 || os.Getenv(variable) != "" {
		t.Error("a state that cannot be read is used")
	}
}
