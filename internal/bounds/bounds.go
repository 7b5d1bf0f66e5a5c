// Package bounds measures what the units of a run take (the build of a Kustomization, the
// rendering of a chart, the compilation of a schema) and ends those that take more CPU time or
// memory than they may.
//
// Nothing can stop a goroutine that runs another library's code. When a unit exceeds its bound,
// the process therefore starts again in place: the same executable, the same arguments, the same
// process id, and a list of the units that it must refuse. Everything that the runaway unit held
// is gone with the old image. The second image does all other work as before and reports each
// refused unit as an error. docs/decisions.md says why this was chosen over a second process.
//
// Nothing is measured until a command calls Start.
package bounds

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Unit is one piece of work that has a bound of its own. The same input always gives the same
// units.
type Unit struct {
	// Kind of work, such as "build", "chart", "template", "schema", "file" or "revision".
	Kind string `json:"kind"`
	// File that the work is about, relative to the repository's root; Line is 0 for all of it.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Name of what the work is about, such as "Kustomization flux-system/apps"; "" is the file.
	Name string `json:"name,omitempty"`
}

func (u Unit) String() string {
	subject := cmp.Or(u.Name, u.File)
	if subject == "" {
		return u.Kind
	}
	if u.Kind == ruleKind || u.Kind == revisionKind {
		return u.Kind + " " + subject
	}
	return u.Kind + " of " + subject
}

// Error is a unit that exceeded its bound, or that was not begun because the run had exceeded its own.
type Error struct {
	Unit Unit   `json:"unit"`
	What string `json:"what"` // what was exceeded: "takes more than 400ms of CPU time"
	// Left counts the units that were not begun; 0 for a unit that exceeded its own bound.
	Left int `json:"-"`
	// Counted says that a counter exceeded its fixed limit: nothing was measured.
	Counted bool `json:"-"`
}

func (e *Error) Error() string { return "the " + e.Unit.String() + " " + e.What }

// current is the process's monitor, nil until Start.
var current atomic.Pointer[monitor]

// Do runs work as a unit. It returns an *Error without running it when the unit exceeded its bound
// before, or when the run has used up what it may take; otherwise it returns work's error. A unit
// must not wait for another one, except for those that it begins itself.
func Do(u Unit, work func() error) error {
	m := current.Load()
	if m == nil {
		return work()
	}
	return m.do(u.short(), work)
}

// longestName is the bytes of a name or file in a unit: a process hands the units that it must not begin
// again to its next image in one environment variable, which may have 128 KiB (execve(2)), and an error
// names them.
const longestName = 1 << 10

// short is a unit whose names are cut, and still tell it from others.
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

// counted begins What of a unit that was not checked since a counter exceeds its limit.
const counted = "was not checked: "

// Why is what Error says, without the unit where a counter exceeded its limit.
func (e *Error) Why() string {
	if e.Counted {
		return strings.TrimPrefix(e.What, counted)
	}
	return e.Error()
}

// Refuse notes that a unit is not begun, or not finished, since a counter exceeds its fixed limit.
// Exceeded returns it from then on.
func Refuse(u Unit, why string) {
	u, what := u.short(), counted+why
	e := &Error{Unit: u, What: what, Counted: true}
	if m := current.Load(); m != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		if known := m.met[u]; known == nil || known.Counted && what < known.What {
			m.met[u] = e // the same one, whichever comes first
		}
	}
}

// Began returns when the first image of the process began: now, where nothing is measured.
func Began(now time.Time) time.Time {
	if m := current.Load(); m != nil {
		return m.state.Began
	}
	return now
}

// Grow adds bytes of input to those that the bounds of units and of the run grow with.
func Grow(bytes int) {
	if m := current.Load(); m != nil {
		m.input.Add(int64(bytes))
	}
}

// GrowRun adds bytes to those that the bounds of the run alone grow with: there is more work, and no unit
// of it is larger.
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
	// A unit that exceeded its bound is reported even where this image did not come to it.
	for i := range m.state.Refused {
		if e := &m.state.Refused[i]; m.met[e.Unit] == nil {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Unit.File, b.Unit.File), cmp.Compare(a.Unit.Line, b.Unit.Line),
			cmp.Compare(a.Unit.Kind, b.Unit.Kind), cmp.Compare(a.Unit.Name, b.Unit.Name))
	})
	return all
}
