package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// action is what is read of action.yml.
type action struct {
	Inputs map[string]struct{ Description, Default string }
	Runs   struct {
		Using string
		Steps []struct {
			Name, If, Uses, Shell, Run string
			Env                        map[string]string
		}
	}
}

func readAction(t *testing.T) (a action, root string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a, root
}

// Every input is described, comes to a script that reads it, becomes the flag of its name, and
// stands in the documentation.
func TestActionInputs(t *testing.T) {
	a, root := readAction(t)
	docs, err := os.ReadFile(filepath.Join(root, "docs", "validate.md"))
	if err != nil {
		t.Fatal(err)
	}
	flags := newValidate(streams{env: func(string) string { return "" }}).Flags()
	for name, input := range a.Inputs {
		if input.Description == "" {
			t.Errorf("%s: no description", name)
		}
		if !strings.Contains(string(docs), "\n| `"+name+"` |") {
			t.Errorf("%s: docs/validate.md has no line about it", name)
		}
		used := false
		for _, step := range a.Runs.Steps {
			used = used || strings.HasPrefix(step.If, "inputs."+name+" ")
			for variable, value := range step.Env {
				if value != "${{ inputs."+name+" }}" {
					continue
				}
				used = used || strings.Contains(step.Run, `"$`+variable+`"`)
				if flags.Lookup(name) != nil && !strings.Contains(step.Run, "add --"+name+` "$`+variable+`"`) {
					t.Errorf("%s: the flag --%s does not get it", name, name)
				}
			}
		}
		if !used {
			t.Errorf("%s: no step reads it", name)
		}
	}
	if len(a.Inputs) < 10 {
		t.Errorf("only %d inputs are read", len(a.Inputs))
	}
}

// TestActionRemovesMatchers: no problem matcher that another action registers is in force when something of
// the repository is printed.
// Source: actions/setup-go, matchers.json (owner "go"); actions/runner, RemoveMatcherCommandExtension.
func TestActionRemovesMatchers(t *testing.T) {
	a, _ := readAction(t)
	registered, removed := false, false
	for _, step := range a.Runs.Steps {
		switch {
		case strings.HasPrefix(step.Uses, "actions/setup-go@"):
			registered, removed = true, false
		case step.Uses != "":
			t.Errorf("%s: say here which problem matchers it registers", step.Uses)
		case strings.TrimSpace(step.Run) == `echo "::remove-matcher owner=go::"`:
			removed = true
		case registered && !removed:
			t.Errorf("the step %q prints while lines of the log are taken for the compiler's", step.Name)
		}
	}
	if !registered {
		t.Error("no step sets Go up")
	}
}

// actionPlace is where the Action runs: its own revision, and where releases are published.
type actionPlace struct{ root, releases, temp string }

// run runs the shell steps of the Action as a runner does: inputs and paths come in by the
// environment. It returns the exit status, what is printed and the job summary.
func (p actionPlace) run(t *testing.T, a action, inputs map[string]string) (status int, printed, summary string) {
	t.Helper()
	work, files := t.TempDir(), t.TempDir()
	environment := append(os.Environ(), "RUNNER_TEMP="+p.temp, "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "FLEETWRIGHT_RELEASES="+p.releases)
	for _, name := range []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY"} {
		environment = append(environment, name+"="+filepath.Join(files, name))
		writeFiles(t, files, name, "")
	}
	for _, step := range a.Runs.Steps {
		if step.Run == "" || !a.holds(t, step.If, inputs) {
			continue
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = work
		set, err := os.ReadFile(filepath.Join(files, "GITHUB_ENV"))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(slices.Clone(environment), strings.Fields(string(set))...)
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+a.resolve(t, value, p.root, inputs))
		}
		out, err := cmd.CombinedOutput()
		printed += string(out)
		if err != nil {
			status = cmd.ProcessState.ExitCode()
			break
		}
	}
	if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
		t.Errorf("an input ran as a command: %v, %v", left, err)
	}
	text, err := os.ReadFile(filepath.Join(files, "GITHUB_STEP_SUMMARY"))
	if err != nil {
		t.Fatal(err)
	}
	return status, printed, string(text)
}

// holds evaluates the condition of a step: inputs.NAME ==, or !=, 'true'.
func (a action) holds(t *testing.T, condition string, inputs map[string]string) bool {
	t.Helper()
	words := strings.Fields(condition)
	if len(words) == 0 {
		return true
	}
	if len(words) != 3 || words[2] != "'true'" || words[1] != "==" && words[1] != "!=" {
		t.Fatalf("unknown condition %q", condition)
	}
	return (a.resolve(t, "${{ "+words[0]+" }}", "", inputs) == "true") == (words[1] == "==")
}

// download is curl and wget as far as the Action and the template for GitLab use them, for machines without: it copies a file.
const download = `#!/bin/sh
set -eu
from= to=
while [ $# -gt 0 ]; do
  case "$1" in
    --output | -O) to="$2"; shift ;;
    --retry | --max-time) shift ;;
    --fail | --silent | --show-error | --location | --retry-all-errors | -q) ;;
    file://*) from="${1#file://}" ;;
    *) echo "$0: $1?" >&2; exit 2 ;;
  esac
  shift
done
cp "$from" "$to"
`

// downloadWithoutTools puts download first on PATH.
func downloadWithoutTools(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	for _, name := range []string{"curl", "wget"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(download), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// releaseOf publishes an executable as a release in a folder, with an Action that pins it.
func releaseOf(t *testing.T, binary, temp string) actionPlace {
	t.Helper()
	const archive = "fleetwright_1.2.3_linux_amd64.tar.gz"
	folder := filepath.Join(t.TempDir(), "v1.2.3")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-czf", filepath.Join(folder, archive), "-C", filepath.Dir(binary), "fleetwright").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(filepath.Join(folder, archive))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	writeFiles(t, root, "action.sums", fmt.Sprintf("# pinned\nversion v1.2.3\nrevision abc\n%x  %s\n", sha256.Sum256(content), archive))
	return actionPlace{root, "file://" + filepath.Dir(folder), temp}
}

// TestAction runs the Action, first with a command that it builds, then with a release that it downloads.
func TestAction(t *testing.T) {
	if testing.Short() || raced || runtime.GOOS != "linux" {
		t.Skip("it builds the command, for Linux and without the race detector")
	}
	downloadWithoutTools(t)
	a, root := readAction(t)
	temp := t.TempDir()
	good, bad := filepath.Join(temp, "good"), filepath.Join(temp, "bad; touch pwned")
	writeFiles(t, good, "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n")
	writeFiles(t, bad, "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {a: 1} # ````` <b>\n")

	definition := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.example.com}\n"
	writeFiles(t, filepath.Join(temp, "schemas"), "foo.yaml", definition)
	writeFiles(t, filepath.Join(temp, "more schemas"), "foo.yaml", definition)
	writeFiles(t, filepath.Join(temp, "charts", "a"), "Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n")
	writeFiles(t, temp, "baseline.json", `{"version": 1, "findings": []}`)

	status, output, _ := actionPlace{root: root, temp: temp}.run(t, a, map[string]string{"path": good, "build": "true"})
	if status != 0 || !strings.HasPrefix(output, "::remove-matcher owner=go::\n") {
		t.Fatalf("the action that builds ends with %d:\n%s", status, output)
	}
	built, err := filepath.Glob(filepath.Join(temp, "fleetwright.*", "fleetwright"))
	if err != nil || len(built) != 1 {
		t.Fatalf("built is %q, %v", built, err)
	}
	place := releaseOf(t, built[0], temp)
	for _, c := range []struct {
		name   string
		inputs map[string]string
		status int
		output string
		sarif  bool
	}{
		{"clean", map[string]string{"path": good}, 0, "", false},
		{"findings", map[string]string{"path": bad, "sarif-file": filepath.Join(temp, "out.sarif")}, 1, "::error file=a.yaml,line=4,", true},
		{"other rules", map[string]string{"path": bad, "rules": "bootstrap-*"}, 0, "", false},
		{"little is covered", map[string]string{"path": good, "min-coverage": "101"}, 2, "--min-coverage 101 is not a percentage", false},
		{"only installed", map[string]string{"path": bad, "install-only": "true"}, 0, "", false},
		{"all inputs", map[string]string{
			"path": good, "fail-on": "info", "fail-on-unresolved": "true", "min-coverage": "0", "rules": "schema-*", "profile": "audit", "config": "none",
			"root": ".", "schemas": filepath.Join(temp, "schemas") + "\n" + filepath.Join(temp, "more schemas") + "\n",
			"charts": filepath.Join(temp, "charts"), "baseline": filepath.Join(temp, "baseline.json"),
			"source": "flux-system/flux-system=" + good + "\n", "cluster": "nowhere",
		}, 2, "cluster \"nowhere\" does not exist", false},
		{"wrong input", map[string]string{"path": good, "fail-on": "$(touch pwned)"}, 2, "", false},
		{"wrong switch", map[string]string{"path": good, "install-only": "true' || touch pwned #"}, 0, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, output, summary := place.run(t, a, c.inputs)
			if status != c.status || !strings.Contains(output, c.output) {
				t.Errorf("the action ends with %d, want %d and %q:\n%s", status, c.status, c.output, output)
			}
			if _, err := os.Stat(filepath.Join(temp, "out.sarif")); c.sarif && err != nil {
				t.Error(err)
			}
			if c.sarif && (!strings.Contains(summary, "\n``````text\n") || !strings.Contains(summary, "a.yaml:4:")) {
				t.Errorf("the summary is\n%s", summary)
			}
		})
	}
	t.Run("wrong path", func(t *testing.T) { reportsWrongPath(t, a, place) })
	refusesOthers(t, a, place, good)
	t.Run("links of the repository", func(t *testing.T) { keepsOthers(t, a, place, bad) })
}

// reportsWrongPath holds that a validation that cannot begin is an annotation and in the summary, also where a report for
// SARIF is asked for, and that nothing is left of that report.
func reportsWrongPath(t *testing.T, a action, place actionPlace) {
	report := filepath.Join(t.TempDir(), "out.sarif")
	status, output, summary := place.run(t, a, map[string]string{"path": filepath.Join(place.temp, "nowhere"), "sarif-file": report})
	if status != 2 || !strings.Contains(output, "::error") {
		t.Errorf("the action ends with %d:\n%s", status, output)
	}
	if !strings.Contains(summary, "### Fleetwright") || !strings.Contains(summary, "nowhere") {
		t.Errorf("the summary is\n%s", summary)
	}
	left, err := filepath.Glob(filepath.Join(place.temp, "fleetwright-*"))
	if _, missing := os.Lstat(report); err != nil || len(left) > 0 || !os.IsNotExist(missing) {
		t.Errorf("left are %q, %v, %v", left, missing, err)
	}
}

// keepsOthers holds that a report for SARIF takes the place of a link, and never that of the file behind it.
func keepsOthers(t *testing.T, a action, place actionPlace, bad string) {
	outside := t.TempDir()
	writeFiles(t, outside, "kept", "kept")
	file := filepath.Join(place.temp, "out.sarif")
	_ = os.Remove(file)
	if err := os.Symlink(filepath.Join(outside, "kept"), file); err != nil {
		t.Fatal(err)
	}
	if status, output, _ := place.run(t, a, map[string]string{"path": bad, "sarif-file": file}); status != 1 {
		t.Errorf("the action ends with %d:\n%s", status, output)
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the report is no file: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(outside, "kept")); err != nil || string(text) != "kept" {
		t.Errorf("the file behind the link is now %q, %v", text, err)
	}
	relative, err := filepath.Rel(t.TempDir(), filepath.Join(outside, "x.sarif")) // folders of tests stand beside each other
	if err != nil {
		t.Fatal(err)
	}
	if status, output, _ := place.run(t, a, map[string]string{"path": bad, "sarif-file": relative}); status < 2 {
		t.Errorf("a folder outside of the workspace: the action ends with %d:\n%s", status, output)
	}
	if _, err := os.Lstat(filepath.Join(outside, "x.sarif")); err == nil {
		t.Error("the report is outside of the workspace")
	}
}

// refusesOthers holds that nothing runs but what the Action's own revision pins.
func refusesOthers(t *testing.T, a action, place actionPlace, good string) {
	t.Helper()
	for name, sums := range map[string]string{
		"another archive":   "version v1.2.3\n" + strings.Repeat("0", 64) + "  fleetwright_1.2.3_linux_amd64.tar.gz\n",
		"no checksum of it": "version v1.2.3\n",
		"nothing":           "# none yet\n",
	} {
		t.Run("pinned: "+name, func(t *testing.T) {
			other := place
			other.root = t.TempDir()
			writeFiles(t, other.root, "action.sums", sums)
			if status, output, _ := other.run(t, a, map[string]string{"path": good}); status < 2 || !strings.Contains(output, "::error::") {
				t.Errorf("the action ends with %d:\n%s", status, output)
			}
		})
	}
}

// resolve gives an expression of the action its value.
func (a action) resolve(t *testing.T, value, root string, inputs map[string]string) string {
	t.Helper()
	name, isExpression := strings.CutPrefix(value, "${{ ")
	name = strings.TrimSuffix(name, " }}")
	switch input, isInput := strings.CutPrefix(name, "inputs."); {
	case !isExpression:
		return value
	case name == "github.action_path":
		return root
	case isInput:
		declared, ok := a.Inputs[input]
		if !ok {
			t.Fatalf("the action has no input %q", input)
		}
		if given, ok := inputs[input]; ok {
			return given
		}
		return declared.Default
	}
	t.Fatalf("unknown expression %q", value)
	return ""
}

func writeFiles(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
