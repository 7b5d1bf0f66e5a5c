package tree

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ownFolder contains the package's own files; no file is generated there.
const ownFolder = ".fleetwright"

// maxPath is the longest path, in bytes, that Linux and Git for Windows (with long paths enabled)
// can both check out.
const maxPath = 4000

// checkPath returns an error for a path that is absolute, unclean, outside of the tree, inside of
// .git under any of the names that a file system may treat as .git, or that cannot be printed on
// one line.
func checkPath(p string) error {
	switch {
	case p == "" || p == ".":
		return fmt.Errorf("a file needs a path")
	case len(p) > maxPath:
		return fmt.Errorf("path %q… is longer than %d bytes", p[:60], maxPath)
	case !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl):
		return fmt.Errorf("path %q contains a control character or is not UTF-8", p)
	case path.IsAbs(p) || strings.Contains(p, "\\"):
		return fmt.Errorf("path %q is not relative with forward slashes", p)
	case path.Clean(p) != p:
		return fmt.Errorf("path %q is not clean: want %q", p, path.Clean(p))
	case p == ".." || strings.HasPrefix(p, "../"):
		return fmt.Errorf("path %q leaves the repository", p)
	}
	for part := range strings.SplitSeq(p, "/") {
		if isGitFolder(part) {
			return fmt.Errorf("path %q is inside the git folder", p)
		}
	}
	return nil
}

// isGitFolder reports whether Windows or macOS treat a name as .git: they ignore trailing dots and
// spaces, GIT~1 is its short name, a colon names a stream of it, and some invisible characters are
// ignored (CVE-2014-9390).
func isGitFolder(name string) bool {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// checkGenerated returns an error for a path that checkPath refuses or that is in the package's own folder.
func checkGenerated(p string) error {
	if err := checkPath(p); err != nil {
		return err
	}
	if first, _, _ := strings.Cut(p, "/"); strings.EqualFold(first, ownFolder) {
		return fmt.Errorf("path %q is inside %s, which is reserved for the inventory", p, ownFolder)
	}
	return nil
}

// checkClashes returns an error for sorted paths that cannot all be files of one folder: paths that
// differ only in case, which are equal on macOS and Windows, and paths of which one is a folder of
// another.
func checkClashes(paths []string) error {
	folded := make(map[string]string, len(paths))
	for _, p := range paths {
		key := strings.ToLower(p)
		if other, taken := folded[key]; taken {
			return fmt.Errorf("%q and %q differ only in case: a case-insensitive file system can store only one of them", other, p)
		}
		folded[key] = p
	}
	for _, p := range paths {
		key := strings.ToLower(p)
		for i := strings.LastIndexByte(key, '/'); i > 0; i = strings.LastIndexByte(key[:i], '/') {
			if file, taken := folded[key[:i]]; taken {
				return fmt.Errorf("%q is both a file and the folder of %q", file, p)
			}
		}
	}
	return nil
}

// parents yields the folders above a path, the nearest first, without the root.
func parents(p string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			if !yield(d) {
				return
			}
		}
	}
}
