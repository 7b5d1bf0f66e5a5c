package output

import "unicode"

// guard reads a text and finds the characters that complete the start of a command to a CI
// system.
type guard struct {
	line lineState
	hash hashState
}

// lineState describes the start of the current line.
type lineState int

const (
	blank  lineState = iota // only white space
	colon                   // white space and one colon
	inside                  // other characters
)

// hashState describes how much of "##name[" has been read.
type hashState int

const (
	noHash hashState = iota
	oneHash
	hashes // two or more
	hashesAndName
)

// completes reports whether the next character is the second colon at the start of a line, or the
// bracket of "##[" or "##name[". It ignores combining marks, because the string comparison of some CI runners
// ignores them.
func (g *guard) completes(r rune) bool {
	if unicode.Is(unicode.Mn, r) {
		return false
	}
	return g.atStart(r) || g.afterHashes(r)
}

func (g *guard) atStart(r rune) bool {
	switch was := g.line; {
	case r == '\n':
		g.line = blank
	case was == blank && r == ':':
		g.line = colon
	case was != blank || !unicode.IsSpace(r):
		g.line = inside
		if was == colon && r == ':' {
			g.hash = noHash
			return true
		}
	}
	return false
}

func (g *guard) afterHashes(r rune) bool {
	was := g.hash
	switch {
	case r == '#' && (was == oneHash || was == hashes):
		g.hash = hashes
	case r == '#':
		g.hash = oneHash
	case was >= hashes && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'):
		g.hash = hashesAndName
	default:
		g.hash = noHash
		return was >= hashes && r == '['
	}
	return false
}
