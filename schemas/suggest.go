package schemas

import (
	"fmt"
	"strings"
)

// suggest names the field that was meant, or those that there are, as a hint; meant is "" where
// none comes near.
func suggest(name string, fields []string) (hint, meant string) {
	if len(fields) == 0 {
		return "", ""
	}
	if best, ok := Nearest(name, fields); ok {
		return fmt.Sprintf("did you mean %q?", best), best
	}
	const most = 20
	if len(fields) > most {
		return fmt.Sprintf("fields there are %s and %d more", strings.Join(fields[:most], ", "), len(fields)-most), ""
	}
	return "fields there are " + strings.Join(fields, ", "), ""
}

// Nearest returns the one of some names that a misspelt name was meant to be, and
// whether any is near enough.
func Nearest(name string, names []string) (string, bool) {
	best, distance := "", len(name)
	lower, furthest := cut(strings.ToLower(name)), max(1, len(name)/3)
	var row distances
	for _, n := range names {
		other := cut(strings.ToLower(n))
		if apart := len(other) - len(lower); max(apart, -apart) > furthest {
			continue // so many letters are added or lost at least
		}
		if d := row.distance(lower, other); d < distance {
			best, distance = n, d
		}
	}
	return best, best != "" && distance <= furthest
}

// longestCompared is how much of a name is compared, in bytes.
const longestCompared = 64

func cut(name string) string { return name[:min(len(name), longestCompared)] }

// editDistance is Levenshtein's, of cut names.
func editDistance(a, b string) int {
	var row distances
	return row.distance(cut(a), cut(b))
}

// distances is a row of Levenshtein's table.
type distances [longestCompared + 1]int

func (row *distances) distance(a, b string) int {
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
