package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/testflux"
	"github.com/fleetwright/fleetwright/internal/testpeer"
)

var update = flag.Bool("update", false, "rewrite what the tests compare with")

func TestMain(m *testing.M) {
	becomeOther()
	testscript.Main(tests{m}, map[string]func(){"fleetwright": patient})
}

// patient is main with guards that no test meets, on however slow or small a machine. Their own tests and those of the part
// hostile have the guards of main.
func patient() { os.Exit(run(bounds.Limits{Unit: time.Hour, Time: time.Hour, Memory: 16 << 30})) }

// tests removes what tests share when all of them have ended.
type tests struct{ *testing.M }

func (t tests) Run() int {
	status := t.M.Run()
	if err := os.RemoveAll(shared); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// shared is the folder of what tests share; "" until there is one.
var shared string

// built builds the command once, without cgo, whose threads begin with a call that a confined process must not make.
var built = sync.OnceValues(func() (string, error) {
	var err error
	if shared, err = os.MkdirTemp("", "fleetwright"); err != nil {
		return "", err
	}
	binary := filepath.Join(shared, "fleetwright")
	build := exec.Command("go", "build", "-tags=disable_grpc_modules", "-trimpath", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return binary, nil
})

// builtCommand is the command as it is released. Tests that need no such command run the one on PATH, which the test
// program plays.
func builtCommand(t testing.TB) string {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

func TestScripts(t *testing.T) { runScripts(t, scriptsToRun(t)) }

// runScripts runs scripts. The lines in them with the condition peers run other tools, and only with the build tag peers.
func runScripts(t *testing.T, files []string) {
	t.Helper()
	manifests := testflux.Manifests(t)
	functions, err := filepath.Abs("../../functions")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("GIT_CONFIG_NOSYSTEM", "1")
			e.Setenv("GIT_AUTHOR_NAME", "Ada")
			e.Setenv("GIT_AUTHOR_EMAIL", "ada@example.com")
			e.Setenv("GIT_COMMITTER_NAME", "Ada")
			e.Setenv("GIT_COMMITTER_EMAIL", "ada@example.com")
			e.Setenv("NO_COLOR", "1")
			e.Setenv("FLUX_MANIFESTS", manifests)
			e.Setenv("FUNCTIONS", functions)
			e.Setenv("EXAMPLES", examples)
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "peers":
				return peers, nil
			case "root":
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "copytree": copyTree, "agekey": ageKey, "sametree": sameTree},
	})
}

// sideBySide are the scripts of commands that do work side by side, which is what the race detector is for.
var sideBySide = []string{"build", "commit", "diff", "fetch", "fn", "images", "render", "bootstrap_verify", "secrets_check", "secrets_encrypt", "secrets_sync", "secrets_updatekeys", "validate", "validate_branches", "validate_changed", "validate_fix"}

// scriptsToRun are the files of all scripts; with the race detector, which makes each start of the command slow, of sideBySide.
func scriptsToRun(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts (%v)", err)
	}
	if !raced {
		return files
	}
	var some []string
	for _, name := range sideBySide {
		some = append(some, filepath.Join("testdata", name+".txtar"))
	}
	return some
}

// status runs a command and checks its exit status: status N command args….
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command args…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// copyTree copies a folder, which testscript's cp doesn't: copytree FROM TO.
func copyTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copytree FROM TO")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(args[0])))
}

// sameTree compares the files of two folders, which testscript's cmp doesn't: sametree A B.
func sameTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sametree A B")
	}
	var texts [2]map[string]string
	for i, dir := range args {
		texts[i] = map[string]string{}
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(ts.MkAbs(dir), file)
			texts[i][name] = string(data)
			return err
		}))
	}
	for name, text := range texts[0] {
		if other, found := texts[1][name]; !found || other != text {
			ts.Fatalf("%s and %s differ in %s", args[0], args[1], name)
		}
	}
	if len(texts[0]) != len(texts[1]) {
		ts.Fatalf("%s has %d files, and %s %d", args[0], len(texts[0]), args[1], len(texts[1]))
	}
	if len(texts[0]) == 0 {
		ts.Fatalf("%s has no files", args[0])
	}
}

func TestEveryCommandHasAScript(t *testing.T) {
	root := newRoot(streams{env: func(string) string { return "" }})
	for _, c := range below(root) {
		if c.HasSubCommands() || c.Hidden || c.Name() == "help" || strings.HasPrefix(c.CommandPath(), "fleetwright completion ") {
			continue
		}
		name := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "fleetwright "), " ", "_")
		scripts, err := filepath.Glob("testdata/" + name + "*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		runs := regexp.MustCompile(`(?m)^(exec|status \d) ` + c.CommandPath() + `( |$)`)
		if !slices.ContainsFunc(scripts, func(file string) bool {
			script, err := os.ReadFile(file)
			return err == nil && runs.Match(script)
		}) {
			t.Errorf("no testdata/%s*.txtar runs %q", name, c.CommandPath())
		}
	}
}

// The output of the RenderFleet example stands beside it, to look at.
func TestExampleOfRenderFleet(t *testing.T) {
	dir, err := filepath.Abs("../../functions/renderfleet")
	if err != nil {
		t.Fatal(err)
	}
	kustomize := testpeer.Command{Tool: "kustomize", Calls: "fleetwright", Args: []string{"build", "--enable-alpha-plugins", "--enable-exec", dir}, Reads: []string{dir}}
	golden(t, "../../functions/testdata/renderfleet/expected.yaml", []byte(kustomize.Output(t)))
}

// golden compares with a file, or rewrites it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff.Diff(file, want, "now", got); d != nil {
		t.Errorf("run the tests with -update:\n%s", d)
	}
}

// putFile writes a file and the folders above it.
func putFile(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
