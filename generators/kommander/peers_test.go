//go:build peers

package kommander_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The Job's script runs with the real curl against a server that answers as Gitea's API does.
func TestRepositoryIsCreated(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal(err)
	}
	job := render(t, example(t, inGitea...)).must(t, "gitea-repository", "Job", "gitea-repository")
	for _, test := range []struct {
		name           string
		exists, create int
		asked          []string
		fails          bool
	}{
		{"new", 404, 201, []string{"GET /api/v1/repos/platform/kommander", `POST /api/v1/admin/users/platform/repos {"auto_init":false,"default_branch":"main","name":"kommander","private":true}`}, false},
		{"there", 200, 500, []string{"GET /api/v1/repos/platform/kommander"}, false},
		{"meanwhile", 404, 409, nil, false},
		{"refused", 404, 403, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked []string
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := make([]byte, 1000)
				n, _ := r.Body.Read(body)
				asked = append(asked, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+string(body[:n])))
				if user, password, ok := r.BasicAuth(); !ok || user != "ada" || password != `a"b$c d\e` {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				w.WriteHeader(map[string]int{http.MethodGet: test.exists, http.MethodPost: test.create}[r.Method])
			}))
			defer server.Close()
			ca := filepath.Join(t.TempDir(), "ca.crt")
			block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			if err := os.WriteFile(ca, block, 0o600); err != nil {
				t.Fatal(err)
			}
			container := []any{"spec", "template", "spec", "containers", 0}
			script := job.Text(append(slices.Clone(container), "command", 2)...)
			run := exec.CommandContext(t.Context(), "sh", "-c", script)
			run.Env = []string{"PATH=" + filepath.Dir(curl), "GITEA=" + server.URL, "CA_FILE=" + ca, "USERNAME=ada", `PASSWORD=a"b$c d\e`}
			for i := range len(job.Get(append(slices.Clone(container), "env")...).([]any)) {
				at := append(slices.Clone(container), "env", i)
				name, value := job.Text(append(slices.Clone(at), "name")...), job.Text(append(slices.Clone(at), "value")...)
				if slices.Contains([]string{"OWNER", "NAME", "REPOSITORY"}, name) {
					run.Env = append(run.Env, name+"="+value)
				}
			}
			out, err := run.CombinedOutput()
			if (err != nil) != test.fails || test.asked != nil && !slices.Equal(asked, test.asked) {
				t.Errorf("%v: %s\nasked %q", err, out, asked)
			}
		})
	}
}
