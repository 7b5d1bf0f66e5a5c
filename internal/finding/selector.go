package finding

import (
	"path"
	"slices"
	"strings"
)

// Selector is an ignore of a configuration: of some rules, in some files, about
// some kinds. An empty list selects all.
type Selector struct {
	// Rules are ids; a * at the end stands for any end.
	Rules []string
	// Paths are globs from the repository's root; ** stands for any number of
	// folders, and a folder for all that is in it.
	Paths []string
	// Kinds of the object that a finding is about.
	Kinds  []string
	Reason string
	// File, Line and Column of the entry; no line where it has none.
	File         string
	Line, Column int
}

// MatchesRule says whether the selector selects a rule.
func (s Selector) MatchesRule(id string) bool {
	return len(s.Rules) == 0 || slices.ContainsFunc(s.Rules, func(pattern string) bool { return MatchesID(pattern, id) })
}

// MatchesPath says whether the selector selects a file.
func (s Selector) MatchesPath(file string) bool {
	return len(s.Paths) == 0 || slices.ContainsFunc(s.Paths, func(glob string) bool { return matchesPath(glob, file) })
}

// MatchesKind says whether the selector selects a kind; "" is that of no object.
func (s Selector) MatchesKind(kind string) bool {
	return len(s.Kinds) == 0 || slices.Contains(s.Kinds, kind)
}

// MatchesID says whether a rule's id is the one of a pattern: an id, or with a *
// at its end the beginning of one.
func MatchesID(pattern, id string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(id, prefix)
	}
	return pattern == id
}

// CheckPath says whether a glob of a Selector is well formed.
func CheckPath(glob string) error {
	_, err := path.Match(glob, "")
	return err
}

// matchesPath says whether a glob matches a file, or a folder that it is in. The
// table keeps the cost at the product of both lengths, whatever the glob.
func matchesPath(glob, file string) bool {
	parts := strings.Split(strings.Trim(strings.TrimPrefix(glob, "./"), "/"), "/")
	elements := strings.Split(file, "/")
	reach := make([]bool, len(elements)+1)
	reach[0] = true
	for _, part := range parts {
		next := make([]bool, len(elements)+1)
		for i := range reach {
			if part == "**" {
				next[i] = reach[i] || i > 0 && next[i-1]
			} else if i > 0 && reach[i-1] {
				ok, err := path.Match(part, elements[i-1])
				next[i] = ok && err == nil
			}
		}
		reach = next
	}
	return slices.Contains(reach[1:], true)
}
