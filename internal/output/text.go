package output

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// Text writes text to a terminal or a log. It is safe for concurrent use.
type Text struct {
	mu      sync.Mutex
	w       io.Writer
	colours bool
	guard   guard
	pending []byte // of Write: the first bytes of a character, or a carriage return
}

// NewText returns a writer of text to w, with or without colours. If w is a writer of this package, its underlying
// writer is used.
func NewText(w io.Writer, colours bool) *Text {
	return &Text{w: Raw(w), colours: colours}
}

// Buffered returns a writer of text to w that buffers its output until Flush. It has colours
// if w has them.
func Buffered(w io.Writer) *Text {
	t, ok := w.(*Text)
	return NewText(bufio.NewWriter(Raw(w)), ok && t.colours)
}

func (t *Text) unwrap() io.Writer { return t.w }

// Flush writes the buffered output.
func (t *Text) Flush() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var err error
	if len(t.pending) > 0 {
		t.pending = nil
		err = t.put(string(hidden))
	}
	if b, ok := t.w.(interface{ Flush() error }); ok {
		err = errors.Join(err, b.Flush())
	}
	return err
}

// Write writes lines of untrusted text.
func (t *Text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := append(t.pending, p...) //nolint:gocritic // pending is replaced below
	whole := bytes.LastIndexByte(rest, '\n') + 1
	for tail := rest[whole:]; len(tail) > 0 && utf8.FullRune(tail) && (len(tail) > 1 || tail[0] != '\r'); {
		_, size := utf8.DecodeRune(tail)
		tail, whole = tail[size:], whole+size
	}
	t.pending = append([]byte(nil), rest[whole:]...)
	if err := t.put(Block(string(rest[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Printf formats as fmt.Printf does. It prints each argument as one line of printable
// characters; an argument of type Lines may have several lines, and a Painted one has a colour.
func (t *Text) Printf(format string, args ...any) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	shown := make([]any, len(args))
	for i, arg := range args {
		shown[i] = argument{arg, t.colours}
		switch arg.(type) {
		case int, int64, bool, float64:
			shown[i] = arg
		}
	}
	return t.put(fmt.Sprintf(format, shown...))
}

// Printf prints to any writer as Text.Printf does.
func Printf(w io.Writer, format string, args ...any) error {
	if t, ok := w.(*Text); ok {
		return t.Printf(format, args...)
	}
	return NewText(w, false).Printf(format, args...)
}

// Status replaces the current line of a terminal with a text without a line break; "" clears it.
func (t *Text) Status(text string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.guard = guard{}
	if _, err := io.WriteString(t.w, ClearLine); err != nil {
		return err
	}
	return t.put(Line(text))
}

// ClearLine moves to the start of a terminal's line and clears it.
const ClearLine = "\r\x1b[K"

// put writes text whose only control characters are colours, and breaks up the start of a CI command.
func (t *Text) put(s string) error {
	out := make([]byte, 0, len(s)+8)
	colour := false
	for _, r := range s {
		switch {
		case r == '\x1b':
			colour = true
		case colour:
			colour = r != 'm'
		case t.guard.completes(r):
			out = append(out, ' ')
		}
		out = utf8.AppendRune(out, r)
	}
	_, err := t.w.Write(out)
	return err
}

// Lines is an argument of Printf that may hold several lines.
type Lines string

// Colour is an escape sequence for a terminal colour.
type Colour string

// The colours.
const (
	Bold   Colour = "1"
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
	Cyan   Colour = "36"
)

// Painted is an argument of Printf in a colour.
type Painted struct {
	Colour Colour
	Text   any
}

// Paint returns an argument of Printf that is printed in a colour if the writer has colours.
func Paint(c Colour, text any) Painted { return Painted{c, text} }

// argument formats an argument of Printf.
type argument struct {
	value   any
	colours bool
}

// Format writes the formatted value in printable characters.
func (a argument) Format(f fmt.State, verb rune) {
	form := fmt.FormatString(f, verb)
	_, _ = io.WriteString(f, a.text(form)) // a State never fails
}

func (a argument) text(form string) string {
	switch v := a.value.(type) {
	case Lines:
		return Block(fmt.Sprintf(form, string(v)))
	case Painted:
		text := argument{v.Text, false}.text(form)
		if !a.colours || v.Colour == "" {
			return text
		}
		return "\x1b[" + string(v.Colour) + "m" + text + "\x1b[0m"
	}
	return Line(fmt.Sprintf(form, a.value))
}
