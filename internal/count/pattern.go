package count

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

const (
	// MostInstructions is the size of a regular expression, in instructions of its program. Those of
	// definitions in use have up to some thousand.
	MostInstructions = 50_000
	// MostShort is the size of a regular expression for names, keys and paths, which many are compared with.
	MostShort = 2_000
	// MostTogether is the size of all regular expressions of one file.
	MostTogether = 200_000
	// mostPattern is the length of a regular expression in bytes.
	mostPattern = 100_000
	// mostSteps bounds the matches of a unit of work: instructions times the bytes of the texts.
	mostSteps = 200_000_000
)

// Compile is regexp.Compile for a regular expression of a repository: an *Error where its program would
// have more than MostInstructions.
func Compile(pattern string) (*regexp.Regexp, error) {
	if _, err := Instructions(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile(pattern)
}

// CompileShort is Compile for a regular expression that is compared with many names, keys or paths: it has
// up to MostShort instructions.
func CompileShort(pattern string) (*regexp.Regexp, error) {
	if err := Short(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile(pattern)
}

// Short returns an *Error for a regular expression of more than MostShort instructions. It says nothing of
// a text that is no regular expression.
func Short(pattern string) error {
	size, err := Instructions(pattern)
	switch above := (*Error)(nil); {
	case errors.As(err, &above):
		return above
	case size > MostShort:
		return Errorf("a regular expression whose repetitions come to %d instructions is not evaluated here; up to %d are", size, MostShort)
	}
	return nil
}

// Instructions estimates the size of a regular expression's program without compiling it: the estimate
// is never too low. The error is an *Error above MostInstructions, and otherwise regexp's.
func Instructions(pattern string) (int, error) {
	if len(pattern) > mostPattern {
		return 0, Errorf("a regular expression of %d bytes is not evaluated; up to %d are", len(pattern), mostPattern)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	var refused *syntax.Error
	switch {
	case errors.As(err, &refused) && refused.Code == syntax.ErrLarge:
		return 0, Errorf("a regular expression is not evaluated: its repetitions come to more than regexp takes")
	case err != nil:
		return 0, err
	}
	size := 2 + instructions(parsed) // fail and match
	if size > MostInstructions {
		return size, Errorf("a regular expression whose repetitions come to %d instructions is not evaluated; up to %d are", size, MostInstructions)
	}
	return size, nil
}

// instructions is the size of a part, as regexp/syntax compiles it once its repetitions are spelt out.
func instructions(re *syntax.Regexp) int {
	below := 0
	for _, sub := range re.Sub {
		below = min(below+instructions(sub), 1<<40)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return max(1, len(re.Rune))
	case syntax.OpConcat:
		return max(1, below)
	case syntax.OpCapture:
		return below + 2
	case syntax.OpStar:
		return below + 2
	case syntax.OpPlus, syntax.OpQuest:
		return below + 1
	case syntax.OpAlternate:
		return below + len(re.Sub)
	case syntax.OpRepeat:
		if re.Max < 0 {
			return times(below, max(1, re.Min)) + 2
		}
		return times(below, re.Min) + times(below+1, re.Max-re.Min) + 1
	}
	return below + 1
}

// Steps bounds the matches of a unit of work. The zero value has taken none.
type Steps struct{ taken int }

// Take counts the match of an expression of some instructions with texts of some bytes. It returns an
// *Error once all come to more than the limit.
func (s *Steps) Take(instructions, bytes int) error {
	s.taken = min(s.taken+times(instructions, bytes), 1<<40)
	if s.taken > mostSteps {
		return Errorf("its regular expressions and the texts that they are compared with come to more than %d steps", mostSteps)
	}
	return nil
}
