//go:build unix

package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// ownedPlace is a repository; as another user, everything in it belongs to somebody else.
type ownedPlace struct {
	dir     string
	another bool
}

// ownedPlaces are repositories of which all, some or no parts belong to others. Only root can create those with some.
func ownedPlaces(t *testing.T, other int) map[string]ownedPlace {
	t.Helper()
	own := func() string { return normal(t, map[string]string{"a": "1"}) }
	linked := func() string {
		at := filepath.Join(tempDir(t), "linked")
		git(t, own(), "worktree", "add", "-q", "-b", "side", at)
		return at
	}
	places := map[string]ownedPlace{
		"own": {own(), false}, "bare own": {seeded(t), false}, "linked own": {linked(), false},
		"as another": {own(), true}, "bare as another": {seeded(t), true}, "linked as another": {linked(), true},
	}
	if os.Geteuid() != 0 {
		return places
	}
	given := func(dir string, parts ...string) ownedPlace {
		for _, part := range parts {
			if err := os.Lchown(filepath.Join(dir, part), other, other); err != nil {
				t.Fatal(err)
			}
		}
		return ownedPlace{dir, false}
	}
	places["work"] = given(own(), ".")
	places["git"] = given(own(), ".git")
	places["both"] = given(own(), ".", ".git")
	places["bare"] = given(seeded(t), ".")
	places["linked"] = given(linked(), ".git")
	return places
}

// TestOwner compares with git which repositories are trusted.
func TestOwner(t *testing.T) {
	needGit(t)
	const other, third = 12345, 12346
	defer func(before func() int) { userID = before }(userID)
	trusted := 0
	for name, at := range ownedPlaces(t, other) {
		userID = os.Geteuid
		var who []string
		if at.another {
			userID = func() int { return os.Geteuid() + 4321 }
			who = []string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=1"}
		}
		home := tempDir(t)
		for _, config := range []string{
			"", "[safe]\n\tdirectory = *\n", "[safe]\n\tdirectory = " + at.dir + "\n", "[safe]\n\tdirectory = " + at.dir + "/elsewhere\n",
			"[safe]\n\tdirectory = " + at.dir + "\n\tdirectory =\n", "[safe]\n\tdirectory = *\n\tdirectory = \n\tdirectory = /x\n",
			"[safe]\n\tdirectory = ~/x\n", "[include]\n\tpath = more\n",
		} {
			write(t, home, map[string]string{".gitconfig": config, "more": "[safe]\n\tdirectory = " + at.dir + "\n"})
			for _, sudo := range []string{"", fmt.Sprint(other), fmt.Sprint(third), "x", "0"} {
				env := append(slices.Clone(who), "HOME="+home)
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
		want := gitTrusts(t, at.dir, append(who, "HOME="+tempDir(t))...)
		if _, err := Open(t.Context(), at.dir, "", Options{Env: environ("GIT_CONFIG_NOSYSTEM=1")}); errors.Is(err, ErrOwner) == want {
			t.Errorf("%s, by itself: %v, and git trusts it: %t", name, err, want)
		}
	}
	if trusted < 20 {
		t.Errorf("only %d are trusted", trusted)
	}
}

// TestOwnerOfOthers: the error says how to trust a repository, and git's patterns of folders are understood.
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
