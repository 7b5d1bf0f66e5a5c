package examples_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shims stand for the commands that would talk to a cluster. Each writes down how it was called. The real helm reads the
// flags of an upgrade, and refuses those that it doesn't know.
var shims = map[string]string{
	"kubectl": "#!/bin/bash\necho \"kubectl $*\" >> \"$CALLS\"\ncat > /dev/null < /dev/null\n",
	"helm": `#!/bin/bash
echo "helm $*" >> "$CALLS"
case "$1" in
upgrade) exec "$HELM" "$@" --help > /dev/null ;;
list | get | dependency | repo | pull) exit 0 ;;
*) exec "$HELM" "$@" ;;
esac
`,
}

// The generated task boots a cluster with Helm 3 and Helm 4, waits for Flux, and checks that all of Git is applied.
func TestBootWithEachHelm(t *testing.T) {
	helmfile, task := lookPath(t, "helmfile"), lookPath(t, "make")
	for name, forced := range map[string]bool{"helm": false, "helm4": true} {
		t.Run(name, func(t *testing.T) {
			helm := lookPath(t, name)
			dir, chart, bin := write(t, "acme"), t.TempDir(), t.TempDir()
			for name, content := range localChart {
				writeFile(t, filepath.Join(chart, name), []byte(content))
			}
			for name, content := range shims {
				file := filepath.Join(bin, name)
				writeFile(t, file, []byte(content))
				if err := os.Chmod(file, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			folder := filepath.Join(dir, "platform", "bootstrap", "staging")
			for _, r := range list(t, helmfile, filepath.Join(folder, "helmfile.yaml")) {
				source := filepath.Join(dir, "platform", label(r.Labels, "source"))
				content, err := os.ReadFile(source)
				if err != nil {
					t.Fatal(err)
				}
				writeFile(t, source, bytes.ReplaceAll(content, []byte(r.Chart), []byte(filepath.ToSlash(chart))))
			}
			calls := filepath.Join(bin, "calls")
			cmd := exec.CommandContext(t.Context(), task, "-C", folder, "boot", "check")
			cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+filepath.Dir(helmfile)+string(os.PathListSeparator)+os.Getenv("PATH"),
				"HELM="+helm, "CALLS="+calls)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			content, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}
			checkBoot(t, strings.Split(strings.TrimSpace(string(content)), "\n"), forced)
		})
	}
}

// checkBoot checks the calls of a boot: each release is installed, with forced conflicts or not, then Flux is waited for,
// and in the end all that it applies.
func checkBoot(t *testing.T, calls []string, forced bool) {
	t.Helper()
	var upgrades int
	var waits []string
	for _, call := range calls {
		switch {
		case strings.HasPrefix(call, "helm upgrade "):
			upgrades++
			if strings.Contains(call, "--force-conflicts") != forced {
				t.Errorf("--force-conflicts: want %v: %s", forced, call)
			}
			if len(waits) > 0 {
				t.Errorf("a release is installed after Flux: %s", call)
			}
		case strings.HasPrefix(call, "kubectl ") && strings.Contains(call, "condition=Ready"):
			for word := range strings.FieldsSeq(call) {
				if name, _, found := strings.Cut(word, "."); found && strings.Contains(word, "flux") {
					waits = append(waits, name)
				}
			}
		}
	}
	if upgrades < 5 {
		t.Errorf("%d releases are installed:\n%s", upgrades, strings.Join(calls, "\n"))
	}
	if got, want := strings.Join(waits, " "), "fluxinstance gitrepository kustomization fluxinstance gitrepository kustomization kustomization"; got != want {
		t.Errorf("waits for %s, want %s", got, want)
	}
}
