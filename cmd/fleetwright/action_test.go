package main

import (
	"os"
	"os/exec"
	"path/filepath"
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
			Name, Uses, Shell, Run string
			Env                    map[string]string
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
			for variable, value := range step.Env {
				if value != "${{ inputs."+name+" }}" {
					continue
				}
				used = strings.Contains(step.Run, `"$`+variable+`"`)
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

// TestAction runs the shell steps of the GitHub Action as a runner does: inputs and paths
// come in by the environment.
func TestAction(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("it builds the command, and without the race detector")
	}
	a, root := readAction(t)
	temp := t.TempDir()
	good, bad := filepath.Join(temp, "good"), filepath.Join(temp, "bad; touch pwned")
	writeFiles(t, good, "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n")
	writeFiles(t, bad, "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\ndata: {a: 1}\n")

	definition := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.example.com}\n"
	writeFiles(t, filepath.Join(temp, "schemas"), "foo.yaml", definition)
	writeFiles(t, filepath.Join(temp, "more schemas"), "foo.yaml", definition)
	writeFiles(t, filepath.Join(temp, "charts", "a"), "Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n")
	writeFiles(t, temp, "baseline.json", `{"version": 1, "findings": []}`)

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
		{"all inputs", map[string]string{
			"path": good, "fail-on": "info", "fail-on-unresolved": "true", "rules": "schema-*", "profile": "audit", "config": "none",
			"root": ".", "schemas": filepath.Join(temp, "schemas") + "\n" + filepath.Join(temp, "more schemas") + "\n",
			"charts": filepath.Join(temp, "charts"), "baseline": filepath.Join(temp, "baseline.json"),
			"source": "flux-system/flux-system=" + good + "\n", "cluster": "nowhere",
		}, 2, "there is no cluster \"nowhere\"", false},
		{"wrong input", map[string]string{"path": good, "fail-on": "$(touch pwned)"}, 2, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := t.TempDir()
			status, output := 0, ""
			for _, step := range a.Runs.Steps {
				if step.Run == "" {
					continue
				}
				cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
				cmd.Dir = work
				cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp)
				for name, value := range step.Env {
					cmd.Env = append(cmd.Env, name+"="+a.resolve(t, value, root, c.inputs))
				}
				out, err := cmd.CombinedOutput()
				output += string(out)
				if err != nil {
					status = cmd.ProcessState.ExitCode()
					break
				}
			}
			if !strings.HasPrefix(output, "::remove-matcher owner=go::\n") {
				t.Errorf("something is printed before the problem matcher is removed:\n%s", output)
			}
			if status != c.status || !strings.Contains(output, c.output) {
				t.Errorf("the action ends with %d, want %d and %q:\n%s", status, c.status, c.output, output)
			}
			if _, err := os.Stat(filepath.Join(temp, "out.sarif")); c.sarif && err != nil {
				t.Error(err)
			}
			if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
				t.Errorf("an input ran as a command: %v, %v", left, err)
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
