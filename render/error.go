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

// Refusal is an error of a sound input that cannot be carried out as things
// stand: exit status 3, with a way out.
type Refusal struct {
	Err  error
	Hint string
}

// Error is the message without the hint.
func (e *Refusal) Error() string { return e.Err.Error() }

func (e *Refusal) Unwrap() error { return e.Err }
