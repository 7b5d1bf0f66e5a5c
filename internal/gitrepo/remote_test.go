package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// seeded is a bare repository with one commit on main.
func seeded(t *testing.T) string {
	dir := bare(t)
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "1", "d/b": "1"})
	return dir
}

func TestRemoteURL(t *testing.T) {
	dir := bare(t)
	url := "file://" + dir
	r := commitTo(t, url, "main", Options{}, map[string]string{"a": "1"})
	if !r.Created || !r.Pushed || git(t, dir, "rev-parse", "main") != r.Commit {
		t.Errorf("%+v", r)
	}
	r = commitTo(t, url, "", Options{}, map[string]string{"a": "2", "b": "1"})
	if r.Created || !r.Pushed || git(t, dir, "rev-list", "--count", "main") != "2" {
		t.Errorf("%+v", r)
	}
	if r = commitTo(t, url, "main", Options{}, map[string]string{"a": "2"}); r.Changed || r.Pushed {
		t.Errorf("%+v", r)
	}
	commitTo(t, url, "tenant/x", Options{Orphan: true}, map[string]string{"t": "1"})
	same(t, listing(t, dir, "tenant/x"), map[string]string{"t": "100644 1"})
	if r = commitTo(t, url, "env", Options{}, map[string]string{"e": "1"}); r.Parent != git(t, dir, "rev-parse", "main") {
		t.Errorf("%+v", r)
	}
	same(t, listing(t, dir, "env"), map[string]string{"a": "100644 2", "b": "100644 1", "e": "100644 1"})
	sound(t, dir)

	b := open(t, url, "main", Options{})
	if data, err := b.ReadFile("b"); string(data) != "1" || err != nil {
		t.Errorf("%q %v", data, err)
	}
	temp := b.temp
	if err := b.Close(); err != nil || exists(temp) {
		t.Errorf("left behind: %s %v", temp, err)
	}
}

func TestRemoteMissing(t *testing.T) {
	needGit(t)
	_, err := Open(t.Context(), "file://"+t.TempDir()+"/no", "main", Options{})
	if err == nil || !strings.Contains(err.Error(), "/no") {
		t.Errorf("got %v", err)
	}
	if _, err := Open(t.Context(), "file://"+bare(t), "", Options{}); err != nil && !strings.Contains(err.Error(), "name the branch") {
		t.Errorf("got %v", err)
	}
}

func TestRemoteMoved(t *testing.T) {
	dir := seeded(t)
	b := open(t, "file://"+dir, "main", Options{})
	commitTo(t, dir, "main", Options{}, map[string]string{"beside": "us"})
	_, err := b.Commit(t.Context(), puts(map[string]string{"a": "2"}), opts("x"))
	if !errors.Is(err, ErrRejected) {
		t.Fatalf("got %v", err)
	}
	commitTo(t, "file://"+dir, "main", Options{}, map[string]string{"a": "2"})
	same(t, listing(t, dir, "main"), map[string]string{"a": "100644 2", "beside": "100644 us", "d/b": "100644 1"})

	n := open(t, "file://"+dir, "new", Options{Orphan: true})
	commitTo(t, dir, "new", Options{Orphan: true}, map[string]string{"beside": "us"})
	if _, err := n.Commit(t.Context(), puts(map[string]string{"a": "2"}), opts("x")); !errors.Is(err, ErrRejected) {
		t.Fatalf("got %v", err)
	}
	sound(t, dir)
}

func TestRemoteHookDeclines(t *testing.T) {
	dir := seeded(t)
	hook := "#!/bin/sh\necho 'no \033[31mway' >&2\nexit 1\n"
	write(t, dir, map[string]string{"hooks/pre-receive": hook})
	if err := os.Chmod(filepath.Join(dir, "hooks", "pre-receive"), 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, "file://"+dir, "main", Options{}).Commit(t.Context(), puts(map[string]string{"a": "2"}), opts("x"))
	if !errors.Is(err, ErrRejected) || strings.Contains(err.Error(), "\033") || !strings.Contains(err.Error(), "[31mway") || !strings.Contains(err.Error(), "hook declined") {
		t.Errorf("got %v", err)
	}
}

func cloned(t *testing.T, remote string) string {
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, "", "clone", "-q", "file://"+remote, dir)
	return dir
}

func TestPushFromLocal(t *testing.T) {
	remote := seeded(t)
	dir := cloned(t, remote)
	push := Options{Push: true}
	r := commitTo(t, dir, "main", push, map[string]string{"a": "2"})
	if !r.Pushed || git(t, remote, "rev-parse", "main") != r.Commit {
		t.Errorf("%+v", r)
	}
	if got := git(t, dir, "status", "-sb", "--porcelain"); got != "## main...origin/main" {
		t.Errorf("status %q", got)
	}
	// Commits that were not pushed before go along.
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "3"})
	if r = commitTo(t, dir, "main", push, map[string]string{"a": "3"}); !r.Pushed || !r.Changed {
		t.Errorf("%+v", r)
	}
	if git(t, remote, "rev-parse", "main") != git(t, dir, "rev-parse", "main") {
		t.Error("not pushed")
	}
	// The remote is ahead: the local branch follows.
	commitTo(t, remote, "main", Options{}, map[string]string{"beside": "us"})
	r = commitTo(t, dir, "main", push, map[string]string{"a": "4"})
	same(t, listing(t, remote, "main"), map[string]string{"a": "100644 4", "beside": "100644 us", "d/b": "100644 1"})
	clean(t, dir)
	if git(t, dir, "rev-parse", "main", "origin/main") != r.Commit+"\n"+r.Commit {
		t.Error("the local branch did not follow")
	}
	// A branch that only the remote has.
	commitTo(t, remote, "far", Options{Orphan: true}, map[string]string{"f": "1"})
	commitTo(t, dir, "far", push, map[string]string{"g": "1"})
	same(t, listing(t, remote, "far"), map[string]string{"f": "100644 1", "g": "100644 1"})
	sound(t, dir)
	sound(t, remote)
}

func TestPushRejectedChangesNothing(t *testing.T) {
	remote := seeded(t)
	dir := cloned(t, remote)
	b := open(t, dir, "main", Options{Push: true})
	before := snapshot(t, dir)
	commitTo(t, remote, "main", Options{}, map[string]string{"beside": "us"})
	if _, err := b.Commit(t.Context(), puts(map[string]string{"a": "2"}), opts("x")); !errors.Is(err, ErrRejected) {
		t.Fatalf("got %v", err)
	}
	if now := snapshot(t, dir); firstDifference(now, before, before) != "" {
		t.Error(firstDifference(now, before, before))
	}
	commitTo(t, dir, "main", Options{Push: true}, map[string]string{"a": "2"})
	same(t, listing(t, remote, "main"), map[string]string{"a": "100644 2", "beside": "100644 us", "d/b": "100644 1"})
}

func TestDiverged(t *testing.T) {
	remote := seeded(t)
	dir := cloned(t, remote)
	commitTo(t, remote, "main", Options{}, map[string]string{"beside": "us"})
	commitTo(t, dir, "main", Options{}, map[string]string{"mine": "1"})
	_, err := Open(t.Context(), dir, "main", Options{Push: true})
	if !errors.Is(err, ErrDiverged) || !strings.Contains(err.Error(), "git pull --rebase") {
		t.Errorf("got %v", err)
	}
	if _, err := Open(t.Context(), normal(t, map[string]string{"a": "1"}), "main", Options{Push: true}); err == nil || !strings.Contains(err.Error(), "no remote \"origin\" to push to") {
		t.Errorf("got %v", err)
	}
}

// TestConcurrent runs many commits at once, each retried as a caller would: all
// of them arrive, and those that lost a race were told.
func TestConcurrent(t *testing.T) {
	for name, location := range map[string]func(string) string{
		"local": func(dir string) string { return dir },
		"url":   func(dir string) string { return "file://" + dir },
	} {
		t.Run(name, func(t *testing.T) {
			dir := seeded(t)
			const n = 8
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					for range 10 * n {
						err := commitOnce(t.Context(), location(dir), fmt.Sprintf("f%d", i))
						if err == nil {
							return
						}
						if !errors.Is(err, ErrMoved) && !errors.Is(err, ErrRejected) && !errors.Is(err, ErrBusy) {
							t.Error(err)
							return
						}
					}
					t.Errorf("f%d never arrived", i)
				})
			}
			wg.Wait()
			if got := len(listing(t, dir, "main")); got != n+2 {
				t.Errorf("%d files", got)
			}
			sound(t, dir)
		})
	}
}

func commitOnce(ctx context.Context, location, file string) error {
	b, err := Open(ctx, location, "main", Options{})
	if err != nil {
		return err
	}
	_, err = b.Commit(ctx, puts(map[string]string{file: "1"}), opts(file))
	return errors.Join(err, b.Close())
}

// Two that read the same commit: one wins, the other says so.
func TestTwoAtOnce(t *testing.T) {
	dir := killable(t)
	one, two := open(t, dir, "main", Options{}), open(t, dir, "main", Options{})
	var errs [2]error
	var wg sync.WaitGroup
	for i, b := range []*Branch{one, two} {
		wg.Go(func() {
			_, errs[i] = b.Commit(t.Context(), puts(map[string]string{fmt.Sprintf("n%d", i): "1"}), opts("x"))
		})
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), ErrMoved) {
		t.Errorf("%v, %v", errs[0], errs[1])
	}
	sound(t, dir)
}

// served is a repository behind git's own HTTP server, with a password.
func served(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	exe, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, "config", "http.receivepack", "true")
	handler := &cgi.Handler{Path: exe, Args: []string{"http-backend"}, Stderr: os.Stderr,
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(dir), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if password != "s3cret-token" {
			w.Header().Set("WWW-Authenticate", "Basic")
			http.Error(w, "who are you, "+user, http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestHTTP(t *testing.T) {
	dir := seeded(t)
	server := served(t, dir)
	url := server.URL + "/" + filepath.Base(dir)
	env := func(k string) string {
		return map[string]string{"FLEETWRIGHT_GIT_USERNAME": "me", "FLEETWRIGHT_GIT_TOKEN": "s3cret-token"}[k]
	}
	r := commitTo(t, url, "main", Options{Env: env}, map[string]string{"a": "2"})
	if git(t, dir, "rev-parse", "main") != r.Commit {
		t.Error("not pushed")
	}
	with := strings.Replace(url, "http://", "http://me:s3cret-token@", 1)
	commitTo(t, with, "main", Options{}, map[string]string{"a": "3"})
	commitTo(t, strings.Replace(url, "http://", "http://s3cret-token@", 1), "main", Options{}, map[string]string{"a": "4"})
	_, err := Open(t.Context(), url, "main", Options{})
	if err == nil || !strings.Contains(err.Error(), "FLEETWRIGHT_GIT_TOKEN") {
		t.Errorf("got %v", err)
	}
	for _, wrong := range []string{"me:wr0ng-token@", "wr0ng-token@"} {
		_, err = Open(t.Context(), strings.Replace(url, "http://", "http://"+wrong, 1), "main", Options{})
		if err == nil || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("got %v", err)
		}
	}
	server.Close()
	if _, err = Open(t.Context(), with, "main", Options{}); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
	sound(t, dir)
}

func TestLocations(t *testing.T) {
	for location, want := range map[string]bool{"https://h/x": true, "git@h:x/y": true, "h:x": true, "file:///x": true,
		"/a/b": false, "./a:b": false, "a/b": false, "a": false, "../x": false, ":x": false} {
		if isURL(location) != want {
			t.Errorf("%q is a URL: %v", location, !want)
		}
	}
	for location, want := range map[string]string{"git@h:x/y.git": "ssh://git@h/x/y.git", "h:/abs": "ssh://h/abs", "https://h/x": "https://h/x"} {
		if got := sshURL(location); got != want {
			t.Errorf("%q became %q", location, got)
		}
	}
	for location, want := range map[string]string{
		"https://me:pw@h/x": "https://me:xxxxx@h/x", "https://token@h/x": "https://xxxxx@h/x",
		"ssh://git@h/x": "ssh://git@h/x", "git@h:x": "git@h:x", "/a/b": "/a/b", "https://a:%zz@h/x": "https://xxxxx@h/x"} {
		if got := Redact(location); got != want {
			t.Errorf("%q became %q, want %q", location, got, want)
		}
	}
	none := func(string) string { return "" }
	for _, bad := range []string{"ftp://h/x", "ext::sh -c x", "file://host/x", "https:///x", "ssh:///x", "https://a:%zz@h/x"} {
		if _, err := newEndpoint(bad, none); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	secret := func(k string) string { return map[string]string{"FLEETWRIGHT_GIT_PASSWORD": "s3cret"}[k] }
	for location, want := range map[string]bool{"https://h/x": true, "http://h/x": false, "http://localhost:1/x": true, "http://127.0.0.1/x": true, "https://a:b@h/x": true, "ssh://h/x": false} {
		e, err := newEndpoint(location, secret)
		if err != nil || (e.auth != nil) != want {
			t.Errorf("%q: credentials %v, %v", location, e.auth != nil, err)
		}
	}
}

func TestConfiguredRemote(t *testing.T) {
	dir := normal(t, map[string]string{"sub/a": "1"})
	if _, ok := RemoteURL(dir); ok {
		t.Error("a remote where there is none")
	}
	for url, want := range map[string]string{"git@github.com:o/r.git": "ssh://git@github.com/o/r.git", "https://u:p@h/r": "https://h/r"} {
		git(t, dir, "config", "remote.origin.url", url)
		if got, ok := RemoteURL(filepath.Join(dir, "sub")); !ok || got != want {
			t.Errorf("%q became %q", url, got)
		}
	}
	if _, ok := RemoteURL(t.TempDir()); ok {
		t.Error("a remote without a repository")
	}
}
