package examples_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/internal/testpeer"
)

// shims replace the commands that would connect to a cluster. Each records how it was called. The real helm parses the
// flags of an upgrade, and refuses unknown ones.
var shims = map[string]string{
	"kubectl": "#!/bin/bash\necho \"kubectl $*\" >> \"$CALLS\"\ncat > /dev/null < /dev/null\n",
	"helm": `#!/bin/bash
echo "helm $*" >> "$CALLS"
case "$1" in
upgrade) PATH=${PATH#*:} && exec "$HELM" "$@" --help > /dev/null ;;
list | get | dependency | repo | pull) exit 0 ;;
*) PATH=${PATH#*:} && exec "$HELM" "$@" ;;
esac
`,
}

// The generated task boots a cluster with Helm 3 and Helm 4, waits for Flux, and checks that all of Git is applied.
func TestBootWithEachHelm(t *testing.T) {
	for name, forced := range map[string]bool{"helm": false, "helm4": true} {
		t.Run(name, func(t *testing.T) {
			dir, chart, bin, calls := write(t, "acme"), t.TempDir(), t.TempDir(), t.TempDir()
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
			for _, r := range list(t, dir, filepath.Join(folder, "helmfile.yaml")) {
				source := filepath.Join(dir, "platform", label(r.Labels, "source"))
				content, err := os.ReadFile(source)
				if err != nil {
					t.Fatal(err)
				}
				writeFile(t, source, bytes.ReplaceAll(content, []byte(r.Chart), []byte(filepath.ToSlash(chart))))
			}
			boot := testpeer.Command{
				Tool: "make", With: []string{"helmfile", name}, Args: []string{"-C", folder, "boot", "check"}, Path: bin,
				Env: []string{"HELM=" + name, "CALLS=" + filepath.Join(calls, "calls")}, Reads: []string{dir, chart, bin}, Writes: calls,
				Keep: func(string) string { return "" }, Alike: sorted,
			}
			boot.Output(t)
			content, err := os.ReadFile(filepath.Join(calls, "calls"))
			if err != nil {
				t.Fatal(err)
			}
			checkBoot(t, strings.Split(strings.TrimSpace(string(content)), "\n"), forced)
		})
	}
}

// sorted returns the text with the lines sorted that come from parallel work.
func sorted(text string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(text, "\n")), "\n")
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
