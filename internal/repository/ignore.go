package repository

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
)

// The files come from a repository that nobody trusts, and each pattern is tried on each file. Where they
// go beyond these, only the defaults count, so that more is validated, not less: a pattern that is left out
// may take a file back that another one leaves out.
const (
	mostPatterns = 500
	mostPattern  = 1000
	mostSpent    = 100_000_000
)

func newIgnore() *ignore {
	i := &ignore{plain: map[string]bool{}}
	i.patterns = sourceignore.VCSPatterns(nil)
	i.control = len(i.patterns)
	i.defaults = slices.Concat(i.patterns, sourceignore.DefaultPatterns(nil))
	return i
}

// add adds the patterns of a .sourceignore in a folder. Folders come in the order of their
// paths, a parent before its children.
func (i *ignore) add(dir string, data []byte) {
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	i.first = cmp.Or(i.first, dir)
	var kept []byte
	for line := range bytes.Lines(data) {
		if len(line) <= mostPattern {
			kept = append(kept, line...)
		} else if line[0] != '#' {
			i.exceed(dir, fmt.Sprintf("has a pattern of more than %d characters", mostPattern))
		}
	}
	room := mostPatterns - (len(i.patterns) - i.control)
	added := sourceignore.ReadPatterns(bytes.NewReader(kept), domain)
	if len(added) > room {
		i.exceed(dir, fmt.Sprintf("has more than %d patterns with the files before it", mostPatterns))
	}
	i.patterns = append(i.patterns, added[:min(len(added), room)]...)
	i.cost += len(kept) + 10*len(added)
}

// exceed notes that the file in a folder goes beyond a limit, and why.
func (i *ignore) exceed(dir, why string) {
	if i.beyond == "" {
		i.beyond, i.where = why, dir
	}
}

// exceeded is the limit that the files go beyond, nil where they go beyond none.
func (i *ignore) exceeded() *Error {
	if i.beyond == "" {
		return nil
	}
	return &Error{Reason: TooLarge, Path: path.Join(i.where, sourceIgnore), Message: "it " + i.beyond + ": only Flux's own patterns count"}
}

// matches says whether source-controller leaves out a file.
func (i *ignore) matches(file string) bool { return i.match(file, false) }

// matchesFolder says whether source-controller leaves out a folder, but for the files in it.
func (i *ignore) matchesFolder(dir string) bool { return i.match(dir, true) }

func (i *ignore) match(name string, isDir bool) bool {
	elements := strings.Split(name, "/")
	if i.spent += i.cost * len(elements); i.spent > mostSpent {
		i.exceed(i.first, "takes too many comparisons, with the others, for the files of the repository")
	}
	if len(i.patterns) == i.control || i.beyond != "" {
		return !i.allPlain(elements) && sourceignore.NewMatcher(i.defaults).Match(elements, isDir)
	}
	return sourceignore.NewMatcher(i.patterns).Match(elements, isDir)
}

// within says whether one of the patterns that were added leaves out a path, or whether that would
// take too long to say.
func (i *ignore) within(elements []string, isDir bool) bool {
	if i.spent += i.cost * len(elements); i.spent > mostSpent {
		return true
	}
	return sourceignore.NewMatcher(i.patterns).Match(elements, isDir)
}

// allPlain says whether no default pattern can match a path: each is about a single name,
// be it a file's or a folder's.
func (i *ignore) allPlain(elements []string) bool {
	for _, name := range elements {
		plain, known := i.plain[name]
		if !known {
			defaults := sourceignore.NewMatcher(i.defaults)
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

// sourceIgnore is the name of the files that say what an artifact leaves out.
const sourceIgnore = ".sourceignore"

// LeftOutBy returns the path of the .sourceignore that leaves a file out of what Flux sees, the
// nearest one that does; "" where none does by itself.
func (r *Repository) LeftOutBy(file string) string {
	if !r.hidden[file] {
		return ""
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		name := path.Join(dir, sourceIgnore)
		if data, err := r.ReadFile(name); err == nil {
			one := newIgnore()
			if one.add(dir, data); len(one.patterns) > one.control && one.matches(file) {
				return name
			}
		}
		if dir == "." {
			return ""
		}
	}
}
