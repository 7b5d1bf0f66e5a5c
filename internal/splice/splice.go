// Package splice changes texts in files byte by byte: what stands around a change, comments
// and layout, stays as it is.
package splice

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/finding"
)

// Result is what became of a set of fixes.
type Result struct {
	// Files are the new contents, by path; files without a change are not among them.
	Files map[string][]byte
	// Before are the contents that the new ones were made of, for the same paths.
	Before map[string][]byte
	// Done and Refused count the fixes that were made, and those that were not
	// since the file is not as expected there, or another fix changes the same place.
	Done, Refused int
}

// Apply makes fixes, each with all its edits or none, on files that read reads. The edits of
// a file don't depend on their order. An error is one of reading.
func Apply(read func(path string) ([]byte, error), fixes []*finding.Fix) (Result, error) {
	r := Result{Files: map[string][]byte{}, Before: map[string][]byte{}}
	contents := map[string][]byte{}
	taken := map[string][]span{}
	for _, fix := range fixes {
		spans, err := locate(read, contents, fix)
		if err != nil && !errors.Is(err, errElsewhere) {
			return r, err
		}
		if err != nil || overlap(taken, spans) {
			r.Refused++
			continue
		}
		r.Done++
		for file, list := range spans {
			taken[file] = append(taken[file], list...)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(taken)) {
		r.Files[file], r.Before[file] = replace(contents[file], taken[file]), contents[file]
	}
	return r, nil
}

// span is an edit as bytes of a file.
type span struct {
	from, to int
	text     string
}

// errElsewhere says that a text doesn't stand where an edit expects it.
var errElsewhere = errors.New("the file is not as expected")

func locate(read func(string) ([]byte, error), contents map[string][]byte, fix *finding.Fix) (map[string][]span, error) {
	spans := map[string][]span{}
	for _, e := range fix.Edits {
		data, known := contents[e.File]
		if !known {
			var err error
			if data, err = read(e.File); err != nil {
				return nil, fmt.Errorf("%s: %w", e.File, err)
			}
			contents[e.File] = data
		}
		at, ok := offset(data, e.Line, e.Column)
		if !ok || !bytes.HasPrefix(data[at:], []byte(e.Old)) {
			return nil, errElsewhere
		}
		text := e.New
		if end := bytes.IndexByte(data[at:], '\n'); end > 0 && data[at+end-1] == '\r' {
			text = strings.ReplaceAll(text, "\n", "\r\n") // as the file ends its lines
		}
		spans[e.File] = append(spans[e.File], span{at, at + len(e.Old), text})
	}
	return spans, nil
}

// offset finds the byte of a line and column, which counts characters from 1.
func offset(data []byte, line, column int) (int, bool) {
	at := 0
	for range line - 1 {
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			return 0, false
		}
		at += end + 1
	}
	if line == 1 {
		at += len(data) - len(bytes.TrimPrefix(data, []byte("\ufeff")))
	}
	for range column - 1 {
		r, size := utf8.DecodeRune(data[at:])
		if size == 0 || r == '\n' {
			return 0, false
		}
		at += size
	}
	return at, line > 0 && column > 0
}

// overlap says whether a span meets one that is taken. Two insertions at one place do.
func overlap(taken, spans map[string][]span) bool {
	for file, list := range spans {
		for _, s := range list {
			if slices.ContainsFunc(taken[file], func(t span) bool {
				return s.from < t.to && t.from < s.to || s.from == t.from
			}) {
				return true
			}
		}
	}
	return false
}

func replace(data []byte, spans []span) []byte {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	at := 0
	for _, s := range spans {
		out.Write(data[at:s.from])
		out.WriteString(s.text)
		at = s.to
	}
	out.Write(data[at:])
	return out.Bytes()
}
