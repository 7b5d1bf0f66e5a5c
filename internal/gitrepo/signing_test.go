package gitrepo

import (
	"errors"
	"strings"
	"testing"
)

// TestCheckSigning asks what git's own rules for a boolean and for the order of its files say.
func TestCheckSigning(t *testing.T) {
	for config, want := range map[string][2]bool{ // a commit, a push
		"":                             {},
		"[commit]\n\tgpgsign = true\n": {true, true}, "[commit]\n\tgpgSign\n": {true, true}, "[commit]\n\tgpgsign = yes\n": {true, true},
		"[commit]\n\tgpgsign = 1\n": {true, true}, "[commit]\n\tgpgsign = off\n": {}, "[commit]\n\tgpgsign = 0\n": {},
		"[commit]\n\tgpgsign = true\n\tgpgsign = false\n": {},
		"[push]\n\tgpgsign = true\n":                      {false, true}, "[push]\n\tgpgsign = if-asked\n": {},
		"[gpg]\n\tformat = ssh\n[user]\n\tsigningkey = x\n[tag]\n\tgpgsign = true\n": {},
	} {
		home := tempDir(t)
		dir := normal(t, map[string]string{"a": "1"})
		write(t, home, map[string]string{".gitconfig": config})
		env := environ("HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
		for i, push := range []bool{false, true} {
			err := CheckSigning(env, dir, push)
			var advice *Advice
			if errors.Is(err, ErrSigning) != want[i] || err != nil && !errors.As(err, &advice) {
				t.Errorf("%q, push %t: %v", config, push, err)
			}
		}
	}
	// The repository's own configuration and the environment count as well.
	dir := normal(t, map[string]string{"a": "1"})
	git(t, dir, "config", "commit.gpgsign", "true")
	if err := CheckSigning(environ("GIT_CONFIG_NOSYSTEM=1"), dir, false); !errors.Is(err, ErrSigning) {
		t.Errorf("the repository's: %v", err)
	}
	off := environ("GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=commit.gpgSign", "GIT_CONFIG_VALUE_0=false")
	if err := CheckSigning(off, dir, false); err != nil {
		t.Errorf("taken back: %v", err)
	}
}

// environ looks up variables that are written as NAME=value.
func environ(all ...string) func(string) string {
	m := map[string]string{}
	for _, one := range all {
		name, value, _ := strings.Cut(one, "=")
		m[name] = value
	}
	return func(name string) string { return m[name] }
}
