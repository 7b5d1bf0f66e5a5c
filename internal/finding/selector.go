package finding

import (
	"path"
	"slices"
	"strings"
)

// Selector is an entry of the ignores in a configuration: it selects findings by rule, file and
// kind. An empty list selects all.
type Selector struct {
	// Rules are rule ids; a * at the end of one matches any ending.
	Rules []string
	// Paths are globs relative to the repository's root; ** matches any number of folders, and a
	// folder everything in it.
	Paths []string
	// Kinds are kinds of the objects that findings are about.
	Kinds  []string
	Reason string
	// Place of the entry.
	Place
}

// MatchesRule reports whether the selector selects a rule.
func (s Selector) MatchesRule(id string) bool {
	return len(s.Rules) == 0 || slices.ContainsFunc(s.Rules, func(pattern string) bool { return MatchesID(pattern, id) })
}

// MatchesPath reports whether the selector selects a file.
func (s Selector) MatchesPath(file string) bool {
	return len(s.Paths) == 0 || slices.ContainsFunc(s.Paths, func(glob string) bool { return matchesPath(glob, file) })
}

// MatchesKind reports whether the selector selects a kind; "" means no object.
func (s Selector) MatchesKind(kind string) bool {
	return len(s.Kinds) == 0 || slices.Contains(s.Kinds, kind)
}

// MatchesID reports whether a pattern matches a rule's id. A pattern is an id, or the
// beginning of one followed by a *.
func MatchesID(pattern, id string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(id, prefix)
	}
	return pattern == id
}

// CheckPath returns an error if a glob of a Selector is malformed.
func CheckPath(glob string) error {
	_, err := path.Match(glob, "")
	return err
}

// matchesPath reports whether a glob matches a file or a folder that contains it. The
// table limits the cost to the product of both lengths, for any glob.
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
