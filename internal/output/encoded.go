package output

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// encoded writes what an encoder of a format for machines wrote, with the characters that must not
// be printed in the format's own spelling. Such characters are only in the format's strings.
type encoded struct {
	w       io.Writer
	guard   guard
	pending []byte
	escape  func(dst []byte, r rune) []byte
	// colons says that a line of a string may stand on a line of its own.
	colons bool
}

// JSON returns a writer of JSON to w, below an encoder: \u… stands for each character that is not
// printable, and for the bracket of a command.
func JSON(w io.Writer) io.Writer {
	return &encoded{w: Raw(w), escape: func(dst []byte, r rune) []byte {
		if r >= 0x10000 {
			r -= 0x10000
			return fmt.Appendf(dst, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+r&0x3ff)
		}
		return fmt.Appendf(dst, `\u%04x`, r)
	}}
}

// XML returns a writer of XML without comments and CDATA to w, below an encoder: &#x…; stands for
// each character that is not printable, and for one that completes the beginning of a command.
func XML(w io.Writer) io.Writer {
	return &encoded{w: Raw(w), colons: true, escape: func(dst []byte, r rune) []byte {
		return fmt.Appendf(dst, "&#x%X;", r)
	}}
}

func (e *encoded) unwrap() io.Writer { return e.w }

// Write writes what the encoder wrote.
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
