package tree

import "fmt"

// FileError is something wrong with one of the files that the package keeps for
// itself, with the place to mend it.
type FileError struct {
	// File is relative to the folder's root, with forward slashes.
	File string
	// Line and Column start at 1 and are 0 where there is no position.
	Line   int
	Column int
	// Message says what is wrong, Hint the way out.
	Message string
	Hint    string
}

// Error is the message behind its place: file:line:column: message.
func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Text is Error followed by the hint on a line of its own, without a line break
// at its end.
func (e *FileError) Text() string {
	if e.Hint == "" {
		return e.Error()
	}
	return e.Error() + "\n  hint: " + e.Hint
}
