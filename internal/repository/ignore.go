package repository

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"

	"github.com/fleetwright/fleetwright/internal/limits"
)

func newIgnore() *ignore {
	i := &ignore{plain: map[string]bool{}}
	i.patterns = sourceignore.VCSPatterns(nil)
	i.control = len(i.patterns)
	i.defaults = slices.Concat(i.patterns, sourceignore.DefaultPatterns(nil))
	return i
}

// add adds the patterns of a .sourceignore in a folder. The caller adds folders in the order of their
// paths, a parent before its children.
func (i *ignore) add(dir string, data []byte) {
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	i.first = cmp.Or(i.first, dir)
	var kept []byte
	for line := range bytes.Lines(data) {
		if len(line) <= limits.IgnoreLength {
			kept = append(kept, line...)
		} else if line[0] != '#' {
			i.exceed(dir, fmt.Sprintf("has a pattern of more than %d characters", limits.IgnoreLength))
		}
	}
	room := limits.IgnorePatterns - (len(i.patterns) - i.control)
	added := sourceignore.ReadPatterns(bytes.NewReader(kept), domain)
	if len(added) > room {
		i.exceed(dir, fmt.Sprintf("has more than %d patterns with the files before it", limits.IgnorePatterns))
	}
	i.patterns = append(i.patterns, added[:min(len(added), room)]...)
	i.cost += len(kept) + 10*len(added)
}

// exceed records that only Flux's default patterns apply, so that more is validated, not less: a pattern that was dropped
// could include a file again that another one excludes. It records that the .sourceignore in a folder exceeds a limit, and why.
func (i *ignore) exceed(dir, why string) {
	if i.beyond == "" {
		i.beyond, i.where = why, dir
	}
}

// exceeded returns the limit that was exceeded, nil if none was.
func (i *ignore) exceeded() *Error {
	if i.beyond == "" {
		return nil
	}
	return &Error{Reason: TooLarge, Path: path.Join(i.where, sourceIgnore), Message: "it " + i.beyond + ": only Flux's own patterns count"}
}

// matches reports whether source-controller excludes a file.
func (i *ignore) matches(file string) bool { return i.match(file, false) }

// matchesFolder reports whether source-controller excludes a folder as such, apart from the files in it.
func (i *ignore) matchesFolder(dir string) bool { return i.match(dir, true) }

func (i *ignore) match(name string, isDir bool) bool {
	elements := strings.Split(name, "/")
	if i.spent += i.cost * len(elements); i.spent > limits.IgnoreSteps {
		i.exceed(i.first, "needs too many comparisons, together with the others, for the files of the repository")
	}
	if len(i.patterns) == i.control || i.beyond != "" {
		return !i.allPlain(elements) && sourceignore.NewMatcher(i.defaults).Match(elements, isDir)
	}
	return sourceignore.NewMatcher(i.patterns).Match(elements, isDir)
}

// within reports whether one of the added patterns excludes a path. It also returns true if matching would
// take too long.
func (i *ignore) within(elements []string, isDir bool) bool {
	if i.spent += i.cost * len(elements); i.spent > limits.IgnoreSteps {
		return true
	}
	return sourceignore.NewMatcher(i.patterns).Match(elements, isDir)
}

// allPlain reports whether no default pattern can match a path: each default pattern is for a single name
// of a file or folder.
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

// bare returns the folders of the files that source-controller excludes, if it does not exclude the
// folders themselves.
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

// sourceIgnore is the name of the files that list what an artifact excludes.
const sourceIgnore = ".sourceignore"

// LeftOutBy returns FILE:LINE of the pattern in the nearest .sourceignore that excludes a file, or the files of a
// folder, from the artifact; "" if none alone does.
func (r *Repository) LeftOutBy(at string) string {
	file := at
	if !r.hidden[at] {
		if file = r.hiddenIn(at); file == "" {
			return ""
		}
	}
	if r.beyond != nil {
		return "" // only the default patterns count
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		for _, line := range slices.Backward(r.ignoreLines(dir)) {
			switch line.pattern.Match(strings.Split(file, "/"), false) {
			case gitignore.Exclude:
				return fmt.Sprintf("%s:%d", path.Join(dir, sourceIgnore), line.number)
			case gitignore.Include:
				return ""
			}
		}
		if dir == "." {
			return ""
		}
	}
}

// hiddenIn returns the first file in a folder that source-controller excludes, "" if there is none.
func (r *Repository) hiddenIn(dir string) string {
	r.hiddenOnce.Do(func() { r.hiddenSorted = slices.Sorted(maps.Keys(r.hidden)) })
	i, _ := slices.BinarySearch(r.hiddenSorted, dir+"/")
	if i < len(r.hiddenSorted) && strings.HasPrefix(r.hiddenSorted[i], dir+"/") {
		return r.hiddenSorted[i]
	}
	return ""
}

// ignoreLine is a pattern of a .sourceignore, with the number of its line.
type ignoreLine struct {
	number  int
	pattern gitignore.Pattern
}

// ignoreLines returns the patterns of the .sourceignore in a folder; none if there is no such file.
func (r *Repository) ignoreLines(dir string) []ignoreLine {
	if known, ok := r.ignored.Load(dir); ok {
		return known.([]ignoreLine)
	}
	var lines []ignoreLine
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	data, _ := r.ReadFile(path.Join(dir, sourceIgnore))
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line[0] == '#' || len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		for _, pattern := range sourceignore.ReadPatterns(bytes.NewReader(line), domain) {
			lines = append(lines, ignoreLine{number, pattern})
		}
	}
	r.ignored.Store(dir, lines)
	return lines
}
