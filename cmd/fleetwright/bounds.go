package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/cmd/fleetwright/memory"
	"github.com/fleetwright/fleetwright/internal/bounds"
)

// limitFlags adds the flags that replace the limits of a run.
func limitFlags(root *cobra.Command, s streams) {
	limits := &bounds.Limits{}
	flags := root.PersistentFlags()
	flags.DurationVar(&limits.Time, "timeout", 0, "end the run after this time, such as 2m (default 10m; 1h for fetch, which waits for servers)")
	flags.Var((*size)(&limits.Memory), "memory", "end the run if it needs more memory than this, such as 4GiB (default 2GiB, or nine tenths of the container's memory)")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := flagsFrom(root.PersistentFlags(), s.env); err != nil {
			return usage(c, err)
		}
		if limits.Time < 0 || flags.Changed("timeout") && limits.Time == 0 {
			return usage(c, fmt.Errorf("--timeout %s: want a time above 0", limits.Time))
		}
		if limits.Time == 0 && c.Name() == "fetch" {
			limits.Time = time.Hour
		}
		setLimits(*limits)
		return nil
	}
}

// setLimits replaces the limits of the run that l sets.
func setLimits(l bounds.Limits) {
	bounds.Limit(l)
	if l.Memory != 0 {
		memory.Limit(l.Memory)
	}
}

// defaultMemory returns the memory that a run may use, in bytes: nine tenths of its container's memory, but at most the
// default.
func defaultMemory(container func() (uint64, error)) int64 {
	if has, err := container(); err == nil && has/10*9 < bounds.DefaultMemory {
		return int64(has / 10 * 9)
	}
	return bounds.DefaultMemory
}

// endedEarly returns the error of the run if a guard ended it, else nil.
func endedEarly() error {
	for _, e := range bounds.Exceeded() {
		if e.Unit.Kind == "run" {
			return e
		}
	}
	return nil
}

// size is a number of bytes that the command line sets.
type size int64

// leastSize is the smallest size in bytes: the user of a number without a unit most likely means megabytes.
const leastSize = 1 << 20

// units are the units of a size. Longer names come first.
var units = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10) + "B"
}

func (s *size) Type() string { return "size" }

func (s *size) Set(text string) error {
	for _, unit := range units {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/unit.bytes || n*unit.bytes < leastSize {
			break
		}
		*s = size(n * unit.bytes)
		return nil
	}
	return fmt.Errorf("want a size such as 512MiB or 2GiB, of 1MiB or more")
}
