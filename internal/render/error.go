package render

// BadInput is an error of what the user gave, as opposed to one of the machine:
// exit status 2 instead of 3.
type BadInput struct {
	Err error
	// Hint is the way out; it may be empty.
	Hint string
}

// Error is the message without the hint.
func (e *BadInput) Error() string { return e.Err.Error() }

func (e *BadInput) Unwrap() error { return e.Err }
