package render

// BadInput is an error in the user's input: exit status 2 instead of 3.
type BadInput struct {
	Err error
	// Hint says how to fix it; it may be empty.
	Hint string
}

// Error returns the message without the hint.
func (e *BadInput) Error() string { return e.Err.Error() }

func (e *BadInput) Unwrap() error { return e.Err }

// Refusal is an error for valid input that cannot be processed in the current state: exit status 3,
// with a hint.
type Refusal struct {
	Err  error
	Hint string
}

// Error returns the message without the hint.
func (e *Refusal) Error() string { return e.Err.Error() }

func (e *Refusal) Unwrap() error { return e.Err }
