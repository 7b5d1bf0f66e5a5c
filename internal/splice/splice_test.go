package splice

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/fleetwright/fleetwright/internal/finding"
)

func edit(line, column int, old, text string) *finding.Fix {
	return &finding.Fix{Edits: []finding.Edit{{Place: finding.Place{File: "a.yaml", Line: line, Column: column}, Old: old, New: text}}}
}

func TestApply(t *testing.T) {
	const text = "\ufeffa: b # über\r\nc:  \"d\"\nlast: x"
	for _, c := range []struct {
		name          string
		fixes         []*finding.Fix
		want          string
		done, refused int
	}{
		{"a value", []*finding.Fix{edit(2, 5, `"d"`, `"e"`)}, "\ufeffa: b # über\r\nc:  \"e\"\nlast: x", 1, 0},
		{"the first line", []*finding.Fix{edit(1, 4, "b", "bb")}, "\ufeffa: bb # über\r\nc:  \"d\"\nlast: x", 1, 0},
		{"a line more", []*finding.Fix{edit(1, 1, "a", "z: 1\na"), edit(2, 1, "c", "y: 1\nc")}, "\ufeffz: 1\r\na: b # über\r\ny: 1\nc:  \"d\"\nlast: x", 2, 0},
		{"after a wide character", []*finding.Fix{edit(1, 9, "ber", "BER")}, "\ufeffa: b # üBER\r\nc:  \"d\"\nlast: x", 1, 0},
		{"an insertion", []*finding.Fix{edit(3, 1, "", "new: 1\n")}, "\ufeffa: b # über\r\nc:  \"d\"\nnew: 1\nlast: x", 1, 0},
		{"the last character", []*finding.Fix{edit(3, 7, "x", "yy")}, "\ufeffa: b # über\r\nc:  \"d\"\nlast: yy", 1, 0},
		{"any order", []*finding.Fix{edit(3, 7, "x", "y"), edit(1, 4, "b", "bb")}, "\ufeffa: bb # über\r\nc:  \"d\"\nlast: y", 2, 0},
		{"another text there", []*finding.Fix{edit(3, 7, "z", "y")}, "", 0, 1},
		{"beyond the line", []*finding.Fix{edit(2, 40, "", "y")}, "", 0, 1},
		{"beyond the file", []*finding.Fix{edit(9, 1, "", "y")}, "", 0, 1},
		{"no position", []*finding.Fix{edit(0, 0, "", "y")}, "", 0, 1},
		{"twice the same", []*finding.Fix{edit(3, 7, "x", "y"), edit(3, 7, "x", "z")}, "\ufeffa: b # über\r\nc:  \"d\"\nlast: y", 1, 1},
		{"all or nothing", []*finding.Fix{{Edits: append(edit(3, 7, "x", "y").Edits, edit(1, 4, "?", "z").Edits...)}}, "", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Apply(func(string) ([]byte, error) { return []byte(text), nil }, c.fixes)
			if err != nil || r.Done != c.done || r.Refused != c.refused || string(r.Files["a.yaml"]) != c.want {
				t.Errorf("got %q, %d done, %d refused, %v; want %q, %d, %d", r.Files["a.yaml"], r.Done, r.Refused, err, c.want, c.done, c.refused)
			}
			if before, ok := r.Before["a.yaml"]; ok != (c.done > 0) || ok && string(before) != text {
				t.Errorf("it was made of %q", before)
			}
		})
	}
	if _, err := Apply(func(string) ([]byte, error) { return nil, fs.ErrNotExist }, []*finding.Fix{edit(1, 1, "", "x")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that cannot be read gives %v", err)
	}
}
