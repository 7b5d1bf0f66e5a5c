package tree

import (
	"fmt"
	"path"
	"strings"
)

// checkPath refuses a path that is absolute, unclean, leaves the tree or
// reaches into .git.
func checkPath(p string) error {
	switch {
	case p == "" || p == ".":
		return fmt.Errorf("a file needs a path")
	case path.IsAbs(p) || strings.Contains(p, "\\"):
		return fmt.Errorf("path %q is not relative with forward slashes", p)
	case path.Clean(p) != p:
		return fmt.Errorf("path %q is not clean: want %q", p, path.Clean(p))
	case p == ".." || strings.HasPrefix(p, "../"):
		return fmt.Errorf("path %q leaves the repository", p)
	}
	for part := range strings.SplitSeq(p, "/") {
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("path %q reaches into the git folder", p)
		}
	}
	return nil
}
