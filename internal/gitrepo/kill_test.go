package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The test binary is its own victim: with these variables set it commits (or
// only opens) and kills itself at a step.
const (
	victimDir  = "GITREPO_TEST_VICTIM"
	victimStep = "GITREPO_TEST_STEP"
	victimWhat = "GITREPO_TEST_WHAT"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(victimDir); dir != "" {
		os.Exit(victim(dir))
	}
	os.Exit(m.Run())
}

// killChanges is what the victim commits: all that can happen to a file.
func killChanges() []Change {
	return puts(map[string]string{"a": "2222", "run.sh": "#!/bin/bash\n", "gone": "-", "f": "-", "f/x": "folder now",
		"d/x": "-", "d/y/z": "-", "d": "file now", "new/deep": "new"})
}

func victim(dir string) int {
	at, _ := strconv.Atoi(os.Getenv(victimStep))
	steps := 0
	err := commitAs(context.Background(), dir, os.Getenv(victimWhat), func(op, path string) {
		steps++
		if steps == at {
			fmt.Printf("%s %s", op, filepath.Base(path))
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			fmt.Fprintln(os.Stderr, "not killed:", err)
			select {}
		}
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// commitAs commits killChanges. what is the branch, and ":many" for more files
// or ":push" for a push; empty only opens.
func commitAs(ctx context.Context, dir, what string, step func(op, path string)) error {
	branch, how, _ := strings.Cut(what, ":")
	changes := killChanges()
	if how == "many" {
		for i := range unpackLimit {
			changes = append(changes, Change{Path: fmt.Sprintf("many/%d", i), Content: []byte{byte(i)}})
		}
	}
	b, err := Open(ctx, dir, branch, Options{Orphan: true, Push: how == "push", step: step})
	if err != nil {
		return err
	}
	if branch != "" {
		_, err = b.Commit(ctx, changes, opts("killed"))
	}
	return errors.Join(err, b.Close())
}

// kill runs the victim up to a step. It reports where it died, and false when it
// ended by itself.
func kill(t *testing.T, dir, what string, step int) (string, bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(gitEnv(), victimDir+"="+dir, victimStep+"="+strconv.Itoa(step), victimWhat+"="+what)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "", false
	case errors.As(err, &exit) && exit.ExitCode() == -1:
		return string(out), true
	}
	t.Fatalf("step %d (%s): %v\n%s", step, out, err, stderr.String())
	return "", false
}

// snapshot is all that a user sees of a repository: references, their logs, the
// index, and the work tree's files with their modes.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	l, err := findLayout(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := map[string]string{"refs": git(t, dir, "for-each-ref", "--format=%(refname) %(objectname)")}
	if err := filepath.WalkDir(filepath.Join(l.common, "logs"), func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a bare repository without logs
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		s["reflog"] += path[len(l.common):] + "\n" + string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if l.work == "" {
		return s
	}
	s["index"] = git(t, dir, "ls-files", "--stage")
	s["status"] = git(t, dir, "--no-optional-locks", "status", "--porcelain")
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		if d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		s["file "+rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			s["file "+rel] += " " + string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// killable is a repository with files for killChanges.
func killable(t *testing.T) string {
	dir := normal(t, map[string]string{"a": "1111", "run.sh": "#!/bin/sh\n", "gone": "1", "f": "1", "d/x": "1", "d/y/z": "1", "keep/k": "1"})
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, "keep", "link")); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "second")
	write(t, dir, map[string]string{"untracked": "mine", "keep/k": "edited by hand"})
	return dir
}

func copied(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.Command("cp", "-a", dir, to).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return to
}

// reopen is the next command after a kill.
func reopen(t *testing.T, dir, branch string) {
	t.Helper()
	b, err := Open(t.Context(), dir, branch, Options{Orphan: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestKilledAtEveryStep ends the process at each write, rename and reference
// update of a commit; after the next command the repository is exactly as before
// or as after, and a further run ends in the same state as one never killed.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	empty := func(t *testing.T) string { return bare(t) }
	for name, c := range map[string]struct {
		dir  func(*testing.T) string
		what string
		// follows is set if steps come after the one that decides.
		follows bool
	}{
		"checked out": {killable, "main", true},
		"unborn":      {func(t *testing.T) string { return normal(t, nil) }, "main", true},
		"bare":        {empty, "main", true},
		"orphan":      {killable, "tenant/x", false},
		"packed":      {empty, "main:many", true},
		"pushed":      {pushable, "main:push", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin := c.dir(t)
			before := snapshot(t, origin)
			whole := copied(t, origin)
			if where, killed := kill(t, whole, c.what, 0); killed {
				t.Fatalf("killed at %s", where)
			}
			after := snapshot(t, whole)
			if maps.Equal(before, after) {
				t.Fatal("the victim does nothing")
			}
			olds, news := 0, 0
			stride := 1
			if testing.Short() {
				stride = 4
			}
			for step := 1; ; step += stride {
				dir := copied(t, origin)
				where, killed := kill(t, dir, c.what, step)
				if !killed {
					if step < 12 || olds == 0 || news == 0 && c.follows && stride == 1 {
						t.Errorf("only %d steps, %d back, %d forward", step-1, olds, news)
					}
					t.Logf("%d steps: %d back, %d forward", step-1, olds, news)
					return
				}
				branch, _, _ := strings.Cut(c.what, ":")
				reopen(t, dir, branch)
				switch now := snapshot(t, dir); {
				case maps.Equal(now, before):
					olds++
				case maps.Equal(now, after):
					news++
				default:
					t.Fatalf("step %d (%s): neither old nor new: %s", step, where, firstDifference(now, before, after))
				}
				sound(t, dir)
				if err := commitAs(t.Context(), dir, c.what, nil); err != nil {
					t.Fatal(err)
				}
				now := snapshot(t, dir)
				if c.what == "main:push" {
					now["reflog"] = after["reflog"] // says fast-forward when only the remote had it
				}
				if !maps.Equal(now, after) {
					t.Fatalf("step %d (%s): running again ends elsewhere: %s", step, where, firstDifference(now, after, after))
				}
			}
		})
	}
}

// pushable is killable with a remote, which is copied with it.
func pushable(t *testing.T) string {
	dir := killable(t)
	git(t, dir, "init", "-q", "--template=", "--bare", "-b", "main", ".git/elsewhere")
	git(t, dir, "remote", "add", "origin", ".git/elsewhere")
	git(t, dir, "push", "-q", "-u", "origin", "main")
	return dir
}

func firstDifference(now, a, b map[string]string) string {
	var out strings.Builder
	keys := map[string]bool{}
	for _, m := range []map[string]string{now, a, b} {
		for k := range m {
			keys[k] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if now[k] != a[k] || now[k] != b[k] {
			fmt.Fprintf(&out, "\n%s is %.300q, old %.300q, new %.300q", k, now[k], a[k], b[k])
		}
	}
	return out.String()
}

// TestKilledWhileRecovering kills the next command, too, at each of its steps.
func TestKilledWhileRecovering(t *testing.T) {
	t.Parallel()
	origin := killable(t)
	whole := copied(t, origin)
	kill(t, whole, "main", 0)
	after := snapshot(t, whole)
	// The first step after which the reference has moved.
	moved := 0
	for step := 1; moved == 0; step++ {
		dir := copied(t, origin)
		if _, killed := kill(t, dir, "main", step); !killed {
			t.Fatal("the reference never moves")
		}
		if git(t, dir, "rev-parse", "main") == git(t, whole, "rev-parse", "main") {
			moved, origin = step, dir
		}
	}
	for step := 1; ; step++ {
		dir := copied(t, origin)
		where, killed := kill(t, dir, "", step)
		if !killed {
			if step < 15 {
				t.Errorf("only %d steps", step-1)
			}
			return
		}
		reopen(t, dir, "main")
		if now := snapshot(t, dir); !maps.Equal(now, after) {
			t.Errorf("step %d (%s): %s", step, where, firstDifference(now, after, after))
		}
		sound(t, dir)
	}
}

// What the user edits between a kill and the next command stays.
func TestEditedAfterKill(t *testing.T) {
	t.Parallel()
	origin := killable(t)
	for step := 1; ; step++ {
		dir := copied(t, origin)
		_, killed := kill(t, dir, "main", step)
		if !killed {
			if step < 15 {
				t.Errorf("only %d steps", step-1)
			}
			return
		}
		for _, name := range []string{"a", "gone", "new/deep"} {
			write(t, dir, map[string]string{name: "written meanwhile"})
		}
		reopen(t, dir, "main")
		for _, name := range []string{"a", "gone", "new/deep"} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != "written meanwhile" {
				t.Errorf("step %d: %s is %q: %v", step, name, got, err)
			}
		}
		sound(t, dir)
	}
}

// TestGitKilled: git itself is killed while it updates the work tree, and the next command completes the commit.
func TestGitKilled(t *testing.T) {
	dir, env := filtering(t, map[string]string{".gitattributes": "*.up filter=up\n", "a": "1", "d/z": "1"})
	if _, err := open(t, dir, "main", Options{Env: env}).Commit(t.Context(), puts(map[string]string{"b.up": "b\n"}), opts("x")); err != nil {
		t.Fatal(err)
	}
	home := env("HOME")
	kill := "for f in " + home + "/1 " + home + "/2; do if test -e $f; then rm $f; kill -9 $PPID; exit 1; fi; done; tr A-Z a-z"
	write(t, home, map[string]string{"1": "", "2": "", ".gitconfig": "[filter \"up\"]\n\tclean = tr a-z A-Z\n\tsmudge = \"" + kill + "\"\n\trequired\n"})
	b, err := Open(t.Context(), dir, "main", Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]string{"a": "2", "b.up": "new\n", "c.up": "new\n", "d/z": "2"}
	if _, err := b.Commit(t.Context(), puts(changes), opts("x")); err == nil || !strings.Contains(err.Error(), "the next run completes it") {
		t.Fatalf("got %v", err)
	}
	b = open(t, dir, "main", Options{Env: env})
	for name, want := range changes {
		data, err := os.ReadFile(filepath.Join(dir, name))
		committed, err2 := b.ReadFile(name)
		if string(data) != want || string(committed) != want || err != nil || err2 != nil {
			t.Errorf("%s is %q, and %q in the commit: %v, %v", name, data, committed, err, err2)
		}
	}
	if out := asUser(t, env, dir, "status", "--porcelain"); out != "" {
		t.Errorf("status: %s", out)
	}
	sound(t, dir)
}

// TestGitOutlives kills a commit while its git updates the work tree: the next command waits until that git has ended.
func TestGitOutlives(t *testing.T) {
	dir, pipes := normal(t, map[string]string{".gitattributes": "a filter=wait\n", "a": "1", "b": "1"}), tempDir(t)
	for _, name := range []string{"ready", "go"} {
		if out, err := exec.Command("mkfifo", filepath.Join(pipes, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	git(t, dir, "config", "filter.wait.clean", "cat")
	git(t, dir, "config", "filter.wait.smudge", "echo > "+pipes+"/ready; cat "+pipes+"/go > /dev/null; cat")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(gitEnv(), victimDir+"="+dir, victimStep+"=0", victimWhat+"=main")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(filepath.Join(pipes, "ready")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	next := make(chan error)
	go func() {
		b, err := Open(context.WithoutCancel(t.Context()), dir, "main", Options{})
		if err == nil {
			err = b.Close()
		}
		next <- err
	}()
	if err := os.WriteFile(filepath.Join(pipes, "go"), nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := <-next; err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(got) != "2222" {
		t.Errorf("a is %q: %v", got, err)
	}
	clean(t, dir)
	sound(t, dir)
}

// A journal in a repository from a stranger names no files outside of it.
func TestStrangeJournal(t *testing.T) {
	for _, journal := range []string{
		`{`, `{"version":2}`, `{"version":1,"ref":"refs/heads/main","new":"0123456789012345678901234567890123456789"}`,
		`{"version":2,"ref":"refs/heads/../../x","new":"0123456789012345678901234567890123456789"}`,
		`{"version":2,"ref":"refs/heads/main","new":"../../../index"}`,
	} {
		dir := normal(t, map[string]string{"a": "1"})
		write(t, filepath.Join(dir, ".git", stageDir), map[string]string{"journal": journal})
		if _, err := Open(t.Context(), dir, "main", Options{}); err == nil || !strings.Contains(err.Error(), "was not written by fleetwright") {
			t.Errorf("%s: got %v", journal, err)
		}
		clean(t, dir)
	}
}
