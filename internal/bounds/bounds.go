// Package bounds measures the CPU time and memory of the units of a run (the build of a Kustomization, the
// rendering of a chart, the compilation of a schema) and ends the units that exceed their bounds.
// Nothing can stop a goroutine that runs another library's code. When a unit exceeds its bound,
// the process therefore starts again in place: the same executable, the same arguments, the same
// process id, and a list of the units that it must refuse. The memory of the runaway unit
// is freed with the old image. The second image does all other work as before and reports each
// refused unit as an error. docs/decisions.md says why this was chosen over a second process.
// Nothing is measured until a command calls Start.
package bounds

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// Unit is one piece of work that has its own bound. The same input always has the same units.
type Unit struct {
	// Kind of work, such as "build", "chart", "template", "schema", "file" or "revision".
	Kind string `json:"kind"`
	// File that the work is about, relative to the repository's root; Line is 0 for all of it.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Name of the work, such as "Kustomization flux-system/apps"; "" for the file itself.
	Name string `json:"name,omitempty"`
}

func (u Unit) String() string {
	subject := output.Line(cmp.Or(u.Name, u.File))
	if subject == "" {
		return u.Kind
	}
	if u.Kind == ruleKind || u.Kind == revisionKind {
		return u.Kind + " " + subject
	}
	return u.Kind + " of " + subject
}

// Error is a unit that exceeded its bound, or that was not started because the run had exceeded its own.
type Error struct {
	Unit Unit   `json:"unit"`
	What string `json:"what"` // what was exceeded: "takes more than 400ms of CPU time"
	// Left counts the units that were not started; 0 for a unit that exceeded its own bound.
	Left int `json:"-"`
	// Counted is set if a counter exceeded its fixed limit: nothing was measured.
	Counted bool `json:"-"`
}

func (e *Error) Error() string { return "the " + e.Unit.String() + " " + e.What }

// current is the process's monitor, nil until Start.
var current atomic.Pointer[monitor]

// Do runs work as a unit. It returns an *Error without running it if the unit exceeded its bound
// before, or if the run has used up its time or memory; otherwise it returns the error of the work. A
// unit must not wait for another one, except for those that it starts itself.
func Do(u Unit, work func() error) error {
	m := current.Load()
	if m == nil {
		return work()
	}
	return m.do(u.short(), work)
}

// longestName is the maximum length of a name or file in a unit, in bytes. A process passes the units that it refuses
// to its next image in one environment variable, which may have 128 KiB (execve(2)), and errors name the units.
const longestName = 1 << 10

// short returns the unit with its names cut to longestName, still distinct from other units.
func (u Unit) short() Unit {
	u.File, u.Name = cut(u.File), cut(u.Name)
	return u
}

func cut(name string) string {
	if len(name) <= longestName {
		return name
	}
	return fmt.Sprintf("%s… (%d bytes, %x)", strings.ToValidUTF8(name[:longestName/4], ""), len(name), sha256.Sum256([]byte(name)))
}

// counted is the start of Error.What for a unit that was not checked because a counter exceeds its limit.
const counted = "was not checked: "

// Why returns the message of Error. It omits the unit if a counter exceeded its limit.
func (e *Error) Why() string {
	if e.Counted {
		return strings.TrimPrefix(e.What, counted)
	}
	return e.Error()
}

// Refuse records that a unit is not started, or not finished, because a counter exceeds its fixed limit.
// Exceeded returns the unit from then on.
func Refuse(u Unit, why string) {
	u, what := u.short(), counted+why
	e := &Error{Unit: u, What: what, Counted: true}
	if m := current.Load(); m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if known := m.met[u]; known == nil || known.Counted && what < known.What {
			m.met[u] = e // the same error, whichever unit comes first
		}
	}
}

// Refused calls Refuse and returns the error.
func Refused(u Unit, why string) *Error {
	Refuse(u, why)
	return &Error{Unit: u.short(), What: counted + why, Counted: true}
}

// Began returns when the first image of the process started, or now if nothing is measured.
func Began(now time.Time) time.Time {
	if m := current.Load(); m != nil {
		return m.state.Began
	}
	return now
}

// Grow adds bytes to the size of the input. The bounds of the units and of the run grow with it.
func Grow(bytes int) {
	if m := current.Load(); m != nil {
		m.input.Add(int64(bytes))
	}
}

// GrowRun adds bytes to the input by which only the bounds of the whole run grow: there is more work, but
// no unit of it is larger.
func GrowRun(bytes int) {
	if m := current.Load(); m != nil {
		m.more.Add(int64(bytes))
	}
}

// Exceeded returns the units that were refused in this run, sorted by file, line, kind and name.
func Exceeded() []*Error {
	m := current.Load()
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*Error
	for _, e := range m.met {
		all = append(all, e)
	}
	// A unit that exceeded its bound is reported even if this image did not reach it.
	for i := range m.state.Refused {
		if e := &m.state.Refused[i]; m.met[e.Unit] == nil {
			all = append(all, e)
		}
	}
	sorting.Func(all, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Unit.File, b.Unit.File), cmp.Compare(a.Unit.Line, b.Unit.Line),
			cmp.Compare(a.Unit.Kind, b.Unit.Kind), cmp.Compare(a.Unit.Name, b.Unit.Name))
	})
	return all
}
