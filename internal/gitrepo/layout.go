package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// layout contains the paths of a repository's parts.
type layout struct {
	// git is the folder with the HEAD and index of the opened work tree; common contains
	// objects, references and config. They differ in a linked work tree.
	git, common string
	// work is the work tree's folder, empty for a bare repository.
	work   string
	config configFile
	// link is the file .git that points to git, empty if .git is a folder.
	link string
}

// worktree is a folder with checked-out files, and the git folder with its HEAD
// and index.
type worktree struct{ dir, git string }

// findLayout returns the layout of a folder: of a bare repository, a .git folder, or a work
// tree. It does not search parent folders.
func findLayout(path string) (layout, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return layout{}, err
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	var l layout
	switch info, err := os.Stat(filepath.Join(path, ".git")); {
	case err == nil && info.IsDir():
		l = layout{git: filepath.Join(path, ".git"), work: path}
	case err == nil:
		target, err := readGitFile(filepath.Join(path, ".git"))
		if err != nil {
			return layout{}, err
		}
		l = layout{git: target, work: path, link: filepath.Join(path, ".git")}
	default:
		l = layout{git: path}
	}
	if _, err := os.Lstat(filepath.Join(l.git, "HEAD")); err != nil { // without a HEAD, no other file of the folder is opened
		return layout{}, fmt.Errorf("%w: %q", ErrNotRepository, path)
	}
	if l.common, err = commonDir(l.git); err != nil {
		return layout{}, err
	}
	if !isGitDir(l.git, l.common) {
		return layout{}, fmt.Errorf("%w: %q", ErrNotRepository, path)
	}
	if l.config, err = readConfig(filepath.Join(l.common, "config")); err != nil {
		return layout{}, err
	}
	if err := l.config.checkFormat(); err != nil {
		return layout{}, fmt.Errorf("%q: %w", path, err)
	}
	return l, l.findWork()
}

// findWork finds the work tree of a git folder that the user named. It returns an error if core.worktree names another
// folder than the opened one, because files are written only to a folder that the user named.
func (l *layout) findWork() error {
	linked := l.git != l.common
	if set, ok := l.config.get("core", "worktree"); ok && !linked {
		dir := resolveIn(l.common, set)
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
		if dir != l.work {
			return fmt.Errorf("%w: core.worktree of %q is %q: name that folder instead", ErrUnsupported, l.common, dir)
		}
		return nil
	}
	if l.work == "" && !linked && !l.config.isTrue("core", "bare", false) && filepath.Base(l.git) == ".git" {
		l.work = filepath.Dir(l.git)
	}
	return nil
}

// commonDir returns the folder in a linked work tree's commondir file.
func commonDir(git string) (string, error) {
	data, err := readBounded(filepath.Join(git, "commondir"), 1<<16)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
		return git, nil
	}
	if err != nil {
		return "", err
	}
	return resolveIn(git, strings.TrimSpace(string(data))), nil
}

// readGitFile returns the path in a .git file ("gitdir: PATH").
func readGitFile(path string) (string, error) {
	data, err := readBounded(path, 1<<16)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%w: %q has no \"gitdir:\" line", ErrNotRepository, path)
	}
	return resolveIn(filepath.Dir(path), target), nil
}

// isGitDir reports whether a folder contains HEAD, objects and refs, as git's is_git_directory does.
func isGitDir(git, common string) bool {
	if _, err := os.Lstat(filepath.Join(git, "HEAD")); err != nil {
		return false
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// resolved returns a path without symlinks, or the cleaned path if it does not exist.
func resolved(path string) string {
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		return whole
	}
	return filepath.Clean(path)
}

// mainWorktree returns the work tree that is not linked, if it exists.
func (l layout) mainWorktree() (worktree, bool) {
	if l.git == l.common {
		return worktree{dir: l.work, git: l.common}, l.work != ""
	}
	if set, ok := l.config.get("core", "worktree"); ok {
		dir := resolveIn(l.common, set)
		if back, err := readGitFile(filepath.Join(dir, ".git")); err != nil || !sameFile(back, l.common) {
			dir = "" // a config alone is not a sufficient reason to write to a folder
		}
		return worktree{dir: dir, git: l.common}, true
	}
	if l.config.isTrue("core", "bare", false) || filepath.Base(l.common) != ".git" {
		return worktree{}, false
	}
	return worktree{dir: filepath.Dir(l.common), git: l.common}, true
}

// worktrees returns the main work tree and the linked ones. If the folder of a work tree does not exist any more, its dir
// is empty.
func (l layout) worktrees() ([]worktree, error) {
	var all []worktree
	if w, ok := l.mainWorktree(); ok {
		all = append(all, w)
	}
	items, err := os.ReadDir(filepath.Join(l.common, "worktrees"))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		git := filepath.Join(l.common, "worktrees", item.Name())
		data, err := readBounded(filepath.Join(git, "gitdir"), 1<<16)
		if err != nil {
			continue // not a work tree's folder: git prunes it
		}
		link := resolveIn(git, strings.TrimSpace(string(data)))
		w := worktree{dir: filepath.Dir(link), git: git}
		if back, err := readGitFile(link); err != nil || !sameFile(back, git) {
			w.dir = ""
		}
		all = append(all, w)
	}
	return all, nil
}

func sameFile(a, b string) bool {
	ia, err1 := os.Stat(a)
	ib, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(ia, ib)
}

// checkedOut finds the work tree in which a branch is checked out. It returns an error if an operation is in
// progress there, if the work tree does not exist, or if the branch is checked out twice.
func (l layout) checkedOut(ref string) (worktree, bool, error) {
	all, err := l.worktrees()
	if err != nil {
		return worktree{}, false, err
	}
	var found []worktree
	for _, w := range all {
		head, err := headOf(w.git)
		if err != nil {
			return worktree{}, false, err
		}
		if err := w.checkIdle(ref, head); err != nil {
			return worktree{}, false, err
		}
		if head == ref {
			found = append(found, w)
		}
	}
	switch {
	case len(found) == 0:
		return worktree{}, false, nil
	case len(found) > 1:
		return worktree{}, false, fmt.Errorf("%w: branch %q is checked out in %q and in %q: switch one of them to another branch",
			ErrUnsupported, shortRef(ref), found[0].dir, found[1].dir)
	case found[0].dir == "":
		return worktree{}, false, fmt.Errorf("%w: branch %q is checked out in a work tree whose folder does not exist (%q): restore it, or run \"git worktree prune\"",
			ErrUnsupported, shortRef(ref), found[0].git)
	}
	return found[0], true, nil
}

// homeOf returns the work tree in which a branch is checked out; an empty one if no or several work trees have it.
func (l layout) homeOf(ref string) (worktree, error) {
	all, err := l.worktrees()
	if err != nil {
		return worktree{}, err
	}
	var found []worktree
	for _, w := range all {
		if head, err := headOf(w.git); err == nil && head == ref {
			found = append(found, w)
		}
	}
	if len(found) != 1 {
		return worktree{}, nil
	}
	return found[0], nil
}

// headOf returns the branch (a full reference name) that HEAD points to; empty if HEAD is detached.
func headOf(git string) (string, error) {
	path := filepath.Join(git, "HEAD")
	if target, err := os.Readlink(path); err == nil {
		return filepath.ToSlash(target), nil // git's old form
	}
	data, err := readBounded(path, 1<<16)
	if err != nil {
		return "", err
	}
	ref, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref:")
	if !ok {
		return "", nil
	}
	return strings.TrimSpace(ref), nil
}

// operation is an operation that git leaves unfinished until the user continues it, and the command to do that.
type operation struct{ file, name, out string }

// operations are in the order of git's own wt_status_get_state.
var operations = []operation{
	{"rebase-apply/applying", "\"git am\"", "git am --continue\" or \"git am --abort"},
	{"rebase-apply", "a rebase", "git rebase --continue\" or \"git rebase --abort"},
	{"rebase-merge", "a rebase", "git rebase --continue\" or \"git rebase --abort"},
	{"MERGE_HEAD", "a merge", "git merge --continue\" or \"git merge --abort"},
	{"CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue\" or \"git cherry-pick --abort"},
	{"REVERT_HEAD", "a revert", "git revert --continue\" or \"git revert --abort"},
	{"sequencer", "a cherry-pick or revert", "git status\", then \"git cherry-pick --abort\" or \"git revert --abort"},
	{"BISECT_LOG", "a bisect", "git bisect reset"},
}

// checkIdle returns an error if an operation is in progress in a work tree that has the branch checked out, or will
// return to it.
func (w worktree) checkIdle(ref, head string) error {
	if head != ref && !slices.Contains(w.heldRefs(), ref) {
		return nil
	}
	for _, op := range operations {
		if _, err := os.Stat(filepath.Join(w.git, filepath.FromSlash(op.file))); err == nil {
			return fmt.Errorf("%w: %q is in the middle of %s on branch %q: finish it with \"%s\", and run again",
				ErrInProgress, w.dir, op.name, shortRef(ref), op.out)
		}
	}
	return nil
}

// heldRefs returns the branches that a rebase or a bisect moves or returns to while HEAD is
// detached.
func (w worktree) heldRefs() []string {
	var refs []string
	for _, name := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs", "BISECT_START"} {
		data, err := readBounded(filepath.Join(w.git, filepath.FromSlash(name)), 1<<20)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			refs = append(refs, line)
			if name == "BISECT_START" {
				refs = append(refs, branchPrefix+line)
			}
		}
	}
	return refs
}

// Root returns the root of the work tree (or bare repository) that contains a folder. It searches upwards as git does. It
// returns false if no repository contains the folder.
func Root(dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		l, err := findLayout(dir)
		switch {
		case err == nil && l.work != "":
			return l.work, true
		case err == nil, errors.Is(err, ErrUnsupported): // opening it reports the problem
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// Within returns the root of the work tree that contains a folder, and the path from there to the folder, with forward
// slashes; "" is the root itself. It returns false if no work tree contains the folder. It searches upwards for .git and
// reads no file, so that it is safe for a stranger's work tree.
func Within(dir string) (root, below string, ok bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", "", false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", false
	}
	for root = dir; ; root = filepath.Dir(root) {
		if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
			below, err := belowRoot(root, dir)
			return root, below, err == nil
		}
		if root == filepath.Dir(root) {
			return "", "", false
		}
	}
}

// CurrentBranch returns the short name of the branch that is checked out in the repository of a folder, even before its
// first commit. It returns false if no repository contains the folder or HEAD is detached.
func CurrentBranch(dir string) (string, bool) {
	root, ok := Root(dir)
	if !ok {
		return "", false
	}
	l, err := findLayout(root)
	if err != nil {
		return "", false
	}
	head, err := headOf(l.git)
	if err != nil || !strings.HasPrefix(head, branchPrefix) {
		return "", false
	}
	return shortRef(head), true
}

// Around returns the root of the Git repository that contains a folder, or would contain it once the folder is created,
// and whether it is a "work tree" or a "bare repository". It checks only names and reads no file.
func Around(dir string) (root, what string, ok bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", "", false
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	if root, _, ok := Within(dir); ok {
		return root, "work tree", true
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", false
	}
	for ; ; dir = filepath.Dir(dir) {
		if isBare(dir) {
			return dir, "bare repository", true
		}
		if dir == filepath.Dir(dir) {
			return "", "", false
		}
	}
}

// isBare reports whether a folder contains HEAD, objects and refs, as a git repository does.
// Source: git's setup.c, is_git_directory.
func isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

const branchPrefix = "refs/heads/"

func shortRef(ref string) string { return strings.TrimPrefix(ref, branchPrefix) }

// belowRoot returns the path of a folder relative to the repository's root, "" for the root.
func belowRoot(root, dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if absolute, err = filepath.EvalSymlinks(absolute); err != nil {
		return "", err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	below, err := filepath.Rel(root, absolute)
	if err != nil {
		return "", err
	}
	if below == "." {
		return "", nil
	}
	return filepath.ToSlash(below), nil
}
