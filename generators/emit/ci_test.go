package emit

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/fleetwright/fleetwright/internal/testrenovate"
	"github.com/fleetwright/fleetwright/internal/version"
)

// A release is pinned; any other build is compiled from its commit, or from the newest one.
func TestCI(t *testing.T) {
	release, unknown := version.Build{Version: "v1.2.3"}, version.Build{Version: "(devel)"}
	commit := version.Build{Version: "v1.2.4-0.20261123060000-abcdefabcdef"}
	hooks := []string{"fleetwright-secrets", "fleetwright-validate"}
	for _, c := range []struct{ name, text, want, not string }{
		{"workflow of a release", string(workflow(release, "main", []string{"validate"})), "- uses: fleetwright/fleetwright@v1.2.3\n", "setup-go"},
		{"workflow", string(workflow(unknown, "main", []string{"validate"})), "go install -tags disable_grpc_modules github.com/fleetwright/fleetwright/cmd/fleetwright@latest\n", "fleetwright@v"},
		{"workflow of a commit", string(workflow(commit, "main", []string{"validate"})), "cmd/fleetwright@v1.2.4-0.20261123060000-abcdefabcdef\n", "@latest"},
		{"hooks of a commit", string(preCommit(commit, hooks)), "cmd/fleetwright@v1.2.4-0.20261123060000-abcdefabcdef]", "latest"},
		{"hooks of a release", string(preCommit(release, hooks)), "  rev: v1.2.3\n", "latest"},
		{"hooks", string(preCommit(unknown, hooks)), "additional_dependencies: [github.com/fleetwright/fleetwright/cmd/fleetwright@latest]", "rev:"},
	} {
		if !strings.Contains(c.text, c.want) || strings.Contains(c.text, c.not) {
			t.Errorf("%s: want %q and no %q:\n%s", c.name, c.want, c.not, c.text)
		}
		if err := yaml.Unmarshal([]byte(c.text), new(map[string]any)); err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, c.text)
		}
	}
}

// The preset for Renovate finds the release in each file that Renovate cannot read by itself, and in one place.
func TestRenovatePreset(t *testing.T) {
	release, steps := version.Build{Version: "v1.2.3"}, []string{"render --check", "validate"}
	for path, text := range map[string]string{
		".gitlab-ci.yml":                   string(gitlab(release, steps)),
		".forgejo/workflows/validate.yaml": string(forgeWorkflow(release, "main", steps)),
		".gitea/workflows/validate.yaml":   string(forgeWorkflow(release, "main", steps)),
		"azure-pipelines.yml":              commands(release, "- script: ", steps),
	} {
		var found []string
		for _, m := range testrenovate.Matches(t, "../../default.json", path, text) {
			found = append(found, m["depName"]+" "+m["currentValue"])
		}
		if !slices.Equal(found, []string{"fleetwright/fleetwright v1.2.3"}) || strings.Count(text, "1.2.3") != 1 {
			t.Errorf("%s: Renovate finds %q in\n%s", path, found, text)
		}
	}
}

// curl is curl as far as the commands use it, for machines without: it copies files to the folder that it runs in.
const curl = `#!/bin/sh
set -eu
for a; do
  case "$a" in
    --fail | --silent | --show-error | --location | --remote-name-all) ;;
    file://*) cp "${a#file://}" . ;;
    *) echo "curl: $a?" >&2; exit 2 ;;
  esac
done
`

// The commands for CI systems without an action of ours download what a release published, and refuse another file.
func TestCommandsOfARelease(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "curl"), []byte(curl), 0o755); err != nil {
		t.Fatal(err)
	}
	checkCommands(t, bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// checkCommands runs the commands with the curl on a PATH.
func checkCommands(t *testing.T, searched string) {
	t.Helper()
	var steps []struct{ Run string }
	text := commands(version.Build{Version: "v1.2.3"}, "- run: ", []string{"validate"})
	if err := yaml.Unmarshal([]byte(text), &steps); err != nil || len(steps) != 2 {
		t.Fatalf("%d steps, %v\n%s", len(steps), err, text)
	}
	for _, c := range []struct{ content, want string }{{"echo ran \"$@\"", "ran validate"}, {"echo other", ""}} {
		dir := t.TempDir()
		script := strings.NewReplacer("https://github.com/fleetwright/fleetwright/releases/download", "file://"+dir).Replace(steps[0].Run) + "\n" + steps[1].Run
		prepare := `set -eu
mkdir "$0/v1.2.3" && cd "$0/v1.2.3"
archive=fleetwright_1.2.3_linux_$(uname -m | sed 's/x86_64/amd64/; s/aarch64/arm64/').tar.gz
pack() { printf '#!/bin/sh\n%s\n' "$1" > fleetwright && chmod +x fleetwright && tar -czf "$archive" fleetwright && rm fleetwright; }
pack 'echo ran "$@"'
sha256sum "$archive" > checksums.txt
test "$1" = 'echo ran "$@"' || pack "$1"
`
		if out, err := exec.Command("bash", "-c", prepare, dir, c.content).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = []string{"HOME=" + dir, "PATH=" + searched}
		out, err := cmd.CombinedOutput()
		if (err == nil) != (c.want != "") || !strings.HasSuffix(strings.TrimSpace(string(out)), c.want) {
			t.Errorf("%s: %v\n%s", c.content, err, out)
		}
	}
}

// The pipeline of GitLab includes the release's template, which validates.
func TestGitLabOfARelease(t *testing.T) {
	want := `include:
- remote: https://raw.githubusercontent.com/fleetwright/fleetwright/v1.2.3/templates/gitlab-ci.yml

fleetwright-render:
  extends: fleetwright
  script:
  - fleetwright render --check
  artifacts: null
`
	if got := string(gitlab(version.Build{Version: "v1.2.3"}, []string{"render --check", "validate"})); got != want {
		t.Errorf("got\n%s", got)
	}
	if got := string(gitlab(version.Build{Version: "(devel)"}, []string{"validate"})); !strings.Contains(got, "go run -tags disable_grpc_modules ") || !strings.Contains(got, "@latest validate\n") {
		t.Errorf("got\n%s", got)
	}
}

// The hooks that are written out do what those of .pre-commit-hooks.yaml do.
func TestHooks(t *testing.T) {
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct{ ID, Entry, Language string }
	if err := yaml.Unmarshal(text, &hooks); err != nil {
		t.Fatal(err)
	}
	for _, h := range hooks {
		if id := strings.TrimSuffix(h.ID, "-system"); h.Entry != "fleetwright "+entries[id] {
			t.Errorf("%s runs %q, and is written out as %q", h.ID, h.Entry, entries[id])
		}
	}
}
