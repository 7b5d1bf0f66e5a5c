package v1alpha1

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// maxListed is how many names a hint lists.
	maxListed = 12
	// maxCompared is how many names one report compares, so that hostile input
	// cannot make the hints cost more than the errors.
	maxCompared = 300_000
)

// suggest is a hint for a name that is not among the valid ones: the nearest of
// them, or what there is. Otherwise says what makes the name valid; it is empty
// where nothing does.
func (r *report) suggest(name, what, otherwise string, valid []string) string {
	if r.compared += len(valid); r.compared > maxCompared || r.full() {
		return otherwise
	}
	if near, ok := nearest(name, valid); ok {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return choices(what, otherwise, valid)
}

// choices is a hint that says what there is, for what is no slip of the pen.
func choices(what, otherwise string, valid []string) string {
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

// nearest returns the valid name with the least edit distance to a name, where
// that is small enough to be a typing error; ties go to the first in order.
func nearest(name string, valid []string) (string, bool) {
	const longest = 64 // bounds the work on hostile names
	if len(name) > longest {
		return "", false
	}
	best, found := max(1, len(name)/3)+1, ""
	for _, v := range slices.Sorted(slices.Values(valid)) {
		if len(v) > longest || v == "" || max(len(v)-len(name), len(name)-len(v)) >= best {
			continue
		}
		if d := editDistance(strings.ToLower(name), strings.ToLower(v)); d < best {
			best, found = d, v
		}
	}
	return found, found != ""
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours that turn one string into the other (optimal string alignment).
func editDistance(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
