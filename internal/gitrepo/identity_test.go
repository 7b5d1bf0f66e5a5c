package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fleetwright/fleetwright/internal/advice"
)

var now = time.Unix(1700000000, 0).UTC()

func lookup(pairs ...string) func(string) string {
	m := map[string]string{"GIT_CONFIG_NOSYSTEM": "1"}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(k string) string { return m[k] }
}

func TestResolveAuthor(t *testing.T) {
	home := t.TempDir()
	write(t, home, map[string]string{".gitconfig": "[user]\n\tname = Global\n\temail = global@example.com\n[author]\n\temail = author@example.com\n"})
	for _, c := range []struct{ explicit, env, author, committer string }{
		{"", "", "Global <author@example.com> 1700000000", "Global <global@example.com> 1700000000"},
		{"Flag <flag@example.com>", "GIT_AUTHOR_NAME Env", "Flag <flag@example.com> 1700000000", "Global <global@example.com> 1700000000"},
		{"", "GIT_AUTHOR_NAME Env GIT_AUTHOR_DATE @5 GIT_COMMITTER_EMAIL c@x", "Env <author@example.com> 5", "Global <c@x> 1700000000"},
	} {
		env := lookup(append([]string{"HOME", home}, strings.Fields(c.env)...)...)
		a, b, err := ResolveAuthor(c.explicit, env, "", now)
		if err != nil {
			t.Fatal(err)
		}
		for got, want := range map[Signature]string{a: c.author, b: c.committer} {
			if s := fmt.Sprintf("%s <%s> %d", got.Name, got.Email, got.When.Unix()); s != want {
				t.Errorf("got %s, want %s", s, want)
			}
		}
	}
}

// asGit asks git who it is, with only a home folder for configuration.
func asGit(t *testing.T, dir, home string) string {
	t.Helper()
	var parts []string
	for _, name := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		cmd := exec.Command("git", "var", name)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		who, _, _ := strings.Cut(string(out), ">")
		parts = append(parts, strings.Replace(who, "<", "", 1))
	}
	return strings.Join(parts, " ")
}

func TestNobody(t *testing.T) {
	_, _, err := ResolveAuthor("", lookup("HOME", t.TempDir()), "", now)
	advice := (*advice.Error)(nil)
	if !errors.Is(err, ErrNoIdentity) || !errors.As(err, &advice) || !strings.Contains(advice.Hint(), "git config --global user.name") {
		t.Errorf("got %v", err)
	}
	for _, bad := range []string{"nobody", "a@b", "<a@b>", "A <b"} {
		if _, _, err := ResolveAuthor(bad, lookup(), "", now); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	a, c, err := ResolveAuthor("Flag <flag@example.com>", lookup(), "", now)
	if err != nil || c != a {
		t.Errorf("%v %v %v", a, c, err)
	}
}

// git itself says who commits, with includes and all scopes.
func TestIdentityAsGit(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1"})
	home := t.TempDir()
	work := filepath.Dir(dir)
	write(t, home, map[string]string{
		".config/git/config": "[user]\n\tname = Xdg\n\temail = xdg@example.com\n",
		".gitconfig":         "[include]\n\tpath = first\n[includeIf \"gitdir:" + work + "/\"]\n\tpath = ~/second\n[includeIf \"gitdir:/no/\"]\n\tpath = third\n[includeIf \"onbranch:ma*\"]\n\tpath = fourth\n",
		"first":              "[user]\n\tname = First\n", "second": "[user]\n\temail = second@example.com\n",
		"third": "[user]\n\tname = Third\n", "fourth": "[committer]\n\tname = Fourth\n",
	})
	check := func(want string) {
		t.Helper()
		a, c, err := ResolveAuthor("", lookup("HOME", home), dir, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Name + " " + a.Email + " " + c.Name + " " + c.Email; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	check(asGit(t, dir, home))
	check("First second@example.com Fourth second@example.com")
	git(t, dir, "config", "user.name", "Local")
	check(asGit(t, dir, home))
	git(t, dir, "config", "extensions.worktreeConfig", "true")
	git(t, dir, "config", "--worktree", "user.email", "worktree@example.com")
	check(asGit(t, dir, home))
	check("Local worktree@example.com Fourth worktree@example.com")
	write(t, home, map[string]string{"first": "[include]\n\tpath = first\n"})
	if _, _, err := ResolveAuthor("", lookup("HOME", home), dir, now); err == nil || !strings.Contains(err.Error(), "maximum include depth") {
		t.Errorf("got %v", err)
	}
}

func TestDates(t *testing.T) {
	for date, want := range map[string]string{
		"1700000000 +0100": "2023-11-14T23:13:20+01:00", "@1700000000 -0330": "2023-11-14T18:43:20-03:30",
		"2023-11-14T23:13:20+01:00": "2023-11-14T23:13:20+01:00", "2023-11-14 23:13:20 +0100": "2023-11-14T23:13:20+01:00",
		"Tue, 14 Nov 2023 23:13:20 +0100": "2023-11-14T23:13:20+01:00", "2023-11-14T23:13:20Z": "2023-11-14T23:13:20Z",
	} {
		if got, err := parseDate(date); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q is %v, want %s: %v", date, got, want, err)
		}
	}
	for _, bad := range []string{"", "yesterday", "-5 +0000", "1700000000 CET"} {
		if got, err := parseDate(bad); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
	if _, _, err := ResolveAuthor("A <a@b>", lookup("GIT_AUTHOR_DATE", "noon"), "", now); err == nil || !strings.Contains(err.Error(), "GIT_AUTHOR_DATE") {
		t.Errorf("got %v", err)
	}
}
