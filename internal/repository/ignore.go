package repository

import (
	"bytes"
	"path"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
)

// ignore decides what source-controller leaves out of an artifact, by its own library: its
// defaults and the .sourceignore files. They look like .gitignore's and differ: each path is
// matched on its own, so that a later pattern takes a file back from an ignored folder.
type ignore struct {
	// patterns of a deeper file, or a later one, win; the defaults come first.
	patterns []gitignore.Pattern
	// cost of trying all patterns on one path, and what deciding cost so far.
	cost, spent int
	// plain remembers the names that no default pattern matches.
	plain map[string]bool
	// defaults are the number of patterns that are source-controller's.
	defaults int
}

// What goes beyond these is no pattern, so that more is validated, not less: the files come
// from a repository that nobody trusts, and each pattern is tried on each file.
const (
	mostPatterns = 500
	mostPattern  = 1000
	mostSpent    = 100_000_000
)

func newIgnore() *ignore {
	i := &ignore{plain: map[string]bool{}}
	i.patterns = append(sourceignore.VCSPatterns(nil), sourceignore.DefaultPatterns(nil)...)
	i.defaults = len(i.patterns)
	return i
}

// add adds the patterns of a .sourceignore in a folder. Folders come in the order of their
// paths, a parent before its children.
func (i *ignore) add(dir string, data []byte) {
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	var kept []byte
	for line := range bytes.Lines(data) {
		if len(line) <= mostPattern {
			kept = append(kept, line...)
		}
	}
	room := mostPatterns - (len(i.patterns) - i.defaults)
	added := sourceignore.ReadPatterns(bytes.NewReader(kept), domain)
	i.patterns = append(i.patterns, added[:min(len(added), room)]...)
	i.cost += len(kept) + 10*len(added)
}

// matches says whether source-controller leaves out a file.
func (i *ignore) matches(file string) bool { return i.match(file, false) }

// matchesFolder says whether source-controller leaves out a folder, but for the files in it.
func (i *ignore) matchesFolder(dir string) bool { return i.match(dir, true) }

func (i *ignore) match(name string, isDir bool) bool {
	elements := strings.Split(name, "/")
	patterns := i.patterns
	if i.spent += i.cost * len(elements); i.spent > mostSpent {
		patterns = patterns[:i.defaults]
	}
	if len(patterns) == i.defaults && i.allPlain(elements) {
		return false
	}
	return sourceignore.NewMatcher(patterns).Match(elements, isDir)
}

// allPlain says whether no default pattern can match a path: each is about a single name,
// be it a file's or a folder's.
func (i *ignore) allPlain(elements []string) bool {
	for _, name := range elements {
		plain, known := i.plain[name]
		if !known {
			defaults := sourceignore.NewMatcher(i.patterns[:i.defaults])
			plain = !defaults.Match([]string{name}, true) && !defaults.Match([]string{name}, false)
			i.plain[name] = plain
		}
		if !plain {
			return false
		}
	}
	return true
}

// bare returns the folders of some files that source-controller leaves out, and that
// themselves it doesn't.
func (i *ignore) bare(hidden map[string]bool) map[string]bool {
	bare, seen := map[string]bool{}, map[string]bool{}
	for file := range hidden {
		for dir := path.Dir(file); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if !i.matchesFolder(dir) {
				bare[dir] = true
			}
		}
	}
	return bare
}
