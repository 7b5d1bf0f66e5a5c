package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestConfinedSame: a process that started again, and is confined, reports the same as without: it reads what
// the command line names, and what Git keeps in other folders.
func TestConfinedSame(t *testing.T) {
	if testing.Short() || raced || runtime.GOOS != "linux" {
		t.Skip("the command is built without the race detector, and other systems confine nothing")
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
	for _, name := range []string{"main", "linked"} {
		repo := filepath.Join(dir, name)
		putFile(t, filepath.Join(repo, "b.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"))
		for _, arguments := range [][]string{
			{"validate", repo, "--schemas", filepath.Join(dir, "schemas"), "--format", "json"},
			{"validate", repo, "--changed-since", "HEAD", "--format", "json"},
			{"validate", "--format", "json"},
			{"diff", repo, "--from", "HEAD", "--format", "json"},
			{"build", repo, "--root", "clusters/one"},
		} {
			t.Run(fmt.Sprint(name, arguments[0], len(arguments)), func(t *testing.T) {
				t.Parallel()
				// An image that begins as the second one is not confined by a first one.
				refused := `{"restarts": 1, "refused": [{"unit": {"kind": "chart", "file": "clusters/one/release.yaml", "line": 1, "name": "HelmRelease flux-system/runaway"}, "what": "takes more than 160 MB of memory"}]}`
				outs := map[string]string{}
				for _, how := range []string{"", "FLEETWRIGHT_RESTARTED=" + refused} {
					cmd := exec.CommandContext(t.Context(), binary, arguments...)
					cmd.Dir = repo
					if cmd.Env = strangerEnv(); how != "" {
						cmd.Env = append(cmd.Env, how)
					}
					out, err := cmd.CombinedOutput()
					if status := cmd.ProcessState.ExitCode(); status != 0 && status != 1 {
						t.Fatalf("%q: %v\n%s", arguments, err, out)
					}
					outs[how] = withoutTimes(out)
				}
				if a, b := outs[""], outs["FLEETWRIGHT_RESTARTED="+refused]; a != b {
					t.Errorf("confined:\n%s\nnot confined:\n%s", tail(a), tail(b))
				}
			})
		}
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

// TestConfinedCommands: docs/security.md lists each command that is confined, and no other; what is in the
// table are commands with such flags.
func TestConfinedCommands(t *testing.T) {
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n| Command that started again |")
	table, _, _ = strings.Cut(table, "\n\n")
	root := newRoot(streams{})
	for name, c := range confinements {
		words := strings.Fields(name)
		found, rest, err := root.Find(words)
		if err != nil || len(rest) > 0 {
			t.Errorf("%q is no command: %v", name, err)
			continue
		}
		if c.with != "" {
			if found.Flags().Lookup(c.with) == nil {
				t.Errorf("%q has no flag --%s", name, c.with)
			}
			name += " --" + c.with
		}
		if !strings.Contains(table, "`"+name+"`") {
			t.Errorf("docs/security.md doesn't list %q", name)
		}
	}
	for _, words := range strings.Split(table, "`") {
		name, _, _ := strings.Cut(words, " --")
		found, rest, err := root.Find(strings.Fields(name))
		if err != nil || len(rest) > 0 || found == root || found.HasSubCommands() || name == "fn" {
			continue
		}
		if _, ok := confinements[name]; !ok {
			t.Errorf("docs/security.md lists %q, which is not confined", name)
		}
	}
}

// TestReads: what a command may read is what its command line names.
func TestReads(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"repo/.git/HEAD", "repo/part/a", "charts/a", "source/a"} {
		putFile(t, filepath.Join(dir, name), nil)
	}
	for line, want := range map[string][]string{
		"validate repo --charts charts --format json":    {"charts", "repo"},
		"validate repo/part --source flux/a=source":      {"repo/part", "source"},
		"bootstrap values media/plex repo":               {"repo"},
		"bootstrap values media/plex":                    {"."},
		"secrets check":                                  {"."},
		"diff repo --from HEAD --to other --format json": {"repo"},
	} {
		root := newRoot(streams{env: func(string) string { return "" }})
		found, rest, err := root.Find(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		found.Args, found.RunE = nil, func(c *cobra.Command, args []string) error {
			got = commandLine{c, args, func(string) string { return "" }}.reads()
			return nil
		}
		root.SetArgs(strings.Fields(line))
		if err := root.Execute(); err != nil {
			t.Fatal(err, rest)
		}
		got = slices.DeleteFunc(got, func(path string) bool { return strings.Contains(path, ".git") })
		if !slices.Equal(got, want) {
			t.Errorf("%s: reads %q, want %q", line, got, want)
		}
	}
}
