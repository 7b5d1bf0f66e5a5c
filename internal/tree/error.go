package tree

import "fmt"

// FileError is an error in one of the package's own files, with the place to fix it.
type FileError struct {
	// File is relative to the folder's root, with forward slashes.
	File string
	// Line and Column start at 1; 0 means that the position is unknown.
	Line   int
	Column int
	// Message describes the error, and Hint how to fix it.
	Message string
	Hint    string
}

// Error returns the message with its place: file:line:column: message.
func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Text returns Error followed by the hint on a second line, without a final line break.
func (e *FileError) Text() string {
	if e.Hint == "" {
		return e.Error()
	}
	return e.Error() + "\n  hint: " + e.Hint
}
