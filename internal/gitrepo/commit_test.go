package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fleetwright/fleetwright/internal/tree"
)

func TestEmptyBareRepository(t *testing.T) {
	dir := bare(t)
	r := commitTo(t, dir, "main", Options{}, map[string]string{"a.yaml": "a", "d/b.yaml": "b"})
	if !r.Changed || !r.Created || r.Parent != "" {
		t.Errorf("%+v", r)
	}
	same(t, listing(t, dir, "main"), map[string]string{"a.yaml": "100644 a", "d/b.yaml": "100644 b"})
	if got := git(t, dir, "rev-parse", "main"); got != r.Commit {
		t.Errorf("main is %s, want %s", got, r.Commit)
	}
	want := "Fleet Wright <fw@example.com> 2024-03-09 17:00:00 +0100|change"
	if got := git(t, dir, "log", "--format=%an <%ae> %ai|%s", "main"); got != want {
		t.Errorf("log: %s, want %s", got, want)
	}
	sound(t, dir)
}

func TestDeterministic(t *testing.T) {
	files := map[string]string{"a": "1", "b/c": "2"}
	one := commitTo(t, bare(t), "main", Options{}, files)
	two := commitTo(t, bare(t), "main", Options{}, files)
	if one.Commit != two.Commit {
		t.Errorf("%s and %s", one.Commit, two.Commit)
	}
}

func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "new.git")
	_, err := Open(t.Context(), dir, "main", Options{})
	if !errors.Is(err, ErrNotRepository) || !strings.Contains(err.Error(), "git init --bare "+dir) {
		t.Fatalf("got %v", err)
	}
	needGit(t)
	commitTo(t, dir, "prod", Options{Init: true}, map[string]string{"a": "1"})
	commitTo(t, dir, "prod", Options{Init: true}, map[string]string{"a": "2"})
	sound(t, dir)
	if got := git(t, dir, "symbolic-ref", "HEAD"); got != "refs/heads/prod" {
		t.Errorf("HEAD is %s", got)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, "", "clone", "-q", dir, clone)
	clean(t, clone)
}

func TestInitInTheWay(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"notes": "mine"})
	if _, err := Open(t.Context(), dir, "main", Options{Init: true}); !errors.Is(err, ErrNotRepository) {
		t.Errorf("got %v", err)
	}
}

func TestFolderInside(t *testing.T) {
	dir := normal(t, map[string]string{"sub/a": "1"})
	_, err := Open(t.Context(), filepath.Join(dir, "sub"), "main", Options{})
	if !errors.Is(err, ErrNotRepository) || !strings.Contains(err.Error(), "a folder of the repository") {
		t.Errorf("got %v", err)
	}
	if root, ok := Root(filepath.Join(dir, "sub")); !ok || !sameFile(root, dir) {
		t.Errorf("root %q", root)
	}
	if name, ok := CurrentBranch(filepath.Join(dir, "sub")); !ok || name != "main" {
		t.Errorf("branch %q", name)
	}
}

func TestNothingChanged(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1"})
	before := git(t, dir, "rev-parse", "HEAD")
	write(t, dir, map[string]string{"a": "dirty, but not touched"})
	r := commitTo(t, dir, "main", Options{}, map[string]string{"a": "1", "gone": "-"})
	if r.Changed || r.Commit != before || git(t, dir, "rev-parse", "HEAD") != before {
		t.Errorf("%+v", r)
	}
}

func TestCheckedOutBranch(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1", "b": "1", "keep": "1", "d/x": "1", "e": "1", "f/y/z": "1"})
	write(t, dir, map[string]string{"keep": "edited by hand", "untracked": "mine"})
	r := commitTo(t, dir, "main", Options{}, map[string]string{
		"a": "2", "b": "-", "new/deep/file": "n", "d/x": "-", "d": "now a file", "e": "-", "e/sub": "now a folder", "f/y/z": "-"})
	if git(t, dir, "rev-parse", "HEAD") != r.Commit {
		t.Error("HEAD did not move")
	}
	if got := git(t, dir, "status", "--porcelain"); got != " M keep\n?? untracked" {
		t.Errorf("status:\n%s", got)
	}
	same(t, listing(t, dir, "HEAD"), map[string]string{"a": "100644 2", "new/deep/file": "100644 n",
		"d": "100644 now a file", "e/sub": "100644 now a folder", "keep": "100644 1"})
	git(t, dir, "checkout", "-q", "keep")
	if err := os.Remove(filepath.Join(dir, "untracked")); err != nil {
		t.Fatal(err)
	}
	clean(t, dir)
	sound(t, dir)
	if exists(filepath.Join(dir, "f")) {
		t.Error("the emptied folder stays")
	}
	if got := git(t, dir, "reflog", "--format=%H %gs"); !strings.HasPrefix(got, r.Commit+" commit: change\n") {
		t.Errorf("reflog of HEAD:\n%s", got)
	}
	if got := git(t, dir, "reflog", "--format=%gs", "main"); got != "commit: change\ncommit (initial): first" {
		t.Errorf("reflog of main:\n%s", got)
	}
}

// The user rendered into the work tree, with or without adding, and commits.
func TestRenderedInPlace(t *testing.T) {
	for _, stage := range []string{"", "-A"} {
		dir := normal(t, map[string]string{"a": "1", "gone": "1"})
		files := map[string]string{"a": "2", "n/b": "new"}
		write(t, dir, files)
		if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
			t.Fatal(err)
		}
		if stage != "" {
			git(t, dir, "add", stage)
		}
		files["gone"] = "-"
		commitTo(t, dir, "main", Options{}, files)
		clean(t, dir)
		sound(t, dir)
	}
}

func TestUnbornBranch(t *testing.T) {
	dir := normal(t, nil)
	write(t, dir, map[string]string{"a": "1", "mine": "x"})
	commitTo(t, dir, "", Options{}, map[string]string{"a": "1", "b": "2"})
	if got := git(t, dir, "status", "--porcelain"); got != "?? mine" {
		t.Errorf("status:\n%s", got)
	}
	sound(t, dir)
}

func TestRefusedWhenDirty(t *testing.T) {
	dir := normal(t, map[string]string{"modified": "1", "staged": "1", "deleted": "1", "folder": "1", "mode": "1", "uncached": "1"})
	write(t, dir, map[string]string{"modified": "mine", "staged": "mine", "untracked": "mine", "way/file": "mine", "ok": "2"})
	git(t, dir, "add", "staged")
	git(t, dir, "rm", "-q", "--cached", "uncached")
	for _, err := range []error{os.Remove(filepath.Join(dir, "deleted")), os.Symlink("way", filepath.Join(dir, "link")), os.Chmod(filepath.Join(dir, "mode"), 0o777)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before := git(t, dir, "status", "--porcelain")
	head := git(t, dir, "rev-parse", "HEAD")
	_, err := open(t, dir, "main", Options{}).Commit(t.Context(), puts(map[string]string{
		"modified": "2", "staged": "2", "deleted": "2", "untracked": "2", "way": "2", "link/x": "2", "ok": "2", "folder": "2", "mode": "2", "uncached": "2"}), opts("x"))
	var dirty *DirtyError
	if !errors.Is(err, ErrDirty) || !errors.As(err, &dirty) {
		t.Fatalf("got %v", err)
	}
	if dirty.Unborn || !strings.Contains(dirty.Hint(), "stash") {
		t.Errorf("the way out is %q, of a branch without a commit: %v", dirty.Hint(), dirty.Unborn)
	}
	got := map[string]string{}
	for _, p := range dirty.Paths {
		got[p.Path] = p.State
	}
	same(t, got, map[string]string{"modified": "modified", "staged": "staged", "deleted": "deleted", "untracked": "untracked",
		"way": "in the way", "link/x": "in the way", "mode": "modified", "uncached": "staged"})
	if git(t, dir, "status", "--porcelain") != before || git(t, dir, "rev-parse", "HEAD") != head {
		t.Error("something changed")
	}
	sound(t, dir)
}

// TestUnbornBranchHasNothingToStash commits into a repository without a commit, where git stash fails.
func TestUnbornBranchHasNothingToStash(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, map[string]string{"a": "mine"})
	_, err := open(t, dir, "main", Options{}).Commit(t.Context(), puts(map[string]string{"a": "2"}), opts("x"))
	var dirty *DirtyError
	if !errors.As(err, &dirty) || !dirty.Unborn || strings.Contains(dirty.Hint(), "stash") {
		t.Errorf("got %v", err)
	}
}

func TestKeepsModesLinksAndSubmodules(t *testing.T) {
	sub := normal(t, map[string]string{"s": "1"})
	dir := normal(t, map[string]string{"run.sh": "#!/bin/sh\n", "a": "1", "d/other": "1"})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "d", "link")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "submodule", "-q", "add", sub, "d/sub")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "second")
	before := listing(t, dir, "HEAD")
	commitTo(t, dir, "main", Options{}, map[string]string{"run.sh": "#!/bin/bash\n", "d/new": "1"})
	before["run.sh"] = "100755 #!/bin/bash"
	before["d/new"] = "100644 1"
	same(t, listing(t, dir, "HEAD"), before)
	clean(t, dir)
	sound(t, dir)

	b := open(t, dir, "main", Options{})
	for path, at := range map[string]string{"d/link": "d/link is a symbolic link", "d/sub": "d/sub is a submodule",
		"d/sub/x": "d/sub is a submodule", "d/link/x/y": "d/link is a symbolic link"} {
		var blocked *tree.BlockedError
		if _, err := b.ReadFile(path); !errors.As(err, &blocked) || blocked.At+" is "+blocked.What != at || blocked.Path != path {
			t.Errorf("reading %s: %v", path, err)
		}
		for _, c := range []string{"x", "-"} {
			if _, err := b.Commit(t.Context(), puts(map[string]string{path: c}), opts("x")); !errors.As(err, &blocked) || blocked.At+" is "+blocked.What != at || blocked.Path != path {
				t.Errorf("changing %s: %v", path, err)
			}
		}
	}
	files, occupied, err := b.List()
	if err != nil || strings.Join(files, " ") != ".gitmodules a d/new d/other run.sh" || strings.Join(occupied, " ") != "d/link d/sub" {
		t.Errorf("%v %v %v", files, occupied, err)
	}
}

func TestFileAndFolder(t *testing.T) {
	dir := bare(t)
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "1", "d/x": "1", "d/y": "1"})
	b := open(t, dir, "main", Options{})
	for _, bad := range []map[string]string{{"a/b": "1"}, {"d": "1"}, {"d": "1", "d/x": "-"}, {"n": "1", "n/m": "1"}} {
		if _, err := b.Commit(t.Context(), puts(bad), opts("x")); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "-", "a/b": "2", "d": "2", "d/x": "-", "d/y": "-"})
	same(t, listing(t, dir, "main"), map[string]string{"a/b": "100644 2", "d": "100644 2"})
	commitTo(t, dir, "main", Options{}, map[string]string{"a/b": "-", "d": "-"})
	same(t, listing(t, dir, "main"), map[string]string{})
	sound(t, dir)
}

func TestNewBranches(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1"})
	git(t, dir, "pack-refs", "--all")
	r := commitTo(t, dir, "tenant/x", Options{Orphan: true}, map[string]string{"t": "1"})
	same(t, listing(t, dir, "tenant/x"), map[string]string{"t": "100644 1"})
	if !r.Created || git(t, dir, "rev-list", "--count", "tenant/x") != "1" {
		t.Errorf("%+v", r)
	}
	r = commitTo(t, dir, "env", Options{}, map[string]string{"e": "1"})
	if r.Parent != git(t, dir, "rev-parse", "main") {
		t.Errorf("%+v", r)
	}
	same(t, listing(t, dir, "env"), map[string]string{"a": "100644 1", "e": "100644 1"})
	r = commitTo(t, dir, "mirror", Options{}, map[string]string{"a": "1"})
	if !r.Created || !r.Changed || git(t, dir, "rev-parse", "mirror") != git(t, dir, "rev-parse", "main") {
		t.Errorf("%+v", r)
	}
	clean(t, dir)
	sound(t, dir)
}

func TestPackedReferences(t *testing.T) {
	dir := bare(t)
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "1"})
	commitTo(t, dir, "x/y", Options{}, map[string]string{"a": "1", "b": "1"})
	git(t, dir, "pack-refs", "--all", "--prune")
	git(t, dir, "gc", "-q")
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "2"})
	same(t, listing(t, dir, "main"), map[string]string{"a": "100644 2"})
	for _, name := range []string{"x", "x/y/z"} {
		_, err := open(t, dir, name, Options{}).Commit(t.Context(), puts(map[string]string{"n": "1"}), opts("x"))
		if err == nil || !strings.Contains(err.Error(), "cannot exist beside branch \"x/y\"") {
			t.Errorf("%s: %v", name, err)
		}
	}
	git(t, dir, "update-ref", "-d", "refs/heads/x/y")
	if err := os.MkdirAll(filepath.Join(dir, "refs", "heads", "x", "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	commitTo(t, dir, "x", Options{}, map[string]string{"n": "1"})
	sound(t, dir)
}

func TestBadPathsAndNames(t *testing.T) {
	dir := bare(t)
	b := open(t, dir, "main", Options{})
	for _, path := range []string{"", "/a", "../a", "a/../b", "a//b", "./a", ".git/config", "x/.GIT/y", "git~1/x", ".git /x", ".g\u200cit/x", "a\\b", "a\x00b", ".git::$INDEX_ALLOCATION/x"} {
		if _, err := b.Commit(t.Context(), []Change{{Path: path}}, opts("x")); err == nil {
			t.Errorf("%q is taken", path)
		}
	}
	if _, err := b.Commit(t.Context(), []Change{{Path: "a"}, {Path: "a"}}, opts("x")); err == nil {
		t.Error("a path twice is taken")
	}
	for _, name := range []string{"-x", "a..b", "a b", "x.lock", "/x", "x/", "HEAD", "a~1", "a\nb", "@{"} {
		if _, err := Open(t.Context(), dir, name, Options{}); err == nil {
			t.Errorf("branch %q is taken", name)
		}
	}
	for _, o := range []CommitOptions{{Message: "x"}, {Message: " ", Author: opts("").Author},
		{Message: "x", Author: Signature{Name: "a\nb", Email: "e"}}} {
		if _, err := b.Commit(t.Context(), puts(map[string]string{"a": "1"}), o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestInTheMiddle(t *testing.T) {
	for name, c := range map[string]struct {
		run  [][]string
		says string
	}{
		"rebase":      {[][]string{{"rebase", "other"}}, "a rebase"},
		"merge":       {[][]string{{"merge", "other"}}, "a merge"},
		"cherry-pick": {[][]string{{"cherry-pick", "other"}}, "a cherry-pick"},
		"revert":      {[][]string{{"revert", "--no-edit", "HEAD~1"}}, "a revert"},
		"bisect":      {[][]string{{"bisect", "start", "HEAD", "HEAD~2"}}, "a bisect"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := normal(t, map[string]string{"a": "1"})
			git(t, dir, "branch", "other")
			for _, content := range []string{"2", "3"} {
				write(t, dir, map[string]string{"a": content})
				git(t, dir, "commit", "-qam", content)
			}
			git(t, dir, "checkout", "-q", "other")
			write(t, dir, map[string]string{"a": "other"})
			git(t, dir, "commit", "-qam", "other")
			git(t, dir, "checkout", "-q", "main")
			for _, args := range c.run {
				_, _ = tryGit(dir, args...) // stops with a conflict
			}
			_, err := open(t, dir, "main", Options{}).Commit(t.Context(), puts(map[string]string{"n": "1"}), opts("x"))
			if !errors.Is(err, ErrInProgress) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			commitTo(t, dir, "elsewhere", Options{Orphan: true}, map[string]string{"n": "1"})
			sound(t, dir)
		})
	}
}

func TestMoved(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1"})
	b := open(t, dir, "main", Options{})
	write(t, dir, map[string]string{"b": "1"})
	git(t, dir, "add", "b")
	git(t, dir, "commit", "-qm", "beside us")
	_, err := b.Commit(t.Context(), puts(map[string]string{"c": "1"}), opts("x"))
	if !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), "run again") {
		t.Errorf("got %v", err)
	}
	clean(t, dir)
	sound(t, dir)
}

func TestHeldLocks(t *testing.T) {
	for _, lock := range []string{"index.lock", "HEAD.lock", "refs/heads/main.lock"} {
		dir := normal(t, map[string]string{"a": "1"})
		path := filepath.Join(dir, ".git", lock)
		write(t, filepath.Dir(path), map[string]string{filepath.Base(path): ""})
		_, err := open(t, dir, "main", Options{}).Commit(t.Context(), puts(map[string]string{"a": "2"}), opts("x"))
		if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", lock, err)
		}
		if !exists(path) {
			t.Errorf("%s: somebody's lock is gone", lock)
		}
		_ = os.Remove(path)
		clean(t, dir)
		sound(t, dir)
		commitTo(t, dir, "main", Options{}, map[string]string{"a": "2"})
		clean(t, dir)
	}
}

func TestLinkedWorktree(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1"})
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dir, "worktree", "add", "-q", "-b", "side", linked)
	commitTo(t, dir, "side", Options{}, map[string]string{"a": "2"})
	clean(t, linked)
	commitTo(t, linked, "main", Options{}, map[string]string{"a": "3"})
	clean(t, dir)
	commitTo(t, linked, "", Options{}, map[string]string{"a": "4"})
	clean(t, linked)
	clean(t, dir)
	same(t, listing(t, dir, "side"), map[string]string{"a": "100644 4"})
	sound(t, linked)

	write(t, linked, map[string]string{"a": "mine"})
	if _, err := open(t, dir, "side", Options{}).Commit(t.Context(), puts(map[string]string{"a": "5"}), opts("x")); !errors.Is(err, ErrDirty) {
		t.Errorf("got %v", err)
	}
	if err := os.RemoveAll(linked); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, dir, "side", Options{}).Commit(t.Context(), puts(map[string]string{"a": "5"}), opts("x"))
	if err == nil || !strings.Contains(err.Error(), "git worktree prune") {
		t.Errorf("got %v", err)
	}
}

func TestSubmoduleAsRepository(t *testing.T) {
	sub := normal(t, map[string]string{"s": "1"})
	dir := normal(t, map[string]string{"a": "1"})
	git(t, dir, "submodule", "-q", "add", sub, "sub")
	commitTo(t, filepath.Join(dir, "sub"), "main", Options{}, map[string]string{"s": "2"})
	clean(t, filepath.Join(dir, "sub"))
}

func TestUnsupported(t *testing.T) {
	needGit(t)
	sha256 := t.TempDir()
	git(t, sha256, "init", "-q", "--object-format=sha256")
	elsewhere := normal(t, map[string]string{"a": "1"})
	git(t, elsewhere, "config", "core.worktree", t.TempDir())
	unknown := normal(t, map[string]string{"a": "1"})
	git(t, unknown, "config", "core.repositoryformatversion", "1")
	git(t, unknown, "config", "extensions.refstorage", "reftable")
	for _, dir := range []string{sha256, elsewhere, unknown} {
		if _, err := Open(t.Context(), dir, "main", Options{}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("got %v", err)
		}
	}
}

// TestIndexesOfGit commits with indexes and work trees of git's that go-git does not read.
func TestIndexesOfGit(t *testing.T) {
	for name, commands := range map[string][][]string{
		"split":        {{"update-index", "--split-index"}},
		"sparse":       {{"sparse-checkout", "set", "--cone", "in"}},
		"sparse index": {{"sparse-checkout", "set", "--cone", "--sparse-index", "in"}},
		"no hash":      {{"config", "index.skipHash", "true"}},
		"many files":   {{"config", "feature.manyFiles", "true"}, {"update-index", "--refresh"}},
	} {
		dir := normal(t, map[string]string{"a": "1", "in/b": "1", "out/c": "1", "out/d/e": "1"})
		for _, args := range commands {
			git(t, dir, args...)
		}
		commitTo(t, dir, "main", Options{}, map[string]string{"a": "2", "in/b": "2", "in/new": "2", "out/c": "2", "out/new": "2", "out/d/e": "-"})
		clean(t, dir)
		sound(t, dir)
		if sparse := strings.HasPrefix(name, "sparse"); exists(filepath.Join(dir, "out")) == sparse {
			t.Errorf("%s: the folder outside of a sparse checkout exists: %v", name, !sparse)
		}
		same(t, listing(t, dir, "HEAD"), map[string]string{"a": "100644 2", "in/b": "100644 2", "in/new": "100644 2", "out/c": "100644 2", "out/new": "100644 2"})
	}
}

func TestIndexFlagsAndVersions(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		dir := normal(t, map[string]string{"a": "1", "assumed": "1", "skipped": "1", "z/z": "1", strings.Repeat("long", 60) + "/" + strings.Repeat("name", 60): "1"})
		git(t, dir, "update-index", "--index-version", version)
		git(t, dir, "update-index", "--assume-unchanged", "assumed")
		write(t, dir, map[string]string{"assumed": "mine", "planned": "mine"})
		git(t, dir, "add", "-N", "planned")
		git(t, dir, "sparse-checkout", "set", "--no-cone", "/*", "!/skipped")
		commitTo(t, dir, "main", Options{}, map[string]string{"a": "2", "skipped": "2"})
		flags := git(t, dir, "ls-files", "-v")
		if !strings.Contains(flags, "h assumed") || !strings.Contains(flags, "S skipped") {
			t.Errorf("version %s: flags\n%s", version, flags)
		}
		if got := git(t, dir, "status", "--porcelain"); got != " A planned" {
			t.Errorf("version %s: status\n%s", version, got)
		}
		if exists(filepath.Join(dir, "skipped")) {
			t.Error("a file outside of the sparse checkout was written")
		}
		sound(t, dir)
	}
}

// A file that was changed in the second in which the index was written, and not in size: git compares its content, as long as
// the index has that time.
func TestRacyIndex(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1", "b": "1"})
	git(t, dir, "config", "core.checkStat", "minimal")
	git(t, dir, "config", "core.trustctime", "false")
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	at := func(file string) {
		if err := os.Chtimes(filepath.Join(dir, file), then, then); err != nil {
			t.Fatal(err)
		}
	}
	at("b")
	git(t, dir, "update-index", "--refresh")
	write(t, dir, map[string]string{"b": "2"})
	at("b")
	at(".git/index")
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "2"})
	if got := git(t, dir, "status", "--porcelain"); got != " M b" {
		t.Errorf("status: %q", got)
	}
}

func TestLineEndings(t *testing.T) {
	dir := normal(t, nil)
	git(t, dir, "config", "core.autocrlf", "true")
	write(t, dir, map[string]string{"a": "x\n", "b": "x\n"})
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-qm", "first")
	for _, name := range []string{"a", "b"} {
		_ = os.Remove(filepath.Join(dir, name))
	}
	git(t, dir, "checkout", "-q", ".")
	git(t, dir, "-c", "core.autocrlf=true", "update-index", "--refresh")
	old := filepath.Join(dir, ".git", "index")
	later(t, old)
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "y\n"})
	if got, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(got) != "y\r\n" {
		t.Errorf("%q %v", got, err)
	}
	if got := git(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("status: %q", got)
	}
}

func TestAlternatesAndShallow(t *testing.T) {
	origin := normal(t, map[string]string{"a": "1"})
	write(t, origin, map[string]string{"b": "1"})
	git(t, origin, "add", "-A")
	git(t, origin, "commit", "-qm", "second")
	for _, args := range [][]string{{"--shared"}, {"--depth=1"}} {
		dir := filepath.Join(t.TempDir(), "clone")
		git(t, "", append([]string{"clone", "-q", "file://" + origin, dir}, args...)...)
		commitTo(t, dir, "main", Options{}, map[string]string{"a": "2"})
		same(t, listing(t, dir, "main"), map[string]string{"a": "100644 2", "b": "100644 1"})
		clean(t, dir)
		sound(t, dir)
	}
}

func TestSharedRepository(t *testing.T) {
	needGit(t)
	dir := filepath.Join(t.TempDir(), "shared.git")
	git(t, "", "init", "-q", "--bare", "--shared=group", "-b", "main", dir)
	commitTo(t, dir, "x/y", Options{}, map[string]string{"a": "1"})
	for path, want := range map[string]os.FileMode{"refs/heads/x": 0o070, "refs/heads/x/y": 0o060} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm()&want != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
}

func TestManyFilesBecomeAPack(t *testing.T) {
	dir := bare(t)
	files := map[string]string{}
	for i := range 300 {
		files["d/"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+"/"+string(rune('0'+i%10))+strings.Repeat("y", i)] = strings.Repeat("content ", i)
	}
	commitTo(t, dir, "main", Options{}, files)
	packs, _ := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if len(packs) != 1 {
		t.Errorf("packs: %v", packs)
	}
	sound(t, dir)
	b := open(t, dir, "main", Options{})
	for path, want := range files {
		got, err := b.ReadFile(path)
		if err != nil || string(got) != want {
			t.Fatalf("%s: %v", path, err)
		}
	}
	var blocked *tree.BlockedError
	if _, err := b.ReadFile("d"); !errors.As(err, &blocked) || blocked.What != tree.AFolder {
		t.Errorf("a folder: %v", err)
	}
	for path := range files {
		if _, err := b.ReadFile(path + "/x"); !errors.As(err, &blocked) || blocked.What != tree.AFile || blocked.At != path {
			t.Errorf("below a file: %v", err)
		}
		break
	}
	for _, path := range []string{"no/such", "d/no", "no"} {
		if _, err := b.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestDryRun(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1"})
	o := opts("x")
	o.DryRun = true
	b := open(t, dir, "main", Options{})
	r, err := b.Commit(t.Context(), puts(map[string]string{"a": "2"}), o)
	if err != nil || !r.Changed {
		t.Errorf("%+v %v", r, err)
	}
	if out, err := tryGit(dir, "cat-file", "-e", r.Commit); err == nil {
		t.Errorf("the commit exists %s", out)
	}
	clean(t, dir)
	sound(t, dir)
}
