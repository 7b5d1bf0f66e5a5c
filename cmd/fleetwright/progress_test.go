package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fleetwright/fleetwright/internal/output"
)

// screen is a terminal that two goroutines use.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *screen) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(data)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestProgressIsToldAndCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen screen
		p := newProgress(&screen, "validating", "rules", progressAfter, progressEvery)
		// wants lets a time pass, and looks at what was written last.
		wants := func(after time.Duration, text string) {
			t.Helper()
			time.Sleep(after) //nolint:forbidigo // in a bubble, whose clock moves by itself
			synctest.Wait()
			if !strings.HasSuffix(screen.String(), text) {
				t.Fatalf("after %s more, %q is not told: %q", after, text, &screen)
			}
		}
		wants(progressAfter-1, "")
		if screen.String() != "" {
			t.Fatalf("a quick command tells %q", &screen)
		}
		wants(1, "validating: reading the repository, 1 s")
		p.note(2, 7)
		p.note(1, 7) // rules end in any order
		wants(progressEvery, "validating: 2 of 7 rules, 1 s")
		p.stop()
		p.stop()
		text := screen.String()
		if !strings.HasSuffix(text, output.ClearLine) || strings.Contains(text, "\n") {
			t.Errorf("something is left on the terminal: %q", text)
		}
		time.Sleep(time.Hour) //nolint:forbidigo // in a bubble
		if synctest.Wait(); screen.String() != text {
			t.Error("it goes on after its end")
		}
	})
}

func TestProgressIsSilentWhenQuick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen screen
		p := newProgress(&screen, "validating", "rules", progressAfter, progressEvery)
		p.note(1, 2)
		p.stop()
		time.Sleep(time.Hour) //nolint:forbidigo // in a bubble
		if synctest.Wait(); screen.String() != "" {
			t.Errorf("it tells %q", &screen)
		}
	})
}

func TestProgressIsForTerminals(t *testing.T) {
	var b bytes.Buffer
	p := startProgress(streams{err: &b, env: func(string) string { return "" }}, "validating", "rules")
	p.note(1, 2)
	p.stop()
	if p.out != nil {
		t.Error("a buffer is taken for a terminal")
	}
}
