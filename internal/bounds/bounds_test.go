package bounds

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// forever is work that does not end before the test.
func forever(t *testing.T) func() (int, error) {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return func() (int, error) { <-end; return 1, nil }
}

// guarded guards the test, and allows each unit some time.
func guarded(t *testing.T, unit time.Duration) *guard {
	t.Helper()
	g := newGuard()
	g.limits.Unit = unit
	current.Store(g)
	t.Cleanup(func() { current.Store(nil) })
	return g
}

// reported returns what Exceeded reports, one error a line.
func reported() string {
	var all []string
	for _, e := range Exceeded() {
		all = append(all, e.Error())
	}
	return strings.Join(all, "\n")
}

// TestUnits: a unit returns its result, its error or its panic; one that takes too long is abandoned and reported.
func TestUnits(t *testing.T) {
	work := func() (int, error) { return 7, errors.New("for its own reason") }
	for _, start := range []bool{false, true} {
		if start {
			guarded(t, time.Hour)
		}
		if n, err := Do(Unit{Kind: "test"}, work); n != 7 || err.Error() != "for its own reason" {
			t.Errorf("guarded %v: got %d, %v", start, n, err)
		}
		func() {
			defer func() {
				if v := recover(); v == nil || start && !strings.HasPrefix(v.(error).Error(), "it is broken") {
					t.Errorf("guarded %v: the panic is %v", start, v)
				}
			}()
			_ = Check(Unit{Kind: "test"}, func() error { panic("it is broken") })
		}()
	}
	guarded(t, 0)
	var exceeded *Error
	if _, err := Do(Unit{Kind: "build", Name: "apps"}, forever(t)); !errors.As(err, &exceeded) || err.Error() != "the build of apps takes more than 0s" {
		t.Errorf("late: %v", err)
	}
	if got := reported(); got != "the build of apps takes more than 0s" {
		t.Errorf("reported %q", got)
	}
	if n, err := Whole(Unit{Kind: "rule"}, func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Errorf("a whole takes as long as the run: %d, %v", n, err)
	}
}

// TestManyLate: after some units that take too long, the run is over.
func TestManyLate(t *testing.T) {
	guarded(t, 0)
	for _, name := range []string{"a", "b", "c", "d"} {
		_, _ = Do(Unit{Kind: "build", Name: name}, forever(t))
	}
	if current.Load().look(time.Now(), 0, 0, 0) {
		t.Error("the process ends at once")
	}
	if err := Check(Unit{Kind: "build", Name: "e"}, func() error { t.Error("it runs"); return nil }); err == nil {
		t.Error("the fifth has no error")
	}
	if got := reported(); !strings.HasPrefix(got, "the build of a takes more than 0s\n") || !strings.HasSuffix(got, "the run has 4 units that take more than 0s: not everything was checked") {
		t.Errorf("reported\n%s", got)
	}
}

// TestRun: a run that takes too much time or memory, or is too deep, abandons what is running and starts nothing. While
// files are written it goes on. The process ends if the command does not.
func TestRun(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		took         time.Duration
		used, stacks int64
		why          string
	}{
		"time":   {took: DefaultTime + 1, why: "takes more than 10m0s, which --timeout allows"},
		"memory": {used: DefaultMemory, stacks: 1, why: "takes more than 2048 MiB of memory, which --memory allows"},
		"depth":  {stacks: mostStacks + 1, why: "calls itself too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			g := guarded(t, time.Hour)
			if g.look(now, DefaultTime, DefaultMemory, 0); g.why != "" {
				t.Fatalf("at the limit: %s", g.why)
			}
			began, ended := make(chan struct{}), make(chan error)
			work := forever(t)
			go func() {
				_, err := Do(Unit{Kind: "build", File: "a.yaml"}, func() (int, error) { close(began); return work() })
				ended <- err
			}()
			<-began
			done := Writing()
			if g.look(now, c.took, c.used, c.stacks); g.why != "" {
				t.Fatalf("it ends while files are written: %s", g.why)
			}
			done()
			if g.look(now, c.took, c.used, c.stacks) {
				t.Error("the process ends at once")
			}
			if err := <-ended; err == nil || err.Error() != "the build of a.yaml was not finished: the run "+c.why {
				t.Errorf("what was running: %v", err)
			}
			if got, want := reported(), "the run "+c.why+": not everything was checked\nthe build of a.yaml was not finished: the run "+c.why; got != want {
				t.Errorf("reported\n%s\nwant\n%s", got, want)
			}
			g.look(now, c.took, 0, 0)
			if g.look(now.Add(grace), c.took, c.used, c.stacks) {
				t.Error("the process ends before its time")
			}
			if !g.look(now.Add(grace+1), c.took, c.used, c.stacks) || !g.look(now, 0, DefaultMemory+DefaultMemory/8+1, 0) {
				t.Error("the process does not end")
			}
		})
	}
}

// TestLimit: what the command line sets replaces the defaults.
func TestLimit(t *testing.T) {
	g := guarded(t, time.Hour)
	Limit(Limits{Memory: 5})
	Limit(Limits{Time: time.Minute})
	if want := (Limits{time.Hour, time.Minute, 5}); g.limits != want {
		t.Errorf("got %+v", g.limits)
	}
}

// TestRefuse: a counter is reported once for a unit, whatever the order of the work.
func TestRefuse(t *testing.T) {
	guarded(t, time.Hour)
	for _, why := range []string{"it has b", "it has a", "it has c"} {
		Refuse(Unit{Kind: "file", File: "a.yaml"}, why)
	}
	if all := Exceeded(); len(all) != 1 || !all[0].Counted || all[0].Why() != "it has a" || all[0].Error() != "the file of a.yaml was not checked: it has a" {
		t.Errorf("got %+v", all)
	}
}
