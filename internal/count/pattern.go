package count

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// Compile is regexp.Compile for a regular expression of a repository. It returns an *Error if its program would
// have more than limits.Pattern.
func Compile(pattern string) (*regexp.Regexp, error) {
	if _, err := Instructions(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile(pattern)
}

// CompileShort is Compile for a regular expression that many names, keys or paths are compared with. It allows
// up to limits.ShortPattern instructions.
func CompileShort(pattern string) (*regexp.Regexp, error) {
	if err := Short(pattern); err != nil {
		return nil, err
	}
	return regexp.Compile(pattern)
}

// Short returns an *Error for a regular expression with more than limits.ShortPattern instructions. It ignores
// strings that are not regular expressions.
func Short(pattern string) error {
	size, err := Instructions(pattern)
	switch above := (*Error)(nil); {
	case errors.As(err, &above):
		return above
	case size > limits.ShortPattern:
		return Errorf("a regular expression whose repetitions expand to %d instructions is not evaluated here; up to %d are", size, limits.ShortPattern)
	}
	return nil
}

// Instructions estimates the size of a regular expression's program without compiling it: the estimate
// is never too low. The error is an *Error above limits.Pattern, and otherwise regexp's.
func Instructions(pattern string) (int, error) {
	if len(pattern) > limits.PatternsTogether {
		return 0, Errorf("a regular expression of %d bytes is not evaluated; up to %d are", len(pattern), limits.PatternsTogether)
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
	if size > limits.Pattern {
		return size, Errorf("a regular expression is not evaluated: it expands to %d instructions, more than %d", size, limits.Pattern)
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
	if s.taken > limits.PatternSteps {
		return Errorf("matching its regular expressions takes more than %d steps", limits.PatternSteps)
	}
	return nil
}
