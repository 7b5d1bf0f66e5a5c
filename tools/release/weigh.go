package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

const (
	// mostBinary is the maximum size of an executable, and mostImage of an unpacked image, in bytes.
	mostBinary = 95e6
	mostImage  = 110e6
	// starts is the number of runs of which the fastest is printed.
	starts = 25
)

// within returns an error if a size exceeds a maximum.
func within(what string, size, most int) error {
	if size > most {
		return fmt.Errorf("%s has %.1f MB, more than %d", what, float64(size)/1e6, most/1e6)
	}
	return nil
}

// weigh checks the size of the executable in the archive for this machine, and prints the CPU time of "fleetwright
// version". Where helm is on the PATH, it also prints the time of "helm version".
func weigh(ctx context.Context, from string) error {
	archives, err := filepath.Glob(filepath.Join(from, "fleetwright_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"))
	if err != nil || len(archives) != 1 {
		return errors.Join(err, fmt.Errorf("%s has %d archives for this machine", from, len(archives)))
	}
	dir, err := os.MkdirTemp("", "weigh-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := command(ctx, dir, nil, "tar", "-xzf", archives[0], "-C", dir, "fleetwright"); err != nil {
		return err
	}
	binary := filepath.Join(dir, "fleetwright")
	info, err := os.Stat(binary)
	if err != nil {
		return err
	}
	programs := []string{binary}
	if helm, err := exec.LookPath("helm"); err == nil {
		programs = append(programs, helm)
	}
	fastest, err := fastestStarts(ctx, programs...)
	if err != nil {
		return err
	}
	fmt.Printf("the executable has %.1f MB (at most %d) and starts in %.1f ms of processor time", float64(info.Size())/1e6, int(mostBinary/1e6), milliseconds(fastest[0]))
	if len(programs) > 1 {
		fmt.Printf(", helm in %.1f", milliseconds(fastest[1]))
	}
	fmt.Println()
	return within("the executable", int(info.Size()), mostBinary)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// fastestStarts returns, for each program, the minimum CPU time of some runs of its command version. The
// programs run in turns, so that other work on the machine affects them equally.
func fastestStarts(ctx context.Context, programs ...string) ([]time.Duration, error) {
	fastest := slices.Repeat([]time.Duration{time.Hour}, len(programs))
	for range starts {
		for i, program := range programs {
			cmd := exec.CommandContext(ctx, program, "version")
			if err := cmd.Run(); err != nil {
				return nil, fmt.Errorf("%s version: %w", program, err)
			}
			fastest[i] = min(fastest[i], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	return fastest, nil
}
