package count

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

const (
	// MostInstructions is the maximum size of a regular expression, in instructions of its program. Those of
	// real CustomResourceDefinitions have up to some thousands.
	MostInstructions = 50_000
	// MostShort is the maximum size, in instructions, of a regular expression that many names, keys or paths are compared with.
	MostShort = 2_000
	// MostTogether is the maximum size, in instructions, of all regular expressions in one file.
	MostTogether = 200_000
	// mostPattern is the maximum length of a regular expression in bytes.
	mostPattern = 100_000
	// mostSteps limits the matches of a unit of work: instructions multiplied by the bytes of the strings.
	mostSteps = 200_000_000
)

// Compile is regexp.Compile for a regular expression of a repository. It returns an *Error if its program would
// have more than MostInstructions.
func Compile(pattern string) (*regexp.Regexp, error) {
	if _, err := Instructions(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile(pattern)
}

// CompileShort is Compile for a regular expression that many names, keys or paths are compared with. It allows
// up to MostShort instructions.
func CompileShort(pattern string) (*regexp.Regexp, error) {
	if err := Short(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile(pattern)
}

// Short returns an *Error for a regular expression with more than MostShort instructions. It ignores
// strings that are not regular expressions.
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
		return 0, Errorf("a regular expression was not evaluated: its repetitions exceed the limit of regexp")
	case err != nil:
		return 0, err
	}
	size := 2 + instructions(parsed) // the instructions fail and match
	if size > MostInstructions {
		return size, Errorf("a regular expression whose repetitions come to %d instructions is not evaluated; up to %d are", size, MostInstructions)
	}
	return size, nil
}

// instructions returns the size of a part, as regexp/syntax compiles it once its repetitions are expanded.
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

// Steps bounds the regular expression matches of a unit of work. The zero value is ready to use.
type Steps struct{ taken int }

// Take counts the match of a regular expression with a number of instructions against strings with a number of bytes. It
// returns an *Error when the total exceeds the limit.
func (s *Steps) Take(instructions, bytes int) error {
	s.taken = min(s.taken+times(instructions, bytes), 1<<40)
	if s.taken > mostSteps {
		return Errorf("its regular expressions and the texts that they are compared with come to more than %d steps", mostSteps)
	}
	return nil
}
