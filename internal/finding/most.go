package finding

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MostOfRule is the maximum number of findings of one rule in a report. Public repositories have up to
// a few hundred; a small file can be written to have millions.
const MostOfRule = 5000

// mostMessage is the maximum length of a message or hint, in bytes: longer ones contain a long string of the repository.
const mostMessage = 4 << 10

// Shown returns the findings of First with their messages and hints cut to mostMessage.
func Shown(findings []Finding) []Finding {
	kept, _ := First(findings)
	for i := range kept {
		kept[i].Message, kept[i].Hint = cut(kept[i].Message), cut(kept[i].Hint)
	}
	return kept
}

// First returns the first MostOfRule findings of each rule, sorted as in a report and without duplicates, and the number of
// omitted findings by rule.
func First(findings []Finding) (kept []Finding, left map[string]int) {
	kept, left = slices.SortedFunc(slices.Values(findings), compare), map[string]int{}
	kept = slices.CompactFunc(kept, same)
	seen := map[string]int{}
	kept = slices.DeleteFunc(kept, func(f Finding) bool {
		seen[f.Rule]++
		if seen[f.Rule] <= MostOfRule {
			return false
		}
		left[f.Rule]++
		return true
	})
	return kept, left
}

// cut shortens a string to mostMessage.
func cut(text string) string {
	if len(text) <= mostMessage {
		return text
	}
	end := mostMessage
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes in all)", strings.TrimSpace(text[:end]), len(text))
}
