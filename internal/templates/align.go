package templates

import (
	"regexp"
	"strings"
)

// AlignLines returns, for each rendered line, the line of the template that it came from, starting at 1. It
// compares the text around the actions. A rendered line that matches no line of the template gets the line of the previous one.
func AlignLines(source, rendered string) []int {
	const ahead = 400
	from := strings.Split(source, "\n")
	out := make([]int, 0, strings.Count(rendered, "\n")+1)
	at := 0
	work := 4_000_000
	for line := range strings.SplitSeq(rendered, "\n") {
		match := -1
		for i := at; i < min(at+ahead, len(from)) && work > 0; i++ {
			work--
			if fits(from[i], line) {
				match = i
				break
			}
		}
		if match < 0 {
			match = earlier(from[:min(at, len(from))], line, &work)
		}
		if match < 0 {
			out = append(out, max(at, 1))
			continue
		}
		out = append(out, match+1)
		at = match + 1
		if strings.TrimSpace(line) == "" {
			at = match
		}
	}
	return out
}

// earlier searches lines of the template that were already used, because a loop renders its lines again. It returns the index
// of the last one that matches a rendered line and has text outside of its actions, or -1 if there is none.
func earlier(from []string, line string, work *int) int {
	for i := len(from) - 1; i >= 0 && *work > 0; i-- {
		*work--
		if own := action.ReplaceAllString(from[i], ""); len(strings.Trim(own, " -'\"")) > 2 && fits(from[i], line) {
			return i
		}
	}
	return -1
}

var action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)

// fits reports whether a line of a template may have been rendered to a line.
func fits(source, line string) bool {
	if !strings.Contains(source, "{{") {
		return source == line
	}
	parts := action.Split(source, -1)
	first, last := parts[0], parts[len(parts)-1]
	return strings.TrimSpace(source) != "" && len(first)+len(last) <= len(line) &&
		strings.HasPrefix(line, first) && strings.HasSuffix(line, last)
}
