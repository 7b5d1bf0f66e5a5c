package fetchtest

import (
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repository is a Git repository that a server serves below /git. The git command creates it.
type Repository struct {
	t   testing.TB
	Dir string // its work tree
}

// Git adds a Git repository to the server, which serves it with git http-backend at the returned address.
func (s *Server) Git(t testing.TB, name string) (repository *Repository, address string) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	r := &Repository{t, filepath.Join(root, name)}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.Run("init", "--quiet", "--initial-branch=main")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.git[name] = &cgi.Handler{Path: git, Args: []string{"http-backend"}, Root: "/git/" + name, Dir: root, Env: []string{
		"GIT_PROJECT_ROOT=" + r.Dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "HOME=" + root,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	return r, s.URL + "/git/" + name
}

// serveGit serves the repositories, and reports whether the request was for one.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) bool {
	rest, below := strings.CutPrefix(r.URL.Path, "/git/")
	name, _, _ := strings.Cut(rest, "/")
	s.mu.Lock()
	handler, user, password := s.git[name], s.gitUser, s.gitPassword
	s.mu.Unlock()
	if !below || handler == nil {
		return false
	}
	if login, secret, _ := r.BasicAuth(); user != "" && (login != user || secret != password) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	handler.ServeHTTP(w, r)
	return true
}

// ProtectGit protects the Git repositories with a password.
func (s *Server) ProtectGit(user, password string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gitUser, s.gitPassword = user, password
}

// Run runs git in the work tree and returns what it prints.
func (r *Repository) Run(args ...string) string {
	r.t.Helper()
	c := exec.Command("git", append([]string{"-C", r.Dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Commit writes files, commits them and returns the commit.
func (r *Repository) Commit(files map[string]string) string {
	r.t.Helper()
	for name, content := range files {
		at := filepath.Join(r.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	r.Run("add", "--all", "--force")
	r.Run("commit", "--quiet", "--allow-empty", "-m", "change")
	return r.Run("rev-parse", "HEAD")
}
