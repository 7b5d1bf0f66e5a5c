package strict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/nearest"
)

const (
	// maxListed is how many names a hint lists.
	maxListed = 12
	// MaxCompared is how many names one report compares, so that hostile input
	// cannot make the hints cost more than the errors.
	MaxCompared = 300_000
)

// Suggest is a hint for a name that is not among the valid ones: the nearest of
// them, or what there is. Otherwise says what makes the name valid; it is empty
// where nothing does.
func (r *Report) Suggest(name, what, otherwise string, valid []string) string {
	if r.Compared += len(valid); r.Compared > MaxCompared || r.Full() {
		return otherwise
	}
	if near, ok := nearest.To(name, slices.Sorted(slices.Values(valid))); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return Choices(what, otherwise, valid)
}

// Choices is a hint that says what there is, for what is no slip of the pen.
func Choices(what, otherwise string, valid []string) string {
	if len(valid) == 0 {
		return otherwise
	}
	listed := slices.Sorted(slices.Values(valid))
	listed = slices.Compact(listed)
	if otherwise != "" {
		otherwise = "; to use another, " + otherwise
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
