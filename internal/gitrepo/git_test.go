package gitrepo

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// gitEnv keeps the machine's configuration out of the tests.
func gitEnv() []string {
	return append(os.Environ(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_AUTHOR_DATE=1700000000 +0100",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.com", "GIT_COMMITTER_DATE=1700000000 +0100",
		"GIT_ALLOW_PROTOCOL=file", "GIT_TERMINAL_PROMPT=0")
}

// tryGit runs the real git.
func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir, cmd.Env = dir, gitEnv()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(string(out), "\n"), nil
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
}

// tempDir is a temporary folder by the name that git has for it, without links.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func bare(t testing.TB) string {
	t.Helper()
	needGit(t)
	dir := filepath.Join(tempDir(t), "bare.git")
	git(t, "", "init", "-q", "--template=", "--bare", "-b", "main", dir)
	return dir
}

// normal is a repository with main checked out and one commit of the files.
func normal(t testing.TB, files map[string]string) string {
	t.Helper()
	needGit(t)
	dir := filepath.Join(tempDir(t), "work")
	git(t, "", "init", "-q", "--template=", "-b", "main", dir)
	write(t, dir, files)
	if len(files) > 0 {
		git(t, dir, "add", "-A")
		git(t, dir, "commit", "-q", "-m", "first")
	}
	return dir
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// puts makes changes; content "-" deletes.
func puts(files map[string]string) []Change {
	var changes []Change
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if files[path] == "-" {
			changes = append(changes, Change{Path: path, Delete: true})
		} else {
			changes = append(changes, Change{Path: path, Content: []byte(files[path])})
		}
	}
	return changes
}

func opts(message string) CommitOptions {
	return CommitOptions{Message: message, Author: Signature{Name: "Fleet Wright", Email: "fw@example.com",
		When: time.Unix(1710000000, 0).In(time.FixedZone("", 3600))}}
}

func open(t testing.TB, location, branch string, o Options) *Branch {
	t.Helper()
	b, err := Open(t.Context(), location, branch, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// commitTo opens and commits in one go.
func commitTo(t testing.TB, location, branch string, o Options, files map[string]string) Result {
	t.Helper()
	r, err := open(t, location, branch, o).Commit(t.Context(), puts(files), opts("change"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// listing is a revision as git sees it: mode, and content or target, by path.
func listing(t testing.TB, dir, rev string) map[string]string {
	t.Helper()
	files := map[string]string{}
	out := git(t, dir, "ls-tree", "-r", rev)
	for line := range strings.Lines(out) {
		meta, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		f := strings.Fields(meta)
		if f[1] == "commit" {
			files[name] = f[0] + " " + f[2]
			continue
		}
		files[name] = f[0] + " " + git(t, dir, "cat-file", "-p", f[2])
	}
	return files
}

// sound fails unless git finds the repository whole and nothing of ours left.
func sound(t testing.TB, dir string) {
	t.Helper()
	for line := range strings.Lines(git(t, dir, "fsck", "--strict", "--no-dangling")) {
		if !strings.HasPrefix(line, "notice: ") {
			t.Errorf("git fsck says: %s", line)
		}
	}
	l, err := findLayout(dir)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(l.common, func(path string, d os.DirEntry, err error) error {
		name := d.Name()
		if err == nil && (strings.HasSuffix(name, ".lock") || strings.HasPrefix(name, "fleetwright")) {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// clean fails unless the work tree and index are as HEAD, without a refresh of
// the index.
func clean(t testing.TB, dir string) {
	t.Helper()
	for _, args := range [][]string{{"diff-files"}, {"diff-index", "--cached", "HEAD"}, {"status", "--porcelain"}, {"ls-files", "--others", "--exclude-standard"}} {
		if out := git(t, dir, append([]string{"--no-optional-locks"}, args...)...); out != "" {
			t.Errorf("git %s says:\n%s", strings.Join(args, " "), out)
		}
	}
}

func same(t testing.TB, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
}
