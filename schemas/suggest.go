package schemas

import (
	"fmt"
	"strings"
)

// suggest names the field that was meant, or those that there are.
func suggest(name string, fields []string) string {
	if len(fields) == 0 {
		return ""
	}
	if best, ok := Nearest(name, fields); ok {
		return fmt.Sprintf("did you mean %q?", best)
	}
	const most = 20
	if len(fields) > most {
		return fmt.Sprintf("fields there are %s and %d more", strings.Join(fields[:most], ", "), len(fields)-most)
	}
	return "fields there are " + strings.Join(fields, ", ")
}

// Nearest returns the one of some names that a misspelt name was meant to be, and
// whether any is near enough.
func Nearest(name string, names []string) (string, bool) {
	best, distance := "", len(name)
	for _, n := range names {
		if d := editDistance(strings.ToLower(name), strings.ToLower(n)); d < distance {
			best, distance = n, d
		}
	}
	return best, best != "" && distance <= max(1, len(name)/3)
}

// editDistance is Levenshtein's, of names cut to 64 bytes.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
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
