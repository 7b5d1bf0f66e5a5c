//go:build hostile && unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestConfinedSame: a process that started again, and is confined, reports the same as without: it reads what
// the command line names, and what Git keeps in other folders.
func TestConfinedSame(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems confine nothing")
	}
	binary := builtCommand(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(dir, "main")
	runaway(t, main, "runaway")
	putFile(t, filepath.Join(main, "clusters/one/a.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
	putFile(t, filepath.Join(dir, "schemas/thing_v1.json"), []byte("{}"))
	encrypted, err := os.ReadFile("../../examples/homelab/kubernetes/apps/network/cloudflare-api-token.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, filepath.Join(main, "clusters/one/token.sops.yaml"), encrypted)
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git(main, "init", "--quiet", "--initial-branch=main")
	git(main, "add", ".")
	git(main, "commit", "--quiet", "--message=a")
	git(main, "worktree", "add", "--quiet", filepath.Join(dir, "linked"))
	var all []confinedCase
	chart := `{"kind": "chart", "file": "clusters/one/release.yaml", "line": 1, "name": "HelmRelease flux-system/runaway"}, "what": "` + takesMemory + `"`
	for _, name := range []string{"main", "linked"} {
		repo := filepath.Join(dir, name)
		putFile(t, filepath.Join(repo, "b.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"))
		for _, arguments := range [][]string{
			{"validate", repo, "--schemas", filepath.Join(dir, "schemas"), "--format", "json"},
			{"validate", repo, "--changed-since", "HEAD", "--format", "json"},
			{"validate", "--format", "json"},
			{"diff", repo, "--from", "HEAD", "--format", "json"},
			{"build", repo, "--root", "clusters/one"},
			{"images", repo, "--from", "HEAD", "--format", "json"},
			{"secrets", "verify", repo, "--format", "json"},
		} {
			all = append(all, confinedCase{repo: repo, arguments: arguments, refused: chart})
		}
	}
	boots, sets := filepath.Join(dir, "boots"), filepath.Join(dir, "sets")
	for name, text := range map[string]string{
		"boots/one/helmfile.yaml": "releases:\n- {name: a, namespace: n, chart: x/a, version: '{{ range 1000000000000 }}{{ end }}'}\n",
		"boots/two/helmfile.yaml": "releases:\n- {name: b, namespace: b, chart: a/b, version: 1.0.0, values: [v.yaml, {a: b}]}\n", "boots/two/v.yaml": "c: d\n",
		"boots/hr.yaml":             "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: b, namespace: b}\nspec: {chart: {spec: {chart: b, version: 1.0.0}}}\n",
		"sets/clusters/one/ks.yaml": fluxKs("app", ""), "sets/app/b.yaml": configMap("a", "  b: 1\n"),
		"sets/app/a.yaml": "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: a, namespace: a}\n" +
			"spec:\n  resourcesTemplate: |\n    " + strings.Repeat("<< range until 1000 >>", 4) + strings.Repeat("<< end >>", 4) + "\n",
	} {
		putFile(t, filepath.Join(dir, name), []byte(text))
	}
	helmfile := `{"kind": "bootstrap", "file": "one/helmfile.yaml"}, "what": "` + takesTime + `"`
	for _, arguments := range [][]string{
		{"bootstrap", "verify", boots, "--format", "json"}, {"bootstrap", "plan", boots, "--format", "json"}, {"bootstrap", "values", "b/b", boots}, {"fn", "VerifyBootstrap"},
	} {
		all = append(all, confinedCase{boots, arguments, helmfile, []string{"two/helmfile.yaml"}})
	}
	set := `{"kind": "document", "file": "app/a.yaml", "name": "ResourceSet a/a"}, "what": "` + takesTime + `"`
	all = append(all, confinedCase{sets, []string{"fn", "ValidateFleet"}, set, []string{"app/b.yaml: error: "}})
	for _, c := range all {
		t.Run(fmt.Sprint(filepath.Base(c.repo), c.arguments), func(t *testing.T) {
			t.Parallel()
			c.run(t, binary)
		})
	}
}

// confinedCase is a command line in a repository with one unit that is refused.
type confinedCase struct {
	repo      string
	arguments []string
	refused   string   // the unit, and what it takes
	rest      []string // what it reports of everything else
}

// run compares what the command reports once it has started again with what it reports when it begins as the second
// image, which is not confined by a first one.
func (c confinedCase) run(t *testing.T, binary string) {
	t.Helper()
	arguments, stdin := c.arguments, []byte(nil)
	if arguments[0] == "fn" {
		stdin, arguments = resourceList(t, c.repo, arguments[1]), arguments[:1]
	}
	var outs []string
	for _, how := range []string{"", `FLEETWRIGHT_RESTARTED={"restarts": 1, "refused": [{"unit": ` + c.refused + `}]}`} {
		cmd := exec.CommandContext(t.Context(), binary, arguments...)
		cmd.Dir, cmd.Stdin = c.repo, bytes.NewReader(stdin)
		if cmd.Env = strangerEnv(); how != "" {
			cmd.Env = append(cmd.Env, how)
		}
		out, err := cmd.CombinedOutput()
		if status := cmd.ProcessState.ExitCode(); status != statusFine && status != statusFindings {
			t.Fatalf("%q: %v\n%s", arguments, err, out)
		}
		if how == "" && !strings.Contains(string(out), takesMemory) && !strings.Contains(string(out), takesTime) {
			t.Errorf("%q: no unit is refused, so nothing was confined:\n%s", arguments, tail(string(out)))
		}
		for _, rest := range c.rest {
			if !strings.Contains(string(out), rest) {
				t.Errorf("%q: the rest is not checked: no %q in\n%s", arguments, rest, tail(string(out)))
			}
		}
		outs = append(outs, withoutTimes(out))
	}
	if a, b := outs[0], outs[1]; a != b {
		t.Errorf("confined:\n%s\nnot confined:\n%s", tail(a), tail(b))
	}
}

// withoutTimes is a report in JSON without how long it took, and the bounds of a machine.
func withoutTimes(out []byte) string {
	var report map[string]any
	if json.Unmarshal(out, &report) != nil {
		return string(out)
	}
	if summary, ok := report["summary"].(map[string]any); ok {
		delete(summary, "seconds")
		delete(summary, "durationSeconds")
	}
	text, _ := json.MarshalIndent(report, "", " ") // it was JSON before
	return string(text)
}
