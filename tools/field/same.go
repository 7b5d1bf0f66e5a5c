//go:build tools

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// condition is a way in which sameReports runs a command.
type condition struct {
	name   string
	prefix []string // before the command
	env    string
	busy   int // loops beside the command
}

var conditions = []condition{
	{name: "alone"},
	{name: "on one processor", env: "GOMAXPROCS=1"},
	{name: "with nice -n 19", prefix: []string{"nice", "-n", "19"}},
	{name: "beside 8 busy loops", busy: 8},
}

// inGroup returns the condition of a control group of Linux, such as one with a tenth of a processor.
func inGroup(group string) condition {
	return condition{name: "in " + filepath.Base(group), prefix: []string{"sh", "-c", `echo $$ >"$0"/cgroup.procs && exec "$@"`, group}}
}

// sameReports validates each folder in repos several times in each condition, prints the slowest run, and reports
// whether a run printed another report than the first one.
func sameReports(ctx context.Context, out io.Writer, repos, command string, runs int, conditions []condition) (different bool, err error) {
	named, err := folders(repos)
	if err != nil || len(named) == 0 {
		return false, errors.Join(err, fmt.Errorf("no folders in %q", repos))
	}
	dirs := slices.Sorted(maps.Values(named))
	first := map[string][]byte{}
	for _, dir := range dirs {
		if first[dir], err = reportOf(ctx, []string{command}, dir, ""); err != nil {
			return false, fmt.Errorf("%s: %w", filepath.Base(dir), err)
		}
	}
	for _, c := range conditions {
		stop := loops(ctx, c.busy)
		var slowest time.Duration
		count, unlike := 0, 0
		for _, dir := range dirs {
			for range runs {
				began := time.Now()
				report, err := reportOf(ctx, append(c.prefix[:len(c.prefix):len(c.prefix)], command), dir, c.env)
				if err != nil {
					stop()
					return false, fmt.Errorf("%s: %w", filepath.Base(dir), err)
				}
				slowest = max(slowest, time.Since(began))
				count++
				if !bytes.Equal(report, first[dir]) {
					unlike++
					_, _ = fmt.Fprintf(out, "%s, %s: the report differs\n", filepath.Base(dir), c.name)
				}
			}
		}
		stop()
		_, _ = fmt.Fprintf(out, "%-20s %3d repositories, %4d runs, %d different; the slowest took %s\n", c.name, len(dirs), count, unlike, slowest.Round(100*time.Millisecond))
		different = different || unlike > 0
	}
	return different, nil
}

// reportOf returns what validate prints about a folder.
func reportOf(ctx context.Context, command []string, dir, env string) ([]byte, error) {
	command = append(command, "validate", dir, "--format", "json")
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = os.Environ()
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	report, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, err
	}
	return report, nil
}

// loops starts programs that do nothing but run, and returns the function that ends them.
func loops(ctx context.Context, n int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range n {
		all.Go(func() { _ = exec.CommandContext(ctx, "sh", "-c", "while :; do :; done").Run() }) // its error is that it was ended
	}
	return func() {
		cancel()
		all.Wait()
	}
}
