package gitrepo

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// settingsCases are configurations of the user's, each with what the environment adds to them. HOME is
// the home folder; on, off and remote are files in it.
var settingsCases = map[string]struct{ config, env string }{
	"a remote":                    {config: "[includeIf \"hasconfig:remote.*.url:https://git.example.com/**\"]\n\tpath = on\n"},
	"a remote as ssh has it":      {config: "[includeIf \"hasconfig:remote.*.url:git@example.com:*/**\"]\n\tpath = on\n"},
	"a star is no slash":          {config: "[includeIf \"hasconfig:remote.*.url:https://git.example.com/*\"]\n\tpath = on\n"},
	"all of the address":          {config: "[includeIf \"hasconfig:remote.*.url:https://git.example.com/\"]\n\tpath = on\n"},
	"another host":                {config: "[includeIf \"hasconfig:remote.*.url:https://other.example.com/**\"]\n\tpath = on\n"},
	"two stars in front":          {config: "[includeIf \"hasconfig:remote.*.url:**/fleet\"]\n\tpath = on\n"},
	"no matter of case":           {config: "[includeIf \"hasconfig:remote.*.url:HTTPS://git.example.com/**\"]\n\tpath = on\n"},
	"a named remote":              {config: "[includeIf \"hasconfig:remote.origin.url:https://git.example.com/**\"]\n\tpath = on\n"},
	"another key of remotes":      {config: "[includeIf \"hasconfig:remote.*.pushurl:**\"]\n\tpath = on\n"},
	"the user's own remote":       {config: "[includeIf \"hasconfig:remote.*.url:mine:**\"]\n\tpath = on\n[remote \"mine\"]\n\turl = mine:x\n"},
	"a remote of an include":      {config: "[includeIf \"hasconfig:remote.*.url:far:**\"]\n\tpath = on\n[include]\n\tpath = remote\n"},
	"a remote behind a condition": {config: "[includeIf \"hasconfig:remote.*.url:far:**\"]\n\tpath = remote\n"},
	"a condition of a remote's":   {config: "[includeIf \"gitdir:/\"]\n\tpath = remote\n[includeIf \"hasconfig:remote.*.url:far:**\"]\n\tpath = on\n"},
	"a pattern that is none":      {config: "[includeIf \"hasconfig:remote.*.url:[\"]\n\tpath = on\n"},
	"a condition of tomorrow":     {config: "[includeIf \"weather:fine\"]\n\tpath = on\n"},
	"a condition in capitals":     {config: "[includeIf \"GITDIR:/\"]\n\tpath = on\n"},
	"the last one counts":         {config: "[include]\n\tpath = on\n[commit]\n\tgpgsign = false\n[include]\n\tpath = on\n"},
	"before and after":            {config: "[commit]\n\tgpgsign = true\n[include]\n\tpath = off\n[commit]\n\tx = y\n"},
	"an empty one":                {config: "[commit]\n\tgpgsign =\n"},
	"without a value":             {config: "[commit]\n\tgpgsign\n"},

	"git -c":                {env: "GIT_CONFIG_PARAMETERS='commit.gpgsign'='true'"},
	"of older releases":     {env: "GIT_CONFIG_PARAMETERS='commit.gpgSign=true'"},
	"without a value there": {env: "GIT_CONFIG_PARAMETERS='commit.gpgsign'="},
	"as releases before":    {env: "GIT_CONFIG_PARAMETERS='Commit.gpgsign'"},
	"empty there":           {env: "GIT_CONFIG_PARAMETERS='commit.gpgsign'=''"},
	"several":               {env: "GIT_CONFIG_PARAMETERS='user.name'='it'\\''s '\\!'' 'commit.gpgsign=true'  'a.b'="},
	"no quotes":             {env: "GIT_CONFIG_PARAMETERS=commit.gpgsign=true"},
	"not closed":            {env: "GIT_CONFIG_PARAMETERS='commit.gpgsign'='true"},
	"glued":                 {env: "GIT_CONFIG_PARAMETERS='commit.gpgsign'='true''a.b'='c'"},
	"no section":            {env: "GIT_CONFIG_PARAMETERS='gpgsign'='true'"},
	"an include":            {env: "GIT_CONFIG_PARAMETERS='include.path'='HOME/on'"},
	"a relative include":    {env: "GIT_CONFIG_PARAMETERS='include.path'='on'"},
	"an include of a home":  {env: "GIT_CONFIG_PARAMETERS='include.path'='~/on'"},
	"a condition there":     {env: "GIT_CONFIG_PARAMETERS='includeIf.hasconfig:remote.*.url:https://git.example.com/**.path'='HOME/on'"},
	"counted":               {env: "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=commit.gpgsign GIT_CONFIG_VALUE_0=true"},
	"an include, counted":   {env: "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=Include.Path GIT_CONFIG_VALUE_0=HOME/on"},
	"parameters are later":  {env: "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=commit.gpgsign GIT_CONFIG_VALUE_0=true GIT_CONFIG_PARAMETERS='commit.gpgsign'='false'"},
	"a count that is none":  {env: "GIT_CONFIG_COUNT=x"},
	"a key that is missing": {env: "GIT_CONFIG_COUNT=1 GIT_CONFIG_VALUE_0=true"},
}

// TestSettingsAsGit: git itself says what holds, and whether a configuration is one.
func TestSettingsAsGit(t *testing.T) {
	dir, home := normal(t, map[string]string{"a": "1"}), tempDir(t)
	git(t, dir, "remote", "add", "origin", "https://git.example.com/team/fleet")
	git(t, dir, "remote", "add", "other", "git@example.com:team/fleet")
	write(t, home, map[string]string{
		"on": "[commit]\n\tgpgsign = true\n[user]\n\tname = On\n", "off": "[commit]\n\tgpgsign = false\n",
		"remote": "[remote \"far\"]\n\turl = far:x\n[commit]\n\tgpgsign = true\n",
	})
	for name, c := range settingsCases {
		t.Run(name, func(t *testing.T) {
			write(t, home, map[string]string{".gitconfig": c.config})
			env := append([]string{"HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}, variables(strings.ReplaceAll(c.env, "HOME/", home+"/"))...)
			got, err := readSettings(environ(env...), dir)
			for _, key := range []string{"commit.gpgsign", "user.name"} {
				args := []string{"config", "--get"}
				if key == "commit.gpgsign" {
					args = append(args, "--type=bool")
				}
				cmd := exec.Command("git", append(args, key)...)
				cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + os.Getenv("PATH")}, env...)
				out, gitErr := cmd.Output()
				unset := (*exec.ExitError)(nil)
				fails := gitErr != nil && (!errors.As(gitErr, &unset) || unset.ExitCode() != 1)
				if (err != nil) != fails {
					t.Fatalf("%v, git: %v %s", err, gitErr, out)
				}
				want := strings.TrimSuffix(string(out), "\n")
				if key == "commit.gpgsign" && !fails && got.isTrue(key) != (want == "true") || key == "user.name" && !fails && got.values[key] != want {
					t.Errorf("%s is %q, with git %q", key, got.values[key], want)
				}
			}
		})
	}
}

// variables cuts a text before each variable of git's.
func variables(text string) []string {
	var all []string
	for _, one := range strings.Split(text, "GIT_CONFIG_")[1:] {
		all = append(all, "GIT_CONFIG_"+strings.TrimSuffix(one, " "))
	}
	return all
}

// TestSigningBehindRemote: a signature that is wanted for the remotes of one host is wanted.
func TestSigningBehindRemote(t *testing.T) {
	dir, home := normal(t, map[string]string{"a": "1"}), tempDir(t)
	git(t, dir, "remote", "add", "origin", "https://git.example.com/team/fleet")
	write(t, home, map[string]string{
		".gitconfig": "[includeIf \"hasconfig:remote.*.url:https://git.example.com/**\"]\n\tpath = " + filepath.ToSlash(home) + "/signed\n",
		"signed":     "[commit]\n\tgpgsign = true\n",
	})
	if err := CheckSigning(environ("HOME="+home, "GIT_CONFIG_NOSYSTEM=1"), dir, false); !errors.Is(err, ErrSigning) {
		t.Errorf("for the remotes of a host: %v", err)
	}
	if err := CheckSigning(environ("GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_PARAMETERS='commit.gpgsign'='true'"), dir, false); !errors.Is(err, ErrSigning) {
		t.Errorf("git -c: %v", err)
	}
}
