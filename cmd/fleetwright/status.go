package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fleetwright/fleetwright/functions"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/strict"
	"github.com/fleetwright/fleetwright/internal/tree"
	"github.com/fleetwright/fleetwright/validators/rule"
)

// The exit statuses.
const (
	statusFine     = 0
	statusFindings = 1 // findings at or above the threshold, or a stale tree
	statusUsage    = 2 // wrong usage, unreadable input, nothing found to check
	statusStopped  = 3 // cannot continue
)

// failure is an error with its exit status and a hint.
type failure struct {
	status int
	// err may be nil if everything has been printed already.
	err  error
	hint string
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit status %d", f.status)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// usage turns an error into a usage error of a command.
func usage(c *cobra.Command, err error) error {
	if f := (*failure)(nil); errors.As(err, &f) {
		return err
	}
	return &failure{status: statusUsage, err: err, hint: fmt.Sprintf("run \"%s --help\"", c.CommandPath())}
}

// findingsStatus returns the error for the exit status of a command that printed findings or changes.
func findingsStatus() error { return &failure{status: statusFindings} }

// fail prints an error, or each of several errors, with its hint on the next line. It returns the exit status.
func (s streams) fail(err error) int {
	if err == nil {
		return statusFine
	}
	status, text := explain(err)
	if text != "" {
		_ = output.Printf(s.err, "%s\n", output.Lines(text))
	}
	return status
}

// explain returns an error's exit status and the text to print.
func explain(err error) (status int, text string) {
	var (
		known *failure
		spec  strict.Errors
		one   *strict.Error
		file  *tree.FileError

		findings *functions.FindingsError
		exceeded *bounds.Error
	)
	if report, ok := exceededReport(err); ok {
		f := report.Findings[0]
		return statusFindings, withHint("error: "+f.Message, f.Hint)
	}
	switch {
	case errors.As(err, &exceeded):
		return statusFindings, withHint(errorText(err), rule.LimitHint)
	case errors.As(err, &findings):
		return statusFindings, findings.Text
	case errors.As(err, &known):
		if known.err == nil {
			return known.status, ""
		}
		return known.status, withHint(errorText(known.err), known.hint)
	case errors.As(err, &spec), errors.As(err, &one):
		return statusUsage, errorText(err)
	case errors.As(err, &file):
		return statusUsage, withHint(errorText(err), file.Hint)
	case advice.IsInput(err):
		return statusUsage, withHint(errorText(err), advice.HintOf(err))
	}
	return statusStopped, withHint(errorText(err), advice.HintOf(err))
}

// errorText returns an error's text, with each file name in it on one line, because file names may contain line breaks.
func errorText(err error) string {
	text := err.Error()
	for _, name := range fileNames(err) {
		text = strings.ReplaceAll(text, name, output.Line(name))
	}
	return text
}

// fileNames returns the file names in the file system errors that an error wraps.
func fileNames(err error) []string {
	switch e := err.(type) { //nolint:errorlint // this function visits the whole tree of errors itself
	case *fs.PathError:
		return []string{e.Path}
	case *os.LinkError:
		return []string{e.Old, e.New}
	case interface{ Unwrap() []error }:
		var all []string
		for _, one := range e.Unwrap() {
			all = append(all, fileNames(one)...)
		}
		return all
	case interface{ Unwrap() error }:
		return fileNames(e.Unwrap())
	}
	return nil
}

// withHint returns a message with the hint on a line of its own.
func withHint(message, hint string) string {
	if hint == "" {
		return message
	}
	return strings.TrimRight(message, "\n") + "\n  hint: " + hint
}
