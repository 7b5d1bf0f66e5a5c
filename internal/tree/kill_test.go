package tree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// stepCounter fails at one step, counted from 1, or at it and all after it.
type stepCounter struct {
	at   int64
	err  error
	dead bool // fails at all later steps too, as a killed process does nothing
	done atomic.Int64
	name string
}

func counter(at int, err error) *stepCounter { return &stepCounter{at: int64(at), err: err} }

func (c *stepCounter) step(op, path string) error {
	n := c.done.Add(1)
	if n == c.at {
		c.name = op + " " + path
	}
	if n == c.at || c.dead && n > c.at {
		return c.err
	}
	return nil
}

// errKilled stands for the end of the process: the operation does not happen,
// and none after it.
var errKilled = errors.New("killed")

// killedApply applies a plan in a process that ends at step n. It reports
// whether there was such a step.
func killedApply(tb testing.TB, dir string, plan *Plan, n int) bool {
	tb.Helper()
	c := counter(n, errKilled)
	c.dead = true
	err := applyWith(context.Background(), dir, plan, hooked(c.step))
	if c.done.Load() < c.at && err != nil {
		tb.Fatal(err)
	}
	return c.done.Load() >= c.at
}

func killedRecover(tb testing.TB, dir string, n int) bool {
	tb.Helper()
	c := counter(n, errKilled)
	c.dead = true
	_, err := recoverWith(dir, hooked(c.step))
	if c.done.Load() < c.at && err != nil {
		tb.Fatal(err)
	}
	return c.done.Load() >= c.at
}

// checkWhole fails unless the folder holds exactly the old or the new files, and
// the next render completes the new ones.
func checkWhole(tb testing.TB, dir string, before, want Memory, tree *Tree, what string) {
	tb.Helper()
	got := snapshot(tb, dir)
	if !same(got, before) && !same(got, want) {
		tb.Fatalf("%s: the folder is neither old nor new: %q", what, slices.Sorted(maps.Keys(got)))
	}
	if err := applyWith(context.Background(), dir, compareDir(tb, dir, tree, Options{}), quick); err != nil {
		tb.Fatalf("%s: the next render fails: %v", what, err)
	}
	if got := snapshot(tb, dir); !same(got, want) {
		tb.Fatalf("%s: after the next render the folder holds %q", what, slices.Sorted(maps.Keys(got)))
	}
}

// memoryDir makes a folder in memory where Linux has one: a thousand folders are
// written, and none has to outlive the test.
func memoryDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "tree-test-")
	if err != nil {
		return tb.TempDir()
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestKilledAnywhere ends a write at each of its steps, and then each recovery
// of it at each of its own steps.
func TestKilledAnywhere(t *testing.T) {
	before, tree := states(t)
	plans := 0
	for n, more := 1, true; more; n++ {
		for m := 0; ; m++ {
			dir := memoryDir(t)
			put(t, dir, before)
			plan := compareDir(t, dir, tree, Options{})
			want := afterwards(before, plan)
			more = killedApply(t, dir, plan, n)
			recovered := m > 0 && killedRecover(t, dir, m)
			if _, err := recoverWith(dir, quick); err != nil {
				t.Fatalf("killed at step %d, recovery at %d: %v", n, m, err)
			}
			checkWhole(t, dir, before, want, tree, fmt.Sprintf("killed at step %d, recovery at %d", n, m))
			plans++
			_ = os.RemoveAll(dir)
			if m > 0 && !recovered {
				break
			}
		}
	}
	if plans < 500 {
		t.Errorf("only %d ways to be killed were found", plans)
	}
	t.Logf("%d ways to be killed", plans)
}

// The environment of a child process that is to be killed.
const (
	envDir  = "TREE_TEST_KILL_DIR"
	envStep = "TREE_TEST_KILL_STEP"
	envWhat = "TREE_TEST_KILL_WHAT"
)

// killedChild is what the child process does.
func killedChild(t *testing.T, dir string) {
	t.Helper()
	at, err := strconv.ParseInt(os.Getenv(envStep), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var step atomic.Int64
	open := hooked(func(string, string) error {
		if step.Add(1) == at {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				_ = self.Kill()
			}
			select {} // dead any moment
		}
		return nil
	})
	if os.Getenv(envWhat) == "recover" {
		_, err = recoverWith(dir, open)
	} else {
		_, tree := states(t)
		err = applyWith(t.Context(), dir, compareDir(t, dir, tree, Options{}), open)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// child runs the test binary until it is killed at a step; it reports whether
// the step was reached.
func child(t *testing.T, what, dir string, step int) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledProcess$")
	cmd.Env = append(os.Environ(), envWhat+"="+what, envDir+"="+dir, envStep+"="+strconv.Itoa(step))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() > 0 && !strings.Contains(exit.String(), "killed") {
		t.Fatalf("child: %v\n%s", err, out)
	}
	return true
}

// TestKilledProcess is TestKilledAnywhere with real processes that are killed:
// at each step of a write, and, for one write that had been decided, at each
// step of its recovery.
func TestKilledProcess(t *testing.T) {
	if dir := os.Getenv(envDir); dir != "" {
		killedChild(t, dir)
		return
	}
	if testing.Short() {
		t.Skip("starts many processes")
	}
	before, tree := states(t)
	kill := func(applyAt, recoverAt int) (applied, recovered bool) {
		dir := memoryDir(t)
		put(t, dir, before)
		want := afterwards(before, compareDir(t, dir, tree, Options{}))
		applied = child(t, "apply", dir, applyAt)
		if recoverAt > 0 {
			recovered = child(t, "recover", dir, recoverAt)
		}
		if _, err := recoverWith(dir, quick); err != nil {
			t.Fatal(err)
		}
		checkWhole(t, dir, before, want, tree, fmt.Sprintf("process killed at step %d, recovery at %d", applyAt, recoverAt))
		return applied, recovered
	}
	steps := 1
	for ; ; steps++ {
		if applied, _ := kill(steps, 0); !applied {
			break
		}
	}
	for n := 1; ; n++ {
		if _, recovered := kill(steps/2, n); !recovered {
			break
		}
	}
}
