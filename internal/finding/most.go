package finding

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// Shown returns the findings of First with their messages and hints cut to limits.MessageBytes.
func Shown(findings []Finding) []Finding {
	kept, _ := First(findings)
	for i := range kept {
		kept[i].Message, kept[i].Hint = cut(kept[i].Message), cut(kept[i].Hint)
	}
	return kept
}

// First returns the first limits.Findings findings of each rule, sorted as in a report and without duplicates, and the number of
// omitted findings by rule.
func First(findings []Finding) (kept []Finding, left map[string]int) {
	kept, left = slices.SortedFunc(slices.Values(findings), compare), map[string]int{}
	kept = slices.CompactFunc(kept, same)
	seen := map[string]int{}
	kept = slices.DeleteFunc(kept, func(f Finding) bool {
		seen[f.Rule]++
		if seen[f.Rule] <= limits.Findings {
			return false
		}
		left[f.Rule]++
		return true
	})
	return kept, left
}

// cut shortens a string to limits.MessageBytes.
func cut(text string) string {
	if len(text) <= limits.MessageBytes {
		return text
	}
	end := limits.MessageBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes in all)", strings.TrimSpace(text[:end]), len(text))
}
