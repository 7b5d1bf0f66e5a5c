package strict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/nearest"
)

const (
	// maxListed is the maximum number of names in a hint.
	maxListed = 12
	// MaxCompared is the maximum number of names that one report compares, so that for hostile input, too, the hints cost
	// less than the errors.
	MaxCompared = 300_000
)

// Suggest returns a hint for a name that is not among the valid ones: the most similar valid name, or the list of them.
// otherwise is the hint on how to add the name to the valid ones; "" if this is impossible.
func (r *Report) Suggest(name, what, otherwise string, valid []string) string {
	if r.Compared += len(valid); r.Compared > MaxCompared || r.Full() {
		return otherwise
	}
	if near, ok := nearest.To(name, slices.Sorted(slices.Values(valid))); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return Choices(what, otherwise, valid)
}

// Choices returns a hint that lists the valid names, for a name that is not a typo of one of them.
func Choices(what, otherwise string, valid []string) string {
	if len(valid) == 0 {
		return otherwise
	}
	listed := slices.Sorted(slices.Values(valid))
	listed = slices.Compact(listed)
	if otherwise != "" {
		otherwise = "; to use a different one, " + otherwise
	}
	if len(listed) == 1 {
		return fmt.Sprintf("the only %s is %s%s", what, listed[0], otherwise)
	}
	rest := ""
	if n := len(listed) - maxListed; n > 0 {
		listed, rest = listed[:maxListed], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("the %ss are %s%s%s", what, strings.Join(listed, ", "), rest, otherwise)
}
