package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/fleetwright/fleetwright/internal/output"
)

// progress shows the progress of a long command on a terminal, and erases it at the end.
type progress struct {
	out   *output.Text // nil if nothing is printed
	doing string       // such as "validating"
	what  string       // such as "rules"
	start time.Time
	quit  chan struct{}
	ended sync.WaitGroup
	once  sync.Once

	mu          sync.Mutex
	done, total int
}

// How long a command runs before it shows its progress, and how often it updates that.
const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// startProgress shows the progress on standard error, if that is a terminal. doing is the activity, and what names the
// counted things.
func startProgress(s streams, doing, what string) *progress {
	f, ok := fileOf(output.Raw(s.err))
	if !ok || !term.IsTerminal(int(f.Fd())) || s.env("TERM") == "dumb" {
		return &progress{}
	}
	return newProgress(f, doing, what, progressAfter, progressEvery)
}

func newProgress(out io.Writer, doing, what string, after, every time.Duration) *progress {
	p := &progress{out: output.NewText(out, false), doing: doing, what: what, start: time.Now(), quit: make(chan struct{})}
	p.ended.Go(func() {
		select {
		case <-time.After(after):
		case <-p.quit:
			return
		}
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			p.show()
			select {
			case <-ticker.C:
			case <-p.quit:
				_ = p.out.Status("") // a failure loses nothing
				return
			}
		}
	})
	return p
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	what := "reading the repository"
	if p.total > 0 {
		what = fmt.Sprintf("%d of %d %s", p.done, p.total, p.what)
	}
	_ = p.out.Status(fmt.Sprintf("%s: %s, %d s", p.doing, what, int(time.Since(p.start).Seconds()))) // a failure loses nothing
}

// note records how many things are done.
func (p *progress) note(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = max(p.done, done), total
}

// stop stops the display and clears the line. It may be called more than once.
func (p *progress) stop() {
	if p.out == nil {
		return
	}
	p.once.Do(func() { close(p.quit) })
	p.ended.Wait()
}
