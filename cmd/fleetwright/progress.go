package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/output"
)

// progress tells on a terminal how far a command is, once it takes long, and
// leaves nothing behind.
type progress struct {
	out   *output.Text // nil: tell nothing
	start time.Time
	quit  chan struct{}
	ended sync.WaitGroup
	once  sync.Once

	mu          sync.Mutex
	done, total int
}

// How long a command may take before it tells, and how often it does.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// startProgress begins to tell on standard error, if it is a terminal.
func startProgress(s streams) *progress {
	f, ok := fileOf(output.Raw(s.err))
	if !ok || !term.IsTerminal(int(f.Fd())) || s.env("TERM") == "dumb" {
		return &progress{}
	}
	return newProgress(f, progressAfter, progressEvery)
}

func newProgress(out io.Writer, after, every time.Duration) *progress {
	p := &progress{out: output.NewText(out, false), start: bounds.Began(time.Now()), quit: make(chan struct{})}
	p.ended.Go(func() {
		select {
		case <-time.After(after):
		case <-p.quit:
			return
		}
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			p.tell()
			select {
			case <-ticker.C:
			case <-p.quit:
				_ = p.out.Status("") // nothing is lost with it
				return
			}
		}
	})
	return p
}

func (p *progress) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	what := "reading the repository"
	if p.total > 0 {
		what = fmt.Sprintf("%d of %d rules", p.done, p.total)
	}
	_ = p.out.Status(fmt.Sprintf("validating: %s, %d s", what, int(time.Since(p.start).Seconds()))) // nothing is lost with it
}

// rules notes how many rules ran.
func (p *progress) rules(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = max(p.done, done), total
}

// stop ends the telling and clears the line. It may be called again.
func (p *progress) stop() {
	if p.out == nil {
		return
	}
	p.once.Do(func() { close(p.quit) })
	p.ended.Wait()
}
