package repository

import (
	"path"
	"slices"
	"strings"

	"github.com/fleetwright/fleetwright/internal/limits"
)

// Visible reports whether there is a regular file at a path that Flux sees: a
// .sourceignore, or source-controller's default patterns, may exclude it.
func (r *Repository) Visible(path string) bool {
	_, ok := r.paths[path]
	return ok && !r.hidden[path]
}

// Size returns the size in bytes of a file that Flux sees, and whether there is one.
func (r *Repository) Size(path string) (size int64, ok bool) {
	size, ok = r.paths[path]
	return size, ok && !r.hidden[path]
}

// ReadDir returns the sorted names of the files and folders in a folder ("." for the root) that
// Flux sees, and whether there is such a folder. A folder whose files are all excluded is empty.
func (r *Repository) ReadDir(dir string) (names []string, ok bool) {
	r.listOnce.Do(r.list)
	names, ok = r.folders[dir]
	return names, ok
}

// list creates the folders of the visible files.
func (r *Repository) list() {
	r.folders = map[string][]string{".": nil}
	seen := map[string]bool{}
	add := func(at string) {
		for ; at != "." && !seen[at]; at = path.Dir(at) {
			seen[at] = true
			dir := path.Dir(at)
			r.folders[dir] = append(r.folders[dir], path.Base(at))
		}
	}
	for file := range r.paths {
		if !r.hidden[file] {
			add(file)
		}
	}
	for dir := range r.bare {
		add(dir)
		if _, filled := r.folders[dir]; !filled {
			r.folders[dir] = nil
		}
	}
	for _, names := range r.folders {
		slices.Sort(names)
	}
}

// Check parses a string as YAML and returns an error if it exceeds the limits of the repository:
// its size, its depth, or the expansion of its aliases. It is for strings in documents, such as
// inline patches. It returns nil for a string that is not YAML: its reader reports that.
func (r *Repository) Check(text string) error {
	_, err := r.Expanded(text)
	return err
}

// Expanded is Check, but it also returns the number of values that the aliases in the string
// expand to.
func (r *Repository) Expanded(text string) (values int64, err error) {
	if int64(len(text)) > limits.FileBytes || nodeEstimate([]byte(text)) > r.limits.FileNodes {
		return 0, &Error{Reason: TooLarge, Message: "the text is too large"}
	}
	if !strings.Contains(text, "*") && len(text) < 10_000 {
		return 0, nil // without aliases, and too short to be deeply nested
	}
	nodes, failed := decode([]byte(text), 0, r.limits)
	if failed != nil && failed.Reason != NotYAML {
		return 0, failed
	}
	for _, n := range nodes {
		if n.node == nil {
			continue
		}
		added, failed := checkNode(n.node, r.limits)
		if failed != nil {
			return 0, failed
		}
		values += added.nodes
	}
	return values, nil
}
