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

// A Remote is a host that no specification names and that anyone may read: it serves files, and the same files as the Git
// repository /base.git, whose branch is main. It records the requests.
type Remote struct {
	URL string

	mu    sync.Mutex
	asked map[string]bool
	calm  chan struct{} // closed when requests for /never are answered
}

// StartRemote serves the files, on loopback, until the test ends.
func StartRemote(t testing.TB, files map[string]string) *Remote {
	t.Helper()
	root := t.TempDir()
	work := commitFiles(t, files)
	runGit(t, "clone", "--quiet", "--bare", work, filepath.Join(root, "base.git"))
	r := &Remote{asked: map[string]bool{}, calm: make(chan struct{})}
	repository, plain := gitHandler(t, root), http.FileServer(http.Dir(work))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.mu.Lock()
		r.asked[request.Method+" "+request.URL.Path] = true
		r.mu.Unlock()
		switch {
		case strings.HasPrefix(request.URL.Path, "/base.git/"):
			repository.ServeHTTP(w, request)
		case request.URL.Path == "/never":
			<-r.calm
		default:
			plain.ServeHTTP(w, request)
		}
	}))
	t.Cleanup(func() { r.Answer(); server.Close() })
	r.URL = server.URL
	return r
}

// Seed commits the files as the first commit of branch main of an empty bare repository.
func Seed(t testing.TB, repository string, files map[string]string) {
	t.Helper()
	runGit(t, "-C", commitFiles(t, files), "push", "--quiet", repository, "main")
}

// commitFiles creates a repository with the files, with one commit on branch main.
func commitFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	work := t.TempDir()
	for name, content := range files {
		file := filepath.Join(work, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(content), 0o600))
	}
	runGit(t, "init", "--quiet", "--initial-branch=main", work)
	runGit(t, "-C", work, "add", "--all")
	runGit(t, "-C", work, "-c", "user.name=E2E", "-c", "user.email=e2e@example.com", "commit", "--quiet", "--message", "Begin")
	return work
}

func runGit(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// Answer answers the requests for /never, which wait until then.
func (r *Remote) Answer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.calm:
	default:
		close(r.calm)
	}
}

// Asked returns the requests so far as METHOD PATH, sorted.
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
