// Package advice contains an error with a hint on what the user can do.
package advice

import "errors"

// Error is an error with a hint.
type Error struct {
	err     error
	hint    string
	isInput bool
}

// New adds a hint, which may be empty, to an error for valid input that cannot be processed in the current state.
func New(err error, hint string) *Error { return &Error{err: err, hint: hint} }

// Input is like New for an error in the user's input.
func Input(err error, hint string) *Error { return &Error{err: err, hint: hint, isInput: true} }

// Error returns the message without the hint.
func (e *Error) Error() string { return e.err.Error() }

// Hint returns what the user can do; "" if that is unknown.
func (e *Error) Hint() string { return e.hint }

func (e *Error) Unwrap() error { return e.err }

// IsInput reports whether an error is one in the user's input.
func IsInput(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.isInput
}

// HintOf returns the hint of an error, "" if it has none.
func HintOf(err error) string {
	if hinted := (interface{ Hint() string })(nil); errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}
