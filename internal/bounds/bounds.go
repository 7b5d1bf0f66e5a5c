// Package bounds ends work that takes too much time or memory because a hostile file keeps a library busy. The guards are so
// generous that no honest repository meets them. Work that is known to explode is counted instead (package limits).
//
// Nothing can stop a goroutine that runs a library's code. A unit of work that exceeds a guard is therefore
// abandoned: its goroutine goes on until the process exits, and its result is ignored. A unit must not write to
// anything that others read; its result is what it returns. Nothing is guarded until main calls Start.
package bounds

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Unit is one piece of work that can be abandoned. The same input always has the same units.
type Unit struct {
	Kind string // such as "build", "chart", "schema", "file" or "revision"
	File string // the file that is worked on, relative to the repository's root
	Line int    // 0 for the whole file
	Name string // such as "Kustomization flux-system/apps"; "" for the file itself
}

func (u Unit) String() string {
	subject := output.Line(cmp.Or(u.Name, u.File))
	switch {
	case subject == "":
		return u.Kind
	case u.Kind == "revision":
		return u.Kind + " " + subject
	}
	return u.Kind + " of " + subject
}

// Error is a unit that exceeded a guard or a counter, or that was not started because the run is over.
type Error struct {
	Unit Unit
	What string // what was exceeded: "takes more than 30s"
	Hint string // what to do, if What is not about a limit
	// Counted is set if a counter exceeded its fixed limit, Slow if the unit took longer than any unit may.
	Counted, Slow bool
}

func (e *Error) Error() string {
	if e.Counted {
		return "the " + e.Unit.String() + " was not checked: " + e.What
	}
	return "the " + e.Unit.String() + " " + e.What
}

// Why returns the message of Error. It omits the unit if a counter exceeded its limit.
func (e *Error) Why() string {
	if e.Counted {
		return e.What
	}
	return e.Error()
}

// Do runs work as a unit and returns its result. If the unit exceeds a guard, Do abandons it and returns an *Error.
// Once the run is over, Do returns an *Error without running anything.
func Do[T any](u Unit, work func() (T, error)) (T, error) { return run(u, true, work) }

// Check is Do for work without a result.
func Check(u Unit, work func() error) error {
	_, err := run(u, true, func() (struct{}, error) { return struct{}{}, work() })
	return err
}

// Whole runs work that consists of other units. It may take as long as the run, and is abandoned when the run is over.
func Whole[T any](u Unit, work func() (T, error)) (T, error) { return run(u, false, work) }

// Refuse records that a unit was not checked because a counter exceeds its fixed limit. Exceeded then returns the unit.
func Refuse(u Unit, why string) { _ = Refused(u, why, "") }

// Refused is Refuse, and returns the error that Exceeded returns. hint is what to do if why is not about a limit, otherwise "".
func Refused(u Unit, why, hint string) *Error {
	e := &Error{Unit: u, What: why, Counted: true, Hint: hint}
	if g := current.Load(); g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.record(e)
	}
	return e
}

// Exceeded returns the units that exceeded a guard or a counter in this run, sorted by file, line, kind and name.
func Exceeded() []*Error {
	g := current.Load()
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	all := slices.Collect(maps.Values(g.met))
	sorting.Func(all, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Unit.File, b.Unit.File), cmp.Compare(a.Unit.Line, b.Unit.Line),
			cmp.Compare(a.Unit.Kind, b.Unit.Kind), cmp.Compare(a.Unit.Name, b.Unit.Name))
	})
	return all
}
