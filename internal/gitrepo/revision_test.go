package gitrepo

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/advice"
)

func TestReadRevision(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		git(t, dir, args...)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "--quiet", "--initial-branch=main")
	write("a/b.yaml", "first")
	write("c.yaml", "c")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "a", "link")); err != nil {
		t.Fatal(err)
	}
	run("add", "--all")
	run("commit", "--quiet", "--message", "first")
	run("tag", "one")
	write("a/b.yaml", "second")
	run("commit", "--quiet", "--all", "--message", "second")
	run("gc", "--quiet")
	write("a/b.yaml", "in the work tree")

	for _, c := range []struct{ at, revision, file, want string }{
		{".", "HEAD", "a/b.yaml", "second"},
		{".", "HEAD~1", "a/b.yaml", "first"},
		{".", "one", "a/b.yaml", "first"},
		{".", "main", "c.yaml", "c"},
		{"a", "HEAD~1", "b.yaml", "first"},
	} {
		files, err := ReadRevision(t.Context(), filepath.Join(dir, c.at), c.revision)
		if err != nil {
			t.Fatal(err)
		}
		sizes := maps.Collect(files.Sizes())
		if data, err := files.ReadFile(c.file); err != nil || string(data) != c.want || sizes[c.file] != int64(len(c.want)) {
			t.Errorf("%s of %s at %s is %q, %v; want %q", c.file, c.at, c.revision, data, err, c.want)
		}
		if _, there := sizes["a/link"]; there {
			t.Error("a symlink is read")
		}
	}
	if _, err := ReadRevision(t.Context(), dir, "nothing"); !errors.Is(err, ErrNoRevision) {
		t.Errorf("an unknown revision gives %v", err)
	}
	if _, err := ReadRevision(t.Context(), t.TempDir(), "HEAD"); !errors.Is(err, ErrNotRepository) {
		t.Errorf("a folder outside of git gives %v", err)
	}
}

// A clone may have its objects elsewhere: in the repository that it was cloned from, or only at its remote.
func TestReadRevisionOfClones(t *testing.T) {
	needGit(t)
	top := t.TempDir()
	origin := filepath.Join(top, "origin")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(origin, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, top, "init", "--quiet", "--initial-branch=main", "origin")
	for _, text := range []string{"first", "second", "third"} {
		write("a.yaml", text)
		write("b.yaml", "same")
		write("image.png", text)
		git(t, origin, "add", "--all")
		git(t, origin, "commit", "--quiet", "--message", text)
	}
	git(t, origin, "config", "uploadpack.allowFilter", "true")
	git(t, top, "clone", "--quiet", "--shared", "origin", "shared")
	git(t, top, "clone", "--quiet", "--shared", "shared", "twice")
	git(t, top, "clone", "--quiet", "--shared", "origin", "relative")
	if err := os.WriteFile(filepath.Join(top, "relative/.git/objects/info/alternates"), []byte("# from\n../../../origin/.git/objects\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, filepath.Join(top, "twice"), "worktree", "add", "--quiet", "../linked", "HEAD")
	for _, clone := range []string{"shared", "twice", "relative", "linked"} {
		files, err := ReadRevision(t.Context(), filepath.Join(top, clone), "HEAD~2")
		if err != nil {
			t.Errorf("%s: %v", clone, err)
			continue
		}
		if data, err := files.ReadFile("a.yaml"); err != nil || string(data) != "first" {
			t.Errorf("%s: the file is %q, %v", clone, data, err)
		}
	}

	git(t, top, "clone", "--quiet", "--filter=blob:none", "file://"+origin, "partial")
	partial := filepath.Join(top, "partial")
	files, err := ReadRevision(t.Context(), partial, "HEAD~2")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := files.ReadFile("b.yaml"); err != nil || string(data) != "same" {
		t.Errorf("a file that did not change is %q, %v", data, err)
	}
	_, err = files.ReadFile("a.yaml")
	advice := (*advice.Error)(nil)
	if !errors.As(err, &advice) || !strings.Contains(advice.Hint(), `"git diff --stat HEAD~2"`) {
		t.Fatalf("a file that is missing gives %v", err)
	}
	git(t, partial, "diff", "--stat", "HEAD~2") // as the hint says
	if files, err = ReadRevision(t.Context(), partial, "HEAD~2"); err != nil {
		t.Fatal(err)
	}
	if data, err := files.ReadFile("a.yaml"); err != nil || string(data) != "first" {
		t.Errorf("a file that git fetched is %q, %v", data, err)
	}

	git(t, top, "clone", "--quiet", "--filter=tree:0", "file://"+origin, "treeless")
	if _, err = ReadRevision(t.Context(), filepath.Join(top, "treeless"), "HEAD~2"); !errors.As(err, &advice) || !strings.Contains(advice.Hint(), "git diff") {
		t.Errorf("folders that are missing give %v", err)
	}
}

func TestWithin(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"repo/.git", "repo/.github/deep", "linked/sub", "bare"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "linked", ".git"), []byte("gitdir: /nowhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "repo", ".github"), filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, root, below string
		ok               bool
	}{
		{"repo", "repo", "", true},
		{"repo/.github", "repo", ".github", true},
		{"repo/.github/deep", "repo", ".github/deep", true},
		{"link/deep", "repo", ".github/deep", true},
		{"linked/sub", "linked", "sub", true},
		{"bare", "", "", false},
		{"nowhere", "", "", false},
	} {
		want := ""
		if c.ok {
			want = filepath.Join(root, c.root)
		}
		got, below, ok := Within(filepath.Join(root, c.dir))
		if got != want || below != c.below || ok != c.ok {
			t.Errorf("%s: %q, %q, %v", c.dir, got, below, ok)
		}
	}
}

// TestReadRevisionSaysWhatIsMissing asks for revisions that there are not: of a repository without a
// commit, before the first one, and before the end of a shallow clone.
func TestReadRevisionSaysWhatIsMissing(t *testing.T) {
	empty, dir, shallow := t.TempDir(), normal(t, map[string]string{"a": "1"}), filepath.Join(t.TempDir(), "clone")
	git(t, empty, "init", "--quiet", "--initial-branch=main")
	git(t, dir, "commit", "--quiet", "--allow-empty", "--message", "second")
	git(t, dir, "commit", "--quiet", "--allow-empty", "--message", "third")
	git(t, dir, "clone", "--quiet", "--depth=2", "file://"+dir, shallow)
	for _, c := range []struct{ dir, revision, message, hint string }{
		{empty, "HEAD", `"HEAD": the repository has no commit yet`, "commit first"},
		{empty, "main~2", `"main~2": the repository has no commit yet`, "commit first"},
		{dir, "HEAD~3", `"HEAD~3": "HEAD" has only 3 commits`, "the first one is HEAD~2"},
		{dir, "main~10", `"main~10": "main" has only 3 commits`, "the first one is main~2"},
		{dir, "HEAD~2~1", `"HEAD~2~1": it has no such ancestor`, "name a revision"},
		{dir, "nothing~1", `"nothing~1": reference not found`, "name a revision"},
		{shallow, "HEAD~2", `"HEAD~2": this clone has only 2 commits of "HEAD"`, "git fetch --unshallow"},
		{shallow, "nothing", `"nothing": reference not found`, "git fetch --unshallow"},
	} {
		_, err := ReadRevision(t.Context(), c.dir, c.revision)
		var advice *advice.Error
		if !errors.Is(err, ErrNoRevision) || !errors.As(err, &advice) {
			t.Errorf("%s gives %v", c.revision, err)
			continue
		}
		if want := "no such revision: " + c.message; err.Error() != want || !strings.Contains(advice.Hint(), c.hint) {
			t.Errorf("%s gives %q with %q, want %q with %q", c.revision, err, advice.Hint(), want, c.hint)
		}
	}
	if _, err := ReadRevision(t.Context(), dir, "HEAD~2"); err != nil {
		t.Errorf("the first commit: %v", err)
	}
}
