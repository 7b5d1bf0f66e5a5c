//go:build tools

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fleetwright/fleetwright/internal/reconcile/oracle"
)

// fleetFiles have two clusters that follow two branches of one team, whose source is behind
// another one, and one source that is nowhere.
const fleetFiles = `-- clusters/one/sync.yaml --
` + syncFile + `  path: ./clusters/one
` + team + `  ref: {branch: main}
-- clusters/two/sync.yaml --
` + syncFile + `  path: ./clusters/two
` + team + `  ref: {branch: next}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: gone, namespace: flux-system}
spec:
  interval: 1h
  url: https://github.com/acme/gone
---
` + kustomization + `metadata: {name: gone, namespace: flux-system}
spec:
  interval: 1h
  prune: true
  path: ./
  sourceRef: {kind: GitRepository, name: gone}
`

const kustomization = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
`

const syncFile = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 1h
  url: https://github.com/acme/fleet
  ref: {branch: main}
---
` + kustomization + `metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 1h
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
`

const team = `---
` + kustomization + `metadata: {name: team, namespace: flux-system}
spec:
  interval: 1h
  prune: true
  path: ./deploy
  sourceRef: {kind: GitRepository, name: team}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: team, namespace: flux-system}
spec:
  interval: 1h
  url: ssh://git@github.com/acme/team.git
`

// teamFiles name a source whose checkout is known by its remote only.
const teamFiles = `-- deploy/next.yaml --
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: deeper, namespace: flux-system}
spec:
  interval: 1h
  url: https://git.example.com/deeper
  ref: {branch: main}
---
` + kustomization + `metadata: {name: deeper, namespace: flux-system}
spec:
  interval: 1h
  prune: true
  path: ./
  sourceRef: {kind: GitRepository, name: deeper}
`

const configMap = `-- a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: default}
`

// checkout makes a clone, in a folder of a name, of a repository with a branch for each text.
func checkout(t *testing.T, repos, name, remote string, branches map[string]string) {
	t.Helper()
	origin := filepath.Join(t.TempDir(), "origin")
	run := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	if err := os.Mkdir(origin, 0o755); err != nil {
		t.Fatal(err)
	}
	run(origin, "init", "--quiet", "--initial-branch=main")
	for _, branch := range []string{"main", "next"} {
		files, ok := branches[branch]
		if !ok {
			continue
		}
		if branch != "main" {
			run(origin, "checkout", "--quiet", "-b", branch)
		}
		if err := txtar.Write(txtar.Parse([]byte(files)), origin); err != nil {
			t.Fatal(err)
		}
		run(origin, "add", "-A")
		run(origin, "commit", "--quiet", "-m", branch)
	}
	run(origin, "checkout", "--quiet", "main")
	run(repos, "clone", "--quiet", origin, name)
	if remote != "" {
		run(filepath.Join(repos, name), "remote", "set-url", "origin", remote)
	}
}

func TestSourcesAreSiblings(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
	repos := t.TempDir()
	checkout(t, repos, "acme+fleet", "", map[string]string{"main": fleetFiles})
	checkout(t, repos, "acme+team", "", map[string]string{"main": teamFiles, "next": strings.ReplaceAll(configMap, "a.yaml", "deploy/a.yaml")})
	checkout(t, repos, "deeper", "git@git.example.com:deeper.git", map[string]string{"main": configMap})
	var out bytes.Buffer
	different, err := run(t.Context(), &out, repos, oracle.Library)
	if err != nil || different {
		t.Fatalf("different: %v, %v\n%s", different, err, &out)
	}
	report, _, _ := strings.Cut(out.String(), "\n\n")
	// Each cluster has its own Kustomization, the team's, and the one that the team brings.
	for _, want := range []string{
		"acme/fleet\n", "clusters 2, Kustomizations 7, ", "differences 0, unresolved 1 (14.3 %)", "unresolved  two flux-system/gone: ",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("%q is not in the report:\n%s", want, &out)
		}
	}
	if strings.Count(report, "unresolved  ") != 1 {
		t.Errorf("more is unresolved:\n%s", &out)
	}
}
