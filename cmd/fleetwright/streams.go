package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/fleetwright/fleetwright/internal/output"
)

// streams are the input, outputs and environment of a command. Text is written to out and err through
// output.Printf; machine-readable formats have their own writers.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
}

// colour reports whether out is a terminal that should get colours (https://no-color.org).
func (s streams) colour() bool {
	f, ok := fileOf(output.Raw(s.out))
	return ok && term.IsTerminal(int(f.Fd())) && s.env("NO_COLOR") == "" && s.env("TERM") != "dumb"
}

// fileOf returns the file that a stream writes to, and whether it is a file.
func fileOf(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok
}

// alternatives joins allowed values, such as "a, b or c".
func alternatives(values []string) string {
	values = slices.Clone(values)
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	return strings.Join(values[:len(values)-1], ", ") + " or " + values[len(values)-1]
}
