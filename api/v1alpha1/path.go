package v1alpha1

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var plainPath = regexp.MustCompile(`^[A-Za-z0-9._/@+-]*$`)

// PathProblem returns the reason why a path leaves a repository; "" for a path that stays inside.
func PathProblem(p string) string {
	segments := strings.Split(p, "/")
	switch {
	case strings.Contains(p, `\`):
		return "has a backslash"
	case path.IsAbs(p):
		return "is absolute"
	case slices.Contains(segments, ".."):
		return "leaves the repository"
	case slices.ContainsFunc(segments, func(s string) bool { return strings.EqualFold(s, ".git") }):
		return "reaches into .git"
	case !plainPath.MatchString(p):
		return "has other characters than letters, digits and . _ - + @ /"
	}
	return ""
}
