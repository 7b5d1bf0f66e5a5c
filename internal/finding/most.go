package finding

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MostOfRule is how many findings of one rule a report holds. Public repositories have up to a few
// hundred; a small file can be made to have millions.
const MostOfRule = 5000

// mostMessage is the bytes of a message or hint: what comes after them is a text of the repository.
const mostMessage = 4 << 10

// First returns, sorted as in a report, the first MostOfRule findings of each rule, none of them twice, with
// their messages cut to a length that can be read; and how many it leaves out, by rule.
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
	for i := range kept {
		kept[i].Message, kept[i].Hint = cut(kept[i].Message), cut(kept[i].Hint)
	}
	return kept, left
}

// cut shortens a text that is too long to be read.
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
