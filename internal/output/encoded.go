package output

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// encoded writes the output of a JSON or XML encoder. It uses the escapes of the format for characters that must not be
// printed. Such characters occur only in strings.
type encoded struct {
	w       io.Writer
	guard   guard
	pending []byte
	escape  func(dst []byte, r rune) []byte
	// colons is set if a line of a string may become a line of the output.
	colons bool
}

// JSON returns a writer to w for the output of a JSON encoder: it writes characters that are not
// printable, and the bracket of a CI command, as \u….
func JSON(w io.Writer) io.Writer {
	return &encoded{w: Raw(w), escape: func(dst []byte, r rune) []byte {
		if r >= 0x10000 {
			r -= 0x10000
			return fmt.Appendf(dst, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+r&0x3ff)
		}
		return fmt.Appendf(dst, `\u%04x`, r)
	}}
}

// XML returns a writer to w for the output of an XML encoder without comments and CDATA: it writes characters that are
// not printable, and the character that completes the start of a CI command, as &#x…;.
func XML(w io.Writer) io.Writer {
	return &encoded{w: Raw(w), colons: true, escape: func(dst []byte, r rune) []byte {
		return fmt.Appendf(dst, "&#x%X;", r)
	}}
}

func (e *encoded) unwrap() io.Writer { return e.w }

// Write writes the encoder's output, escaped.
func (e *encoded) Write(p []byte) (int, error) {
	rest := append(e.pending, p...) //nolint:gocritic // pending is replaced below
	out := make([]byte, 0, len(rest)+len(rest)/8)
	for len(rest) > 0 && utf8.FullRune(rest) {
		r, size := utf8.DecodeRune(rest)
		switch completes := e.guard.completes(r); {
		case completes && (r == '[' || e.colons), r != '\n' && !printable(r):
			out = e.escape(out, r)
		default:
			out = utf8.AppendRune(out, r)
		}
		rest = rest[size:]
	}
	e.pending = append([]byte(nil), rest...)
	if _, err := e.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
