//go:build tools

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fleetwright/fleetwright/internal/finding"
)

// The limits on CPU time and memory, as in internal/bounds. Only the size of the YAML files counts here, so the
// actual limits are higher and the printed shares are upper bounds.
const (
	runTime        = 10 * time.Minute
	runTimePerByte = 2 * time.Microsecond
)

// near is how close a repository comes to the limits.
type near struct {
	name, commit string
	documents    int
	kustomize    int
	yaml         int64
	took         time.Duration
	memory       int64
	exceeded     []string
	share        float64
}

// nearBounds validates each folder in a folder with a command, and prints how close each comes to the limits,
// the closest first. It returns whether one reaches a limit.
func nearBounds(ctx context.Context, out io.Writer, repos, command string) (reached bool, err error) {
	dirs, err := folders(repos)
	if err != nil {
		return false, err
	}
	var all []near
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		n, err := measure(ctx, name, dirs[name], command)
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, n)
		reached = reached || len(n.exceeded) > 0
	}
	slices.SortStableFunc(all, func(a, b near) int { return int(1e6*b.share) - int(1e6*a.share) })
	_, err = fmt.Fprintf(out, "%-40s %-9s %8s %6s %7s %7s %6s %9s\n", "REPOSITORY", "COMMIT", "YAML MB", "DOCS", "BUILT", "CPU s", "SHARE", "MEMORY MB")
	for _, n := range all {
		_, e := fmt.Fprintf(out, "%-40s %-9.8s %8.1f %6d %7d %7.2f %5.0f%% %9d  %s\n", n.name, n.commit, float64(n.yaml)/(1<<20), n.documents, n.kustomize,
			n.took.Seconds(), 100*n.share, n.memory>>20, strings.Join(n.exceeded, "; "))
		err = errors.Join(err, e)
	}
	_, e := fmt.Fprintf(out, "%d repositories\n", len(all))
	return reached, errors.Join(err, e)
}

func measure(ctx context.Context, name, dir, command string) (near, error) {
	n := near{name: strings.ReplaceAll(name, "+", "/"), commit: commit(ctx, dir)}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		if slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) {
			if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
				n.yaml += info.Size()
			}
		}
		return nil
	})
	if err != nil {
		return n, err
	}
	cmd := exec.CommandContext(ctx, command, "validate", "--config", "none", "--format", "json", dir)
	text, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return n, err
	}
	var report finding.Report
	if err := json.Unmarshal(text, &report); err != nil {
		return n, fmt.Errorf("%s: %w", cmd, err)
	}
	for _, f := range report.Findings {
		if f.Rule == "limit-exceeded" {
			n.exceeded = append(n.exceeded, fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message))
		}
	}
	n.documents, n.kustomize = report.Summary.Documents, report.Summary.Kustomizations
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return n, errors.New("this system doesn't measure processes")
	}
	n.took, n.memory = cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), usage.Maxrss<<10
	n.share = float64(n.took) / float64(runTime+time.Duration(n.yaml)*runTimePerByte)
	return n, nil
}
