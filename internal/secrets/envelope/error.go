package envelope

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/output"
)

// Reason is the reason why a file cannot be encrypted, decrypted or updated.
type Reason string

// The reasons.
const (
	// NotEncrypted is a file without SOPS metadata: it is in plaintext, or truncated before the metadata.
	NotEncrypted Reason = "not encrypted"
	// Encrypted is a file that should be encrypted but already is.
	Encrypted Reason = "encrypted"
	// Malformed is a file that is not valid in its format, or whose metadata SOPS refuses.
	Malformed Reason = "malformed"
	// Nothing is a file without any value to encrypt: it is empty, or the creation rule selects none of its values.
	Nothing Reason = "nothing"
	// Unusable is a rule that cannot be used to encrypt, or a file that SOPS cannot encrypt.
	Unusable Reason = "unusable"
	// BadRecipient is a recipient that is not a public key, or whose plugin is not installed.
	BadRecipient Reason = "recipient"
	// OtherService is a recipient of a service that would have to be contacted.
	OtherService Reason = "other service"
	// NoKey is a file that no locally available private key decrypts.
	NoKey Reason = "no key"
	// Corrupt is a data key that was changed or truncated.
	Corrupt Reason = "corrupt"
	// Changed is a file whose values were changed after encryption, or whose checksum is wrong.
	Changed Reason = "changed"
)

// Error is an error in a file, with its place. It contains no encrypted value.
type Error struct {
	Reason       Reason
	File         string
	Line, Column int // 0 if the error has no line
	Message      string

	hint string
}

// Error returns file:line:column: message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return output.Line(e.File) + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", output.Line(e.File), e.Line, max(e.Column, 1), e.Message)
}

// Hint returns how to fix the error.
func (e *Error) Hint() string { return e.hint }

func hintOf(err error) string {
	if hinted, ok := err.(interface{ Hint() string }); ok {
		return hinted.Hint()
	}
	return ""
}
