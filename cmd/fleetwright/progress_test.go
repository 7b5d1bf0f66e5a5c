package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fleetwright/fleetwright/internal/output"
)

// screen is a writer for two goroutines.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// waitFor waits until the screen shows a text.
func (s *screen) waitFor(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if strings.Contains(s.String(), text) {
			return
		}
	}
	t.Fatalf("%q is never told: %q", text, s.String())
}

func TestProgressIsToldAndCleared(t *testing.T) {
	var s screen
	p := newProgress(&s, "validating", "rules", time.Millisecond, time.Millisecond)
	s.waitFor(t, "validating: reading the repository, ")
	p.note(2, 7)
	p.note(1, 7) // rules end in any order
	s.waitFor(t, "validating: 2 of 7 rules")
	p.stop()
	p.stop()
	text := s.String()
	if !strings.HasSuffix(text, output.ClearLine) || strings.Contains(text, "\n") {
		t.Errorf("something is left on the terminal: %q", text)
	}
	time.Sleep(5 * time.Millisecond)
	if s.String() != text {
		t.Error("it goes on after its end")
	}
}

func TestProgressIsSilentWhenQuick(t *testing.T) {
	var s screen
	p := newProgress(&s, "validating", "rules", time.Hour, time.Hour)
	p.note(1, 2)
	p.stop()
	if s.String() != "" {
		t.Errorf("it tells %q", s.String())
	}
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
