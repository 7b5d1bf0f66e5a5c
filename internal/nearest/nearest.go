// Package nearest finds the name that most likely was intended by a misspelt one.
package nearest

import "strings"

// longest is the number of bytes of a name that are compared: it limits the work for hostile names.
const longest = 64

// To returns the name with the fewest edits from a misspelt one (the first, if several have the same number), and whether
// it is near enough to be the intended one: up to a third of the misspelt name's letters may differ, and at least one. It
// ignores case.
func To(misspelt string, names []string) (string, bool) {
	wanted, furthest := cut(strings.ToLower(misspelt)), max(1, len(misspelt)/3)
	best, edits := "", min(len(misspelt), furthest+1)
	var d distances
	for _, name := range names {
		other := cut(strings.ToLower(name))
		if apart := len(other) - len(wanted); max(apart, -apart) >= edits {
			continue // at least that many letters were inserted or removed
		}
		if n := d.between(wanted, other); n < edits {
			best, edits = name, n
		}
	}
	return best, best != ""
}

// Distance returns the number of letters to insert, remove or replace to turn one name into the other; a swap of two
// neighbours counts as one edit (optimal string alignment). It compares the first 64 bytes.
func Distance(a, b string) int {
	var d distances
	return d.between(cut(a), cut(b))
}

func cut(name string) string { return name[:min(len(name), longest)] }

// distances are three rows of the table that between computes.
type distances [3][longest + 1]int

func (d *distances) between(a, b string) int {
	before, last, row := &d[0], &d[1], &d[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
