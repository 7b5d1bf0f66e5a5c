package schemas

import (
	"fmt"
	"strings"

	"github.com/fleetwright/fleetwright/internal/nearest"
)

// suggest returns a hint with the field that was probably intended, or with the existing fields; intended is "" if none
// is similar.
func suggest(name string, fields []string) (hint, intended string) {
	if len(fields) == 0 {
		return "", ""
	}
	if best, ok := nearest.To(name, fields); ok {
		return fmt.Sprintf("did you mean %q?", best), best
	}
	const most = 20
	if len(fields) > most {
		return fmt.Sprintf("the existing fields are %s and %d more", strings.Join(fields[:most], ", "), len(fields)-most), ""
	}
	return "the existing fields are " + strings.Join(fields, ", "), ""
}

// Misspelt returns the name in names of which name is a typo: a letter is missing, added, replaced or swapped with the
// next one, in a word of at least five letters. Names that differ in a digit or in a short word ("app-1", "prod-eu") are
// not typos of each other.
func Misspelt(name string, names []string) (string, bool) { return typoOf(name, names, 5) }

// NearlySame is Misspelt for words of at least three letters.
func NearlySame(name string, names []string) (string, bool) { return typoOf(name, names, 3) }

func typoOf(name string, names []string, shortest int) (string, bool) {
	for _, n := range names {
		if n != name && isTypo(strings.ToLower(name), strings.ToLower(n), shortest) {
			return n, true
		}
	}
	return "", false
}

func isTypo(a, b string, shortest int) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	from := 0
	for from < len(a) && a[from] == b[from] {
		from++
	}
	end := 0
	for end < len(a)-from && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	x, y := a[from:len(a)-end], b[from:len(b)-end]
	swapped := len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
	if !swapped && (len(x) > 1 || len(y) != 1) || strings.ContainsAny(x+y, "0123456789") {
		return false
	}
	word := func(s string) int {
		start := strings.LastIndexAny(s[:from], "-._/") + 1
		rest := s[from:]
		if i := strings.IndexAny(rest, "-._/"); i > 0 {
			rest = rest[:i]
		}
		return from - start + len(rest)
	}
	return max(word(a), word(b)) >= shortest
}
