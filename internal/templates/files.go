package templates

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/located"
)

// Paths returns the paths of all files. It lists them once.
func (e *Engine) Paths() []string {
	if e.all == nil {
		e.all = e.Files.Paths()
	}
	return e.all
}

// Locate resolves a path relative to the folder dir to a path in the repository. If it is not in the repository, it
// returns why. A path that leads out of the repository is unknown, unless the rest of it begins with a folder of
// the repository: then the number of ../ is probably wrong, and no clone has the file. needs is the start of the
// reason: what needs the file.
func (e *Engine) Locate(needs, dir, p string) (string, located.Unknown) {
	if strings.Contains(p, MarkOpen) {
		return e.guess(dir, p)
	}
	if path.IsAbs(p) || strings.Contains(p, "://") || strings.Contains(p, "::") || strings.HasPrefix(p, "~") {
		return "", located.Unknown{Reason: fmt.Sprintf("%s %q, which is not in the repository", needs, p)}
	}
	joined := path.Join(dir, p)
	if joined != ".." && !strings.HasPrefix(joined, "../") {
		return joined, located.Unknown{}
	}
	inside := joined
	for strings.HasPrefix(inside, "../") {
		inside = inside[3:]
	}
	if top, _, deep := strings.Cut(inside, "/"); deep && e.HasFolder(top) {
		return "", located.Unknown{Reason: fmt.Sprintf("the file %s %s", joined, Absence(joined)), Missing: joined}
	}
	return "", located.Unknown{Reason: fmt.Sprintf("%s %q, which is outside of the repository", needs, p)}
}

// Absence returns why the file at a path relative to the repository's root is missing.
func Absence(p string) string {
	if strings.HasPrefix(p, "../") {
		return "leads out of the repository and isn't read"
	}
	return "does not exist"
}

// HasFolder reports whether a path is a folder of the repository.
func (e *Engine) HasFolder(p string) bool {
	return slices.ContainsFunc(e.Paths(), func(f string) bool { return p == "." || strings.HasPrefix(f, p+"/") })
}

// guess resolves a path with an unknown part, such as an environment variable. If only one file of
// the repository matches, helmfile can read no other.
func (e *Engine) guess(dir, p string) (string, located.Unknown) {
	unknown, _ := e.Marked(p)
	// The first part is probably the repository's folder: the unknown value after it decides.
	if _, rest, leading := strings.Cut(p, markClose+"/"); leading && strings.HasPrefix(p, MarkOpen) {
		if m, another := e.Marked(rest); another {
			unknown = m
		}
	}
	if !strings.HasPrefix(p, MarkOpen) {
		p = path.Join(dir, p)
	}
	asked := p
	if _, rest, leading := strings.Cut(p, markClose+"/"); leading && strings.HasPrefix(p, MarkOpen) {
		asked = rest
	}
	pattern := regexp.QuoteMeta(p)
	if rest, leading := strings.CutPrefix(pattern, MarkOpen); leading {
		if _, rest, ok := strings.Cut(rest, markClose+"/"); ok {
			pattern = "(?:.+/)?" + rest
		}
	}
	pattern = anyMark.ReplaceAllString(pattern, `[^/]+`)
	fits, err := regexp.Compile("^" + pattern + "$")
	if err != nil {
		return "", unknown
	}
	var found []string
	for _, each := range e.Paths() {
		if fits.MatchString(each) {
			found = append(found, each)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], located.Unknown{}
	case len(found) == 0 && asked != p && !strings.Contains(asked, MarkOpen):
		if gone := e.belowFolder(asked); gone != "" {
			return "", located.Unknown{Reason: fmt.Sprintf("the file %s %s", gone, Absence(gone)), Missing: gone}
		}
	}
	e.askVariable(asked, found)
	return "", unknown
}

// belowFolder resolves a path that begins with a variable for the repository's folder or a folder in it:
// one that contains the first folder of the path, or, below the root, the first two. It returns "" if no
// folder matches, so that the variable may be anything.
func (e *Engine) belowFolder(rest string) string {
	rest = path.Clean(rest)
	first, next, deep := strings.Cut(rest, "/")
	if !deep || first == ".." {
		return ""
	}
	if e.HasFolder(first) {
		return rest
	}
	second, _, deep := strings.Cut(next, "/")
	if !deep {
		return ""
	}
	for _, f := range e.Paths() {
		if above, _, in := strings.Cut(f, "/"+first+"/"+second+"/"); in {
			return path.Join(above, rest)
		}
	}
	return ""
}

func (r *rendering) readFile(name string) (any, error) {
	p, bad := r.Locate("the template reads", r.dir, name)
	if bad.Reason == "" {
		var data []byte
		if data, bad = r.Read(p); bad.Reason == "" {
			return string(data), nil
		}
	}
	if bad.Missing != "" {
		r.Reads[bad.Missing] = false
	}
	r.blocked = append(r.blocked, bad)
	return r.Mark(bad), nil
}

// Read reads a file of the repository and records it. If it can't, it returns why: a file that does not exist
// is missing; a link out of the repository is unknown.
func (e *Engine) Read(p string) ([]byte, located.Unknown) {
	data, err := e.Files.ReadFile(p)
	switch {
	case err == nil:
		e.Reads[p] = true
		return data, located.Unknown{}
	case errors.Is(err, fs.ErrNotExist):
		e.Reads[p] = false
		return nil, located.Unknown{Reason: fmt.Sprintf("the file %s does not exist", p), Missing: p}
	}
	return nil, located.Unknown{Reason: "a file cannot be read: " + located.Shorten(err.Error())}
}

func (r *rendering) isFile(name string) any {
	p, bad := r.Locate("the template reads", r.dir, name)
	switch {
	case bad.Missing != "":
		return false
	case bad.Reason != "":
		return r.Mark(bad)
	}
	return r.Files.Exists(p)
}

func (r *rendering) isDir(name string) any {
	p, bad := r.Locate("the template reads", r.dir, name)
	if bad.Reason != "" {
		return r.Mark(bad)
	}
	return r.HasFolder(p)
}

// readDir returns the files of a folder, each as the argument joined with the file's
// name.
func (r *rendering) readDir(name string) any {
	p, bad := r.Locate("the template reads", r.dir, name)
	if bad.Reason != "" {
		return r.Mark(bad)
	}
	var found []string
	for _, f := range r.Paths() {
		if path.Dir(f) == p {
			found = append(found, path.Join(name, path.Base(f)))
		}
	}
	if found == nil {
		return r.Mark(located.Unknown{Reason: fmt.Sprintf("the folder %s does not exist", p), Missing: p})
	}
	return found
}

// Matching returns the files that match a path or a pattern, sorted.
func (e *Engine) Matching(pattern string) []string {
	exists := e.Files.Exists(pattern)
	if !exists { // a symlink to a file is not listed
		_, err := e.Files.ReadFile(pattern)
		exists = err == nil
	}
	if exists {
		return []string{pattern}
	}
	if !strings.ContainsAny(pattern, `*?[\`) {
		return nil
	}
	var found []string
	for _, p := range e.Paths() {
		if ok, err := path.Match(pattern, p); ok && err == nil {
			found = append(found, p)
		}
	}
	return found
}
