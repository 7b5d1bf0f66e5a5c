package gitrepo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/fleetwright/fleetwright/internal/regular"
)

// errNotDir is the system's error if a folder of a path is a file.
var errNotDir error = syscall.ENOTDIR

// branchRef returns the full reference name of a branch's short name.
func branchRef(branch string) (string, error) {
	ref := plumbing.NewBranchReferenceName(branch)
	if err := ref.Validate(); err != nil || strings.HasPrefix(branch, "-") || branch == "HEAD" {
		return "", fmt.Errorf("%q is not a name for a branch: want letters, digits, and - . _ / between them", branch)
	}
	return ref.String(), nil
}

// readRef returns the hash that a reference points to, loose before packed. The hash is
// empty if the reference doesn't exist.
func readRef(common, ref string) (string, error) {
	path := filepath.Join(common, filepath.FromSlash(ref))
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotDir), err == nil && info.IsDir():
		return packedRef(common, ref)
	case err != nil:
		return "", err
	}
	data, err := readBounded(path, 1<<16)
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(data))
	if target, ok := strings.CutPrefix(value, "ref:"); ok {
		return "", fmt.Errorf("branch %q is a symbolic reference to %q: name that branch instead", shortRef(ref), strings.TrimSpace(target))
	}
	if !plumbing.IsHash(value) || len(value) != 40 {
		return "", fmt.Errorf("reference %q is broken: it contains %q, which is not a commit: see \"git fsck\"", ref, value)
	}
	return value, nil
}

func packedRef(common, ref string) (string, error) {
	found := ""
	err := eachPacked(common, func(name, hash string) bool {
		if name == ref {
			found = hash
		}
		return found == ""
	})
	return found, err
}

// eachPacked calls yield for each line of packed-refs until it returns false.
func eachPacked(common string, yield func(name, hash string) bool) error {
	f, err := regular.Open(filepath.Join(common, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return eachPackedIn(f, yield)
}

// eachPackedIn calls yield for each line of a packed-refs file until it returns false.
func eachPackedIn(f io.Reader, yield func(name, hash string) bool) error {
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		hash, name, ok := strings.Cut(lines.Text(), " ")
		if !ok || strings.HasPrefix(hash, "#") || strings.HasPrefix(hash, "^") {
			continue
		}
		if !yield(name, hash) {
			return nil
		}
	}
	return lines.Err()
}

// checkConflict returns an error for a new reference whose name is a folder of another reference, or
// the other way round: git stores references as files.
func checkConflict(common, ref string) error {
	for parent := parentRef(ref); parent != ""; parent = parentRef(parent) {
		hash, err := readRef(common, parent)
		if err != nil || hash != "" {
			return conflict(ref, parent)
		}
	}
	taken := ""
	if err := eachPacked(common, func(name, _ string) bool {
		if strings.HasPrefix(name, ref+"/") {
			taken = name
		}
		return taken == ""
	}); err != nil {
		return err
	}
	if taken != "" {
		return conflict(ref, taken)
	}
	root := filepath.Join(common, filepath.FromSlash(ref))
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
			return nil
		}
		if err == nil && !d.IsDir() && path != root && !strings.HasSuffix(path, ".lock") {
			rel, _ := filepath.Rel(common, path)
			return conflict(ref, filepath.ToSlash(rel))
		}
		return err
	})
}

func conflict(ref, other string) error {
	return fmt.Errorf("branch %q cannot exist beside branch %q: git keeps one as a file and the other as its folder: rename one", shortRef(ref), shortRef(other))
}

// parentRef returns the folder of a reference, "" at refs/heads.
func parentRef(ref string) string {
	i := strings.LastIndexByte(ref, '/')
	if i < 0 || strings.Count(ref[:i], "/") < 2 {
		return ""
	}
	return ref[:i]
}

// clearFolder removes the empty folder that deleted references left at the path of a
// reference or its log.
func (d disk) clearFolder(path string) error {
	if !isFolder(os.Lstat(path)) {
		return nil
	}
	return d.removeEmpty(path)
}

// isFolder reports whether the result of a stat is a folder.
func isFolder(info fs.FileInfo, err error) bool { return err == nil && info.IsDir() }
