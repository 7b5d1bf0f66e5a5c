package located

import (
	"github.com/fleetwright/fleetwright/internal/finding"
)

// Text is a scalar with its place.
type Text struct {
	finding.Place
	Value string
	// Unknown is why the value could not be computed, nil if it is known.
	Unknown *Unknown
}

// Unknown is why a value could not be computed.
type Unknown struct {
	Reason string
	// Missing is the file whose absence is the reason, "" for other reasons.
	Missing string
	// Stops is set if a template certainly fails, so that the tool stops there.
	Stops bool
	// Variable is the environment variable that is the value, "" for other values.
	Variable string
}

// Known returns the value, "" if it is unknown.
func (t Text) Known() string {
	if t.Unknown != nil {
		return ""
	}
	return t.Value
}

// At returns the place of a line of a file.
func At(file string, line int) finding.Place { return finding.Place{File: file, Line: line} }
