package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/advice"
)

// environ looks up variables that are written as NAME=value.
func environ(all ...string) func(string) string {
	m := map[string]string{}
	for _, one := range all {
		name, value, _ := strings.Cut(one, "=")
		m[name] = value
	}
	return func(name string) string { return m[name] }
}

// TestSigns reads the configuration in all scopes, with the values that git reads as a boolean.
func TestSigns(t *testing.T) {
	for config, want := range map[string][2]bool{ // a commit is signed, a push is refused
		"":                             {},
		"[commit]\n\tgpgsign = true\n": {true}, "[commit]\n\tgpgSign\n": {true}, "[commit]\n\tgpgsign = yes\n": {true},
		"[commit]\n\tgpgsign = 1\n": {true}, "[commit]\n\tgpgsign = off\n": {}, "[commit]\n\tgpgsign =\n": {},
		"[commit]\n\tgpgsign = true\n\tgpgsign = false\n": {},
		"[push]\n\tgpgsign = true\n":                      {false, true}, "[push]\n\tgpgsign = if-asked\n": {},
		"[includeIf \"hasconfig:remote.*.url:https://git.example.com/**\"]\n\tpath = more\n": {true},
	} {
		home, dir := tempDir(t), normal(t, map[string]string{"a": "1"})
		git(t, dir, "remote", "add", "origin", "https://git.example.com/team/fleet")
		write(t, home, map[string]string{".gitconfig": config, "more": "[commit]\n\tgpgsign = true\n"})
		env := environ("HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
		for _, push := range []bool{false, true} {
			signs, err := Signs(env, dir, push)
			var advice *advice.Error
			if signs != want[0] || errors.Is(err, ErrSigning) != (push && want[1]) || err != nil && !errors.As(err, &advice) {
				t.Errorf("%q, push %t: %t, %v", config, push, signs, err)
			}
		}
	}
	dir := normal(t, map[string]string{"a": "1"})
	git(t, dir, "config", "commit.gpgsign", "true")
	if signs, err := Signs(environ("GIT_CONFIG_NOSYSTEM=1"), dir, false); !signs || err != nil {
		t.Errorf("the repository's: %t, %v", signs, err)
	}
	for _, off := range [][]string{
		{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=commit.gpgSign", "GIT_CONFIG_VALUE_0=false"}, {"GIT_CONFIG_PARAMETERS='commit.gpgsign'='false'"},
	} {
		if signs, err := Signs(environ(append(off, "GIT_CONFIG_NOSYSTEM=1")...), dir, false); signs || err != nil {
			t.Errorf("%s: %t, %v", off, signs, err)
		}
	}
	write(t, dir, map[string]string{".git/config": "[broken\n"})
	if _, err := Signs(environ("GIT_CONFIG_NOSYSTEM=1"), dir, false); err == nil || !strings.Contains(err.Error(), "configuration cannot be read") {
		t.Errorf("a broken configuration: %v", err)
	}
	t.Setenv("PATH", t.TempDir())
	if signs, err := Signs(environ("GIT_CONFIG_NOSYSTEM=1"), dir, true); signs || err != nil {
		t.Errorf("without git: %t, %v", signs, err)
	}
}

// signer is a home with a configuration that signs with a program in the place of gpg.
func signer(t *testing.T) func(string) string {
	t.Helper()
	home := tempDir(t)
	program := filepath.Join(home, "sign")
	script := "#!/bin/sh\ncat > " + home + "/signed\nprintf '\\n[GNUPG:] SIG_CREATED D\\n' >&2\nprintf -- '-----BEGIN PGP SIGNATURE-----\\n%s\\n-----END PGP SIGNATURE-----\\n' \"$3\"\n"
	if err := os.WriteFile(program, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, home, map[string]string{".gitconfig": "[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = " + program + "\n[user]\n\tsigningkey = my-key\n"})
	return environ("HOME="+home, "GIT_CONFIG_NOSYSTEM=1")
}

// TestSign signs commits in a work tree, in a bare repository and at a URL.
func TestSign(t *testing.T) {
	env := signer(t)
	sign := opts("signed")
	sign.Sign = true
	unborn, work, shared := normal(t, nil), normal(t, map[string]string{"a": "1"}), seeded(t)
	for _, to := range []struct{ location, branch, dir string }{
		{unborn, "main", unborn}, {work, "main", work}, {work, "side", work}, {shared, "main", shared}, {"file://" + shared, "main", shared},
	} {
		r, err := open(t, to.location, to.branch, Options{Env: env}).Commit(t.Context(), puts(map[string]string{"a": to.location}), sign)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := os.ReadFile(filepath.Join(env("HOME"), "signed"))
		if err != nil {
			t.Fatal(err)
		}
		text := git(t, to.dir, "cat-file", "commit", to.branch)
		head, rest, found := strings.Cut(text, "gpgsig -----BEGIN PGP SIGNATURE-----\n my-key\n -----END PGP SIGNATURE-----\n")
		if !found || head+strings.TrimPrefix(rest, " \n") != strings.TrimSuffix(string(signed), "\n") || git(t, to.dir, "rev-parse", to.branch) != r.Commit {
			t.Errorf("%s: %s\nsigned is %s", to.location, text, signed)
		}
		sound(t, to.dir)
	}
	clean(t, work)
	b := open(t, work, "main", Options{Env: env})
	write(t, env("HOME"), map[string]string{"sign": "#!/bin/sh\necho no key >&2\nexit 1\n"})
	before := snapshot(t, work)
	_, err := b.Commit(t.Context(), puts(map[string]string{"a": "3"}), sign)
	var advice *advice.Error
	if !errors.As(err, &advice) || !strings.Contains(err.Error(), "cannot sign it: git commit-tree: error: gpg failed") || !strings.Contains(advice.Hint(), "--no-gpg-sign") {
		t.Errorf("without the key: %v", err)
	}
	if now := snapshot(t, work); firstDifference(now, before, before) != "" {
		t.Error(firstDifference(now, before, before))
	}
}
