package harness

import (
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A Remote is a host that no specification speaks of, open to anyone: it serves files, and
// the same files as the Git repository /base.git, whose branch is main. It remembers who
// asked for what.
type Remote struct {
	URL string

	mu    sync.Mutex
	asked map[string]bool
}

// StartRemote serves the files, on loopback, until the test ends.
func StartRemote(t testing.TB, files map[string]string) *Remote {
	t.Helper()
	root := t.TempDir()
	work := filepath.Join(root, "files")
	for name, content := range files {
		file := filepath.Join(work, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(content), 0o600))
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", work},
		{"-C", work, "add", "--all"},
		{"-C", work, "-c", "user.name=E2E", "-c", "user.email=e2e@example.com", "commit", "--quiet", "--message", "Begin"},
		{"clone", "--quiet", "--bare", work, filepath.Join(root, "base.git")},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	r := &Remote{asked: map[string]bool{}}
	repository, plain := gitHandler(t, root), http.FileServer(http.Dir(work))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.mu.Lock()
		r.asked[request.Method+" "+request.URL.Path] = true
		r.mu.Unlock()
		if strings.HasPrefix(request.URL.Path, "/base.git/") {
			repository.ServeHTTP(w, request)
			return
		}
		plain.ServeHTTP(w, request)
	}))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// Asked are the requests so far, METHOD PATH, in order of their names.
func (r *Remote) Asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.asked))
}

// gitHandler serves the bare repositories below a folder with Git's own server.
func gitHandler(t testing.TB, root string) http.Handler {
	t.Helper()
	execPath, err := exec.Command("git", "--exec-path").Output()
	must(t, err)
	return &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(execPath)), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"},
	}
}
