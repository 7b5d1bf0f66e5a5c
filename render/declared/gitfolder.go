package declared

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/fleetwright/fleetwright/internal/advice"
)

// gitsOwn returns the error for a value in a file of git. The user cannot allow it: the author of the specification may
// not be trusted, and a checkout keeps its token in .git/config.
func gitsOwn(name string) error {
	return advice.Input(
		fmt.Errorf("refused to read %s, for which the specification asks: it belongs to git", filepath.ToSlash(name)),
		"git stores tokens there; put the value into a separate file",
	)
}

// ofGit reports whether an absolute path is a .git file, or is in a folder of git: one that is named .git, in any
// spelling of a file system, or that looks like a repository or a linked work tree, whatever its name.
func ofGit(at string) bool {
	for {
		if isGitName(filepath.Base(at)) || isGitFolder(at) {
			return true
		}
		up := filepath.Dir(at)
		if up == at {
			return false
		}
		at = up
	}
}

// isGitName reports whether a file system may treat a name as .git: it ignores case, characters that HFS+
// skips, trailing characters and stream names of NTFS, and knows the short name. Source: github.com/git/git
// path.c is_ntfs_dotgit, utf8.c is_hfs_dotgit.
func isGitName(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	name = strings.TrimRight(name, " .")
	return name == ".git" || name == "git~1"
}

// isGitFolder reports whether a folder belongs to git: a repository, or the data of a linked work tree. Source:
// github.com/git/git setup.c is_git_directory.
func isGitFolder(dir string) bool {
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return there("HEAD") && (there("commondir") || there("objects") && there("refs"))
}
