//go:build unix

package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitTrusts asks the real git whether it works in a repository.
func gitTrusts(t *testing.T, dir string, env ...string) bool {
	t.Helper()
	cmd := exec.Command("git", "-C", dir, "rev-parse", "--git-dir")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil && !strings.Contains(string(out), "dubious ownership") {
		t.Fatalf("%v: %s", err, out)
	}
	return err == nil
}

// TestOwner gives repositories, and parts of them, to others, and compares with git.
func TestOwner(t *testing.T) {
	needGit(t)
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	const other, third = 12345, 12346
	chown := func(t *testing.T, id int, paths ...string) {
		t.Helper()
		for _, path := range paths {
			if err := os.Lchown(path, id, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	type place struct{ dir string }
	places := map[string]func(t *testing.T) place{
		"own": func(t *testing.T) place { return place{dir: normal(t, map[string]string{"a": "1"})} },
		"work": func(t *testing.T) place {
			d := normal(t, map[string]string{"a": "1"})
			chown(t, other, d)
			return place{dir: d}
		},
		"git": func(t *testing.T) place {
			d := normal(t, map[string]string{"a": "1"})
			chown(t, other, filepath.Join(d, ".git"))
			return place{dir: d}
		},
		"both": func(t *testing.T) place {
			d := normal(t, map[string]string{"a": "1"})
			chown(t, other, d, filepath.Join(d, ".git"))
			return place{dir: d}
		},
		"bare":     func(t *testing.T) place { d := seeded(t); chown(t, other, d); return place{dir: d} },
		"bare own": func(t *testing.T) place { return place{dir: seeded(t)} },
		"linked": func(t *testing.T) place {
			d := normal(t, map[string]string{"a": "1"})
			linked := filepath.Join(tempDir(t), "linked")
			git(t, d, "worktree", "add", "-q", "-b", "side", linked)
			chown(t, other, filepath.Join(linked, ".git"))
			return place{dir: linked}
		},
	}
	trusted := 0
	for name, build := range places {
		at := build(t)
		home := tempDir(t)
		for _, config := range []string{
			"", "[safe]\n\tdirectory = *\n", "[safe]\n\tdirectory = " + at.dir + "\n", "[safe]\n\tdirectory = " + at.dir + "/elsewhere\n",
			"[safe]\n\tdirectory = " + at.dir + "\n\tdirectory =\n", "[safe]\n\tdirectory = *\n\tdirectory = \n\tdirectory = /x\n",
			"[safe]\n\tdirectory = ~/x\n", "[include]\n\tpath = more\n",
		} {
			write(t, home, map[string]string{".gitconfig": config, "more": "[safe]\n\tdirectory = " + at.dir + "\n"})
			for _, sudo := range []string{"", fmt.Sprint(other), fmt.Sprint(third), "x", "0"} {
				env := []string{"HOME=" + home}
				if sudo != "" {
					env = append(env, "SUDO_UID="+sudo)
				}
				want := gitTrusts(t, at.dir, env...)
				_, err := Open(t.Context(), at.dir, "", Options{Env: environ(append(env, "GIT_CONFIG_NOSYSTEM=1")...)})
				if errors.Is(err, ErrOwner) == want || err != nil && !errors.Is(err, ErrOwner) {
					t.Errorf("%s, %q, SUDO_UID %q: %v, and git trusts it: %t", name, config, sudo, err, want)
				}
				if want {
					trusted++
				}
			}
		}
		// The repository's own configuration says nothing of it.
		git(t, "", "-c", "safe.directory=*", "-C", at.dir, "config", "safe.directory", "*")
		want := gitTrusts(t, at.dir, "HOME="+tempDir(t))
		if _, err := Open(t.Context(), at.dir, "", Options{Env: environ("GIT_CONFIG_NOSYSTEM=1")}); errors.Is(err, ErrOwner) == want {
			t.Errorf("%s, by itself: %v, and git trusts it: %t", name, err, want)
		}
	}
	if trusted < 20 {
		t.Errorf("only %d are trusted", trusted)
	}
}

// TestOwnerOfOthers is TestOwner for a user who can give nothing away.
func TestOwnerOfOthers(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1"})
	defer func(before func() int) { userID = before }(userID)
	userID = func() int { return os.Geteuid() + 4321 }
	_, err := Open(t.Context(), dir, "", Options{})
	var advice *Advice
	if !errors.Is(err, ErrOwner) || !errors.As(err, &advice) || !strings.Contains(advice.Hint, "safe.directory "+dir) {
		t.Errorf("%v", err)
	}
	home := tempDir(t)
	for value, want := range map[string]bool{dir: true, dir + "/": true, filepath.Dir(dir) + "/*": true, dir + "/*": false, "relative": false, "*": true} {
		write(t, home, map[string]string{".gitconfig": "[safe]\n\tdirectory = " + value + "\n"})
		if _, err := Open(t.Context(), dir, "", Options{Env: environ("HOME="+home, "GIT_CONFIG_NOSYSTEM=1")}); errors.Is(err, ErrOwner) == want {
			t.Errorf("%s: %v", value, err)
		}
	}
}
