// Package splice edits files byte by byte: the rest of a file, including comments and layout, stays
// unchanged.
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
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Result is the result of a set of fixes.
type Result struct {
	// Files are the new contents, by path, of the files that change.
	Files map[string][]byte
	// Before are the old contents, for the same paths.
	Before map[string][]byte
	// Done counts the fixes that were applied. Refused counts those that were not, because the file
	// differs from what they expect, or because another fix changes the same place.
	Done, Refused int
	// Applied contains the fixes that were applied.
	Applied map[*finding.Fix]bool
}

// Apply applies fixes, each with all its edits or none, to the files that read returns. The order of the edits in
// a file does not matter. Its errors come from read.
func Apply(read func(path string) ([]byte, error), fixes []*finding.Fix) (Result, error) {
	r := Result{Files: map[string][]byte{}, Before: map[string][]byte{}, Applied: map[*finding.Fix]bool{}}
	contents := map[string][]byte{}
	accepted := map[string][]span{}
	for _, fix := range fixes {
		spans, err := locate(read, contents, fix)
		if err != nil && !errors.Is(err, errElsewhere) {
			return r, err
		}
		if err != nil || overlap(accepted, spans) {
			r.Refused++
			continue
		}
		r.Done++
		r.Applied[fix] = true
		for file, list := range spans {
			accepted[file] = append(accepted[file], list...)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(accepted)) {
		r.Files[file], r.Before[file] = replace(contents[file], accepted[file]), contents[file]
	}
	return r, nil
}

// span is an edit as a range of bytes in a file.
type span struct {
	from, to int
	text     string
}

// errElsewhere is returned if a file does not contain a string where an edit expects it.
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
			text = strings.ReplaceAll(text, "\n", "\r\n") // the line endings of the file
		}
		spans[e.File] = append(spans[e.File], span{at, at + len(e.Old), text})
	}
	return spans, nil
}

// offset returns the offset of a line and column, which count lines and characters from 1.
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

// overlap reports whether a span overlaps with an applied one. Two insertions at the same place overlap.
func overlap(accepted, spans map[string][]span) bool {
	for file, list := range spans {
		for _, s := range list {
			if slices.ContainsFunc(accepted[file], func(t span) bool {
				return s.from < t.to && t.from < s.to || s.from == t.from
			}) {
				return true
			}
		}
	}
	return false
}

func replace(data []byte, spans []span) []byte {
	sorting.Func(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
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
