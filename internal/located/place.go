package located

// Place is a line of a file; the line is 0 where it isn't known.
type Place struct {
	File string
	Line int
}

// Text is a scalar of a helmfile and where it stands.
type Text struct {
	Place
	Value string
	// Unknown says why the value could not be computed.
	Unknown *Unknown
}

// Unknown says why a value could not be computed.
type Unknown struct {
	Reason string
	// Missing is the file whose absence is the reason, "" for another reason.
	Missing string
	// Stops says that a template certainly fails, so that the tool stops there.
	Stops bool
	// Variable is the environment variable whose value this is, "" of anything else.
	Variable string
	// Expression tells apart what functions make of a mark, and negated a condition's contrary.
	Expression string
	Negated    bool
}

// Known is the value, "" where it is unknown.
func (t Text) Known() string {
	if t.Unknown != nil {
		return ""
	}
	return t.Value
}

// At is the place of a line of a file.
func At(file string, line int) Place { return Place{file, line} }
