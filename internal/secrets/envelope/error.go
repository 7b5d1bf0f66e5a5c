package envelope

import (
	"fmt"

	"github.com/fleetwright/fleetwright/internal/output"
)

// Reason says why a file can't be encrypted, opened or given to others.
type Reason string

// The reasons.
const (
	// NotEncrypted is a file without metadata of SOPS: it is in plaintext, or cut off before them.
	NotEncrypted Reason = "not encrypted"
	// Encrypted is a file that is to be encrypted and is already.
	Encrypted Reason = "encrypted"
	// Malformed is a file that is not in its format, or whose metadata SOPS refuses.
	Malformed Reason = "malformed"
	// Nothing is a file of which a rule chooses no value.
	Nothing Reason = "nothing"
	// Unusable is a rule, or a file, that SOPS can't encrypt by, or at all.
	Unusable Reason = "unusable"
	// BadRecipient is one that is no public key, or whose plugin isn't there.
	BadRecipient Reason = "recipient"
	// OtherService is one of a service that would have to be asked.
	OtherService Reason = "other service"
	// NoKey is a file that no private key at hand opens.
	NoKey Reason = "no key"
	// Corrupt is a data key that was changed or cut off.
	Corrupt Reason = "corrupt"
	// Changed is a file whose values aren't as they were encrypted, or whose checksum is wrong.
	Changed Reason = "changed"
)

// Error says what is wrong with a file, and where. It holds nothing that is encrypted.
type Error struct {
	Reason       Reason
	File         string
	Line, Column int // 0 where no line is to blame
	Message      string

	hint string
}

// Error gives file:line:column: message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return output.Line(e.File) + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", output.Line(e.File), e.Line, max(e.Column, 1), e.Message)
}

// Hint is the way out.
func (e *Error) Hint() string { return e.hint }

func hintOf(err error) string {
	if hinted, ok := err.(interface{ Hint() string }); ok {
		return hinted.Hint()
	}
	return ""
}
