package declared

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/fleetwright/fleetwright/render"
)

// gitsOwn is the error of a value that is to come from a file of git's. The user cannot allow it:
// checkout keeps its token in .git/config, and the specification may be a stranger's.
func gitsOwn(name string) error {
	return &render.BadInput{
		Err:  fmt.Errorf("the specification asks for %s, which is git's own: it is not read", filepath.ToSlash(name)),
		Hint: "git keeps tokens there; put the value into a file of its own",
	}
}

// ofGit says whether an absolute path is that of a file .git, or leads through a folder of git's
// own: one named .git, as any file system spells it, or one that git takes for a repository or a
// work tree's, whatever its name.
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

// isGitName says whether a file system may take a name for .git: without regard to case, to
// characters that HFS+ skips, to what NTFS leaves off at the end and the names of streams, or by
// its short name.
// Source: github.com/git/git path.c is_ntfs_dotgit, utf8.c is_hfs_dotgit.
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

// isGitFolder says whether a folder is one of git's: a repository's, or that of a linked work tree.
// Source: github.com/git/git setup.c is_git_directory.
func isGitFolder(dir string) bool {
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return there("HEAD") && (there("commondir") || there("objects") && there("refs"))
}
