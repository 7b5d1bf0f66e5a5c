package gitrepo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkOwner returns an error for a repository of another user, as git does, unless the user's or the system's
// configuration lists it in safe.directory. Another user may have created it, and
// its configuration and references would be followed with our permissions.
// Source: git's setup.c, ensure_valid_ownership, and Documentation/config/safe.txt.
func (l layout) checkOwner(env func(string) string) error {
	if l.owned(env) {
		return nil
	}
	path := l.work
	if path == "" {
		path = l.git
	}
	settings, err := readSettings(env, "") // not from the repository's own configuration
	if err != nil {
		return err
	}
	safe := false
	for _, value := range *settings.safe {
		safe = value != "" && (safe || safeNames(value, path, env("HOME")))
	}
	if safe {
		return nil
	}
	return &Advice{fmt.Errorf("%w: %q", ErrOwner, path), fmt.Sprintf("if you trust it, run \"git config --global --add safe.directory %s\"", path)}
}

// owned reports whether all files that git checks belong to the user.
func (l layout) owned(env func(string) string) bool {
	for _, path := range []string{l.link, l.work, l.git} {
		if path != "" && !ownedByUser(path, env) {
			return false
		}
	}
	return true
}

// safeNames reports whether a value of safe.directory applies to a repository.
func safeNames(value, path, home string) bool {
	if value == "*" {
		return true
	}
	if value == "." { // the working directory
		here, err := os.Getwd()
		return err == nil && sameFile(here, path)
	}
	if rest, ok := strings.CutPrefix(value, "~/"); ok && home != "" {
		value = filepath.Join(home, rest)
	}
	if above, ok := strings.CutSuffix(value, "/*"); ok {
		return strings.HasPrefix(resolved(path), strings.TrimSuffix(resolved(above), "/")+"/")
	}
	return filepath.IsAbs(value) && resolved(value) == resolved(path)
}

// resolved returns a path without symlinks, or the cleaned path if it does not exist.
func resolved(path string) string {
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole
	}
	return filepath.Clean(path)
}
