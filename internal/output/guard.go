package output

import "unicode"

// guard follows a text and finds the characters that complete the beginning of a command to a CI
// system.
type guard struct {
	line lineState
	hash hashState
}

// lineState is what a line holds so far.
type lineState int

const (
	blank  lineState = iota // nothing but white space
	colon                   // and one colon behind it
	inside                  // other things
)

// hashState is how far the text is in "##name[".
type hashState int

const (
	noHash hashState = iota
	oneHash
	hashes // two or more
	hashesAndName
)

// completes says whether the next character is the second colon at the start of a line, or the
// bracket of "##[" or "##name[". Marks that combine with the character before them count as
// absent: the comparison of texts by which runners look for commands ignores some.
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
