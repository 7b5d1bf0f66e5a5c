//go:build tools

// Soak kills fleetwright thousands of times at random moments while it renders, commits, pushes, encrypts,
// changes keys, fixes and syncs, and while somebody else saves files. After each series of kills the same
// command runs to its end, as a user would run it again. It must succeed without any manual repair, no saved
// file may be lost, and the result must be the same as that of a run that was never killed.
//
// It prints a transcript. At the first difference it exits with 1 and keeps the folder.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

func main() {
	log.SetFlags(0)
	command := flag.String("fleetwright", "bin/fleetwright", "the command to kill")
	kills := flag.Int("kills", 10_000, "how many kills in all")
	seed := flag.Uint64("seed", 1, "the seed of the random moments, edits and order")
	most := flag.Duration("time", 0, "end after this time, with fewer kills; 0 for no limit")
	dir := flag.String("dir", "", "the folder to work in; empty for a temporary folder")
	only := flag.String("only", "", "run only this scenario")
	flag.Parse()
	if err := soak(*command, *kills, *seed, *most, *dir, *only); err != nil {
		log.Fatal(err)
	}
}

func soak(command string, kills int, seed uint64, most time.Duration, dir, only string) error {
	binary, err := filepath.Abs(command)
	if err != nil {
		return err
	}
	if dir, err = os.MkdirTemp(dir, "fleetwright-soak-"); err != nil {
		return err
	}
	var all []*scenario
	for _, s := range scenarios() {
		if only == "" || only == s.name {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("unknown scenario %q", only)
	}
	fmt.Printf("%s/%s, %d CPUs, %s; seed %d\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), seed)
	fmt.Printf("%-11s %7s %9s %7s %7s %7s %9s\n", "", "kills", "cut off", "edits", "series", "ended", "seconds")
	start := time.Now()
	var group sync.WaitGroup
	places := make(chan struct{}, min(len(all), runtime.NumCPU()))
	errs := make([]error, len(all))
	for i, s := range all {
		s.binary, s.dir = binary, filepath.Join(dir, s.name)
		s.random = rand.New(rand.NewPCG(seed, uint64(i)))
		s.want, s.most = kills/len(all), most*time.Duration(cap(places))/time.Duration(len(all))
		if i < kills%len(all) {
			s.want++
		}
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if errs[i] = s.run(); errs[i] != nil {
				errs[i] = fmt.Errorf("%s, after %d kills, in %s: %w", s.name, s.kills, s.dir, errs[i])
			}
			fmt.Printf("%-11s %s\n", s.name, s.counts)
		})
	}
	group.Wait()
	var total counts
	for _, s := range all {
		total.add(s.counts)
	}
	total.took = time.Since(start)
	fmt.Printf("%-11s %s\n", "all", total)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Println("\nnothing was lost, and nothing had to be repaired")
	return os.RemoveAll(dir)
}

// counts are the numbers of events.
type counts struct {
	// kills is the number of killed commands. cut is the number of those that left something for the next run.
	kills, cut int
	// edits is the number of files saved while a command ran.
	edits int
	// series is the number of series of kills, each with a run to the end and a check. ended is the number of
	// runs that ended before they could be killed; they do not count as kills.
	series, ended int
	took          time.Duration
}

func (c *counts) add(other counts) {
	c.kills += other.kills
	c.cut += other.cut
	c.edits += other.edits
	c.series += other.series
	c.ended += other.ended
}

func (c counts) String() string {
	return fmt.Sprintf("%7d %9d %7d %7d %7d %9.0f", c.kills, c.cut, c.edits, c.series, c.ended, c.took.Seconds())
}
