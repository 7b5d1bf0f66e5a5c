package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

const (
	// mostBinary is how large an executable may be, and mostImage an image, unpacked.
	mostBinary = 95 << 20
	mostImage  = 110 << 20
	// mostStart is how much processor time "fleetwright version" may take, in the fastest of some runs. A
	// start takes 40 ms where nothing else runs; other work of the machine makes it up to twice as slow.
	mostStart = 100 * time.Millisecond
	starts    = 15
)

// within returns an error where something is larger than it may be.
func within(what string, size, most int) error {
	if size > most {
		return fmt.Errorf("%s has %.1f MB, more than %d", what, float64(size)/(1<<20), most>>20)
	}
	return nil
}

// weigh starts the executable of this machine's archive.
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
	fastest, err := fastestStart(ctx, binary)
	if err != nil {
		return err
	}
	fmt.Printf("the executable has %.1f MB (at most %d) and starts in %.1f ms of processor time (at most %d)\n",
		float64(info.Size())/(1<<20), mostBinary>>20, float64(fastest.Microseconds())/1000, mostStart.Milliseconds())
	if fastest > mostStart {
		return fmt.Errorf("version takes %s of processor time, more than %s", fastest, mostStart)
	}
	return within("the executable", int(info.Size()), mostBinary)
}

// fastestStart is the processor time of the fastest of some runs of the command version.
func fastestStart(ctx context.Context, binary string) (time.Duration, error) {
	fastest := time.Hour
	for range starts {
		cmd := exec.CommandContext(ctx, binary, "version")
		if err := cmd.Run(); err != nil {
			return 0, err
		}
		fastest = min(fastest, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return fastest, nil
}
