package strict

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fleetwright/fleetwright/internal/output"
	"github.com/fleetwright/fleetwright/internal/secrets/credential"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

// MaxErrors is the maximum number of errors that one run reports, so that hostile input cannot cause a
// report larger than itself.
const MaxErrors = 1000

// Error is one error in a specification, with the place where to fix it.
type Error struct {
	// File is the path as the caller passed it; empty if an object has none.
	File string
	// Line and Column start at 1; 0 means that the position is unknown.
	Line   int
	Column int
	// Object is the kind and name of the object with the error, such as "Tenant payments"; empty if
	// no object could be read.
	Object string
	// Field is the path of the field with the error, such as spec.source.url or
	// spec.overrides[0].values; it may be empty.
	Field string
	// Message describes the error, and Hint how to fix it. Neither contains a secret.
	Message string
	Hint    string
}

// Error returns the message with its place: file:line:column: message. Without a
// position, it names the object instead.
func (e *Error) Error() string {
	if e.File != "" && e.Line > 0 {
		return fmt.Sprintf("%s:%d:%d: %s", output.Line(e.File), e.Line, e.Column, output.Line(e.Message))
	}
	parts := slices.DeleteFunc([]string{e.File, e.Object, e.Message}, func(s string) bool { return s == "" })
	return output.Line(strings.Join(parts, ": "))
}

// Text returns Error followed by the hint on a second line, without a final line break.
func (e *Error) Text() string {
	if e.Hint == "" {
		return e.Error()
	}
	return e.Error() + "\n  hint: " + output.Line(e.Hint)
}

// Errors are all errors of one run, sorted by file, line and column. If it is returned as an error, it is never
// empty; errors.As finds it, and the single errors in it.
type Errors []*Error

// Error returns the Text of every error, separated by line breaks.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Text()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single errors.
func (es Errors) Unwrap() []error {
	out := make([]error, len(es))
	for i, e := range es {
		out[i] = e
	}
	return out
}

// Report collects errors. The zero report is ready to use.
type Report struct {
	Errors []*Error
	seen   map[Error]bool
	more   bool
	// Compared counts the names that were compared to find hints.
	Compared int
}

// Add adds an error unless it was added before: an aliased node is visited many times.
func (r *Report) Add(e Error) {
	if r.Full() {
		r.more = true
		return
	}
	e.Object, e.Field = redact(e.Object), redact(e.Field)
	e.Message, e.Hint = redact(e.Message), redact(e.Hint)
	if r.seen == nil {
		r.seen = map[Error]bool{}
	}
	if r.seen[e] {
		return
	}
	r.seen[e] = true
	r.Errors = append(r.Errors, &e)
}

// Full reports whether a report has MaxErrors errors.
func (r *Report) Full() bool { return len(r.Errors) >= MaxErrors }

// Err returns nil, or all errors sorted.
func (r *Report) Err() error {
	if len(r.Errors) == 0 {
		return nil
	}
	sortErrors(r.Errors)
	if r.more {
		r.Errors = append(r.Errors, &Error{Message: "more errors are not shown"})
	}
	return Errors(r.Errors)
}

func sortErrors(errs []*Error) {
	sorting.StableFunc(errs, func(a, b *Error) int {
		return cmp.Or(
			strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			strings.Compare(a.Object, b.Object), strings.Compare(a.Message, b.Message),
		)
	})
}

// Patterns of secrets that a message could quote: age and PEM private keys, and the password
// in a URL.
var (
	AgePrivateKey = regexp.MustCompile(`AGE-SECRET-KEY-[0-9A-Z-]{20,}`)
	PEMPrivateKey = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)
	urlPassword   = regexp.MustCompile(`(://[^/?#\s"@:]*):[^/?#\s"]*@`)
)

// redact removes secrets from a message.
func redact(s string) string {
	s = AgePrivateKey.ReplaceAllString(s, "AGE-SECRET-KEY-…")
	if at := PEMPrivateKey.FindStringIndex(s); at != nil {
		s = s[:at[1]] + "…"
	}
	return urlPassword.ReplaceAllString(s, "$1:…@")
}

// Quote returns a value in quotes for a message, shortened.
func Quote(s string) string { return strconv.Quote(Shorten(redact(s))) }

// quoteValue is [Quote] for a value in the wrong place, where it may be a secret.
func quoteValue(s string) string {
	if credential.IsRandom(s) && !credential.IsEvident(s) {
		return "that is not shown"
	}
	return Quote(s)
}

// Shorten shortens a string of the input.
func Shorten(s string) string {
	const limit = 130 // enough for a kind and a name
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}
