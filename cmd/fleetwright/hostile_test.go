//go:build hostile && unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// What a run may cost: most of the time is one unit that exceeds its guard.
const (
	mostTime   = 60 * time.Second
	mostMemory = 5 << 29 // 2 GiB that are alive, and what a value of that size needs to grow
	canary     = "canary-5f0c"
)

// TestHostile runs the command as it is built on hostile repositories. The kernel kills it
// when it starts a process or opens a socket, and tells of each file that it opens; time and
// memory are measured. Where the kernel can't, the rest holds.
func TestHostile(t *testing.T) {
	binary := builtCommand(t)
	h := hostileTest{binary: binary}
	if canConfine(t) {
		h.confine = true
		h.allowed = outsideFiles(t, binary)
	}
	var table strings.Builder
	ends, quick := map[string]int{}, map[string]int{}
	cases := append(hostileCases(), hostileArchives(t)...)
	if len(cases) < 25 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			repo, outside := filepath.Join(dir, "repository"), filepath.Join(dir, "outside")
			writeCanaries(t, outside)
			if err := os.MkdirAll(repo, 0o755); err != nil {
				t.Fatal(err)
			}
			c.make(t, repo, outside)
			var worst cost
			for _, arguments := range c.commands() {
				if took := h.run(t, c, repo, arguments); took.wall >= worst.wall {
					worst = took
				}
			}
			ends[worst.endedBy]++
			if worst.cpu < 2*time.Second {
				quick[worst.endedBy]++
			}
			if worst.wall < 20*time.Second {
				return
			}
			fmt.Fprintf(&table, "| %s | %s | %.1f s | %.1f s | %d MB |\n", strings.ReplaceAll(c.name, "|", `\|`), worst.endedBy, worst.wall.Seconds(), worst.cpu.Seconds(), worst.memory>>20)
		})
	}
	var summary strings.Builder
	for _, by := range slices.Sorted(maps.Keys(ends)) {
		fmt.Fprintf(&summary, "| %s | %d | %d |\n", by, ends[by], quick[by])
	}
	t.Log("\n" + hostileEnds + summary.String())
	if *update && !t.Failed() {
		writeTable(t, "../../docs/security.md", hostileEnds, summary.String())
		writeTable(t, "../../docs/security.md", hostileHead, table.String())
	}
}

// What begins the tables of all cases and of the slow ones in docs/security.md, which TestHostile writes with -update.
const (
	hostileEnds = "| Ended by | Hostile cases | Within 2 s of CPU |\n|---|---|---|\n"
	hostileHead = "| Hostile case | Ended by | Time | Of CPU | Memory |\n|---|---|---|---|---|\n"
)

// writeTable replaces the rows of the table with a head in a page.
func writeTable(t *testing.T, file, head, rows string) {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), head)
	_, after, found := strings.Cut(rest, "\n\n")
	if !found {
		t.Fatalf("%s has no table with the head %s", file, head)
	}
	putFile(t, file, []byte(before+head+rows+"\n"+after))
}

// cost is what a run took, and what ended it.
type cost struct {
	wall, cpu time.Duration
	memory    int64
	endedBy   string
}

// endedBy returns what ended the work on a hostile repository, according to the output.
func endedBy(output string) string {
	switch {
	case strings.Contains(output, "which --memory allows"):
		return "the guard of memory"
	case strings.Contains(output, "calls itself too deep"):
		return "the guard of stacks"
	case strings.Contains(output, " takes more than 30s"):
		return "the guard of a unit"
	case strings.Contains(output, "was not checked: "), strings.Contains(output, "the limit is fixed"):
		return "a counter"
	}
	return "nothing: it is checked whole"
}

// hostileTest says how the command is run.
type hostileTest struct {
	binary  string
	confine bool
	// allowed are the files outside of a repository that the command may open.
	allowed map[string]bool
}

// writeCanaries writes what references out of the repository lead to.
func writeCanaries(t *testing.T, outside string) {
	t.Helper()
	for name, content := range map[string]string{
		"secret.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + canary + "}\n",
		"secret.env":         "A=" + canary + "\n",
		"kustomization.yaml": "resources: [secret.yaml]\n",
		"sub/secret.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + canary + "}\n",
	} {
		putFile(t, filepath.Join(outside, name), []byte(content))
	}
}

// run runs the command, and fails the test when it costs too much, does what it must not, or
// ends otherwise than with a report.
func (h hostileTest) run(t *testing.T, c hostileCase, repo string, arguments []string) cost {
	t.Helper()
	what, stdin := strings.Join(arguments, " "), []byte(nil)
	if arguments[0] == "commit" {
		h.confine = false // it runs git, in the user's own work tree
	}
	if arguments[0] == "fn" {
		stdin, arguments = resourceList(t, repo, arguments[1]), arguments[:1]
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*mostTime)
	defer cancel()
	cmd, start := h.command(ctx, arguments), time.Now()
	cmd.Dir, cmd.Stdin = repo, bytes.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	files, memory, err := h.end(cmd)
	wall := time.Since(start)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q took %s: %v", arguments, wall, err)
	}
	state := cmd.ProcessState
	cpu := state.UserTime() + state.SystemTime()
	t.Logf("%s: %s: %s, %s of CPU, %d MB, status %d", c.name, what, wall.Round(time.Millisecond), cpu.Round(time.Millisecond), memory>>20, state.ExitCode())
	most := mostTime
	if runtime.NumCPU() == 1 {
		most *= 2 // units that take 30 s run one after another
	}
	if slices.Contains(arguments, "--from") || slices.Contains(arguments, "--changed-since") {
		most += mostTime / 2 // each of two revisions has a unit that takes 30 s
	}
	if wall > most || memory > mostMemory {
		t.Errorf("%s took %s and %d MB", what, wall, memory>>20)
	}
	printed := stdout.String()
	if strings.HasSuffix(what, "--format github") {
		printed = ourCommands.ReplaceAllString(printed, "")
	}
	if state.ExitCode() == statusFine && stdout.Len()+stderr.Len() == 0 && !slices.Contains(quiet, arguments[0]) {
		t.Errorf("%s printed nothing", what)
	}
	checkEnd(t, c, state, printed, stderr.String())
	h.checkOpened(t, c, repo, files)
	return cost{wall, cpu, memory, endedBy(stdout.String() + stderr.String())}
}

func (h hostileTest) command(ctx context.Context, arguments []string) *exec.Cmd {
	if h.confine {
		return confinedCommand(ctx, h.binary, arguments...)
	}
	cmd := exec.CommandContext(ctx, h.binary, arguments...)
	cmd.Env = append(strangerEnv(), "PATH=/usr/bin:/bin")
	return cmd
}

func (h hostileTest) end(cmd *exec.Cmd) (files []opened, memory int64, err error) {
	if h.confine {
		return runConfined(cmd)
	}
	err = cmd.Run()
	return nil, mostResident(cmd.ProcessState), err
}

// mostResident is the most memory that an ended process had, in bytes; 0 if it did not start.
func mostResident(state *os.ProcessState) int64 {
	if state == nil {
		return 0
	}
	usage, _ := state.SysUsage().(*syscall.Rusage)
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) //nolint:unconvert // of 32 bits on some systems
	}
	return int64(usage.Maxrss) << 10 //nolint:unconvert // as above
}

// quiet are the commands that print nothing but objects, of which there may be none.
var quiet = []string{"build"}

// checkOpened fails the test when the command opened a file outside of the repository, or
// tried to, or wrote one.
func (h hostileTest) checkOpened(t *testing.T, c hostileCase, repo string, files []opened) {
	t.Helper()
	for _, file := range files {
		inside := isBelow(file.path, repo)
		if !inside && !h.allowed[file.path] {
			t.Errorf("%s was opened", file.path)
		}
		if file.written && file.path != os.DevNull && (!inside || !c.writes) {
			t.Errorf("%s was written", file.path)
		}
	}
}

func checkEnd(t *testing.T, c hostileCase, state *os.ProcessState, stdout, stderr string) {
	t.Helper()
	if strings.Contains("\n"+stdout+"\n"+stderr, "\n::") {
		t.Error("the output has a workflow command")
	}
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		t.Fatalf("it was ended by %v\n%s", status.Signal(), tail(stderr))
	}
	if status := state.ExitCode(); status > statusFindings && status != c.status && (!c.stops || status != statusStopped) {
		t.Errorf("exit status %d\n%s", state.ExitCode(), tail(stderr))
	}
	for _, bad := range []string{canary, "root:x:0", "panic:", "goroutine "} {
		if strings.Contains(stdout+stderr, bad) {
			t.Errorf("the output has %q:\n%s%s", bad, tail(stdout), tail(stderr))
		}
	}
	if bad := control.FindString(stdout + stderr); bad != "" {
		t.Errorf("the output has %q:\n%s%s", bad, tail(stdout), tail(stderr))
	}
	for _, want := range c.want {
		if !strings.Contains(stdout+stderr, want) {
			t.Errorf("no %q in the output:\n%s%s", want, tail(stdout), tail(stderr))
		}
	}
}

// control is what could drive a terminal.
var control = regexp.MustCompile(`[^\n\t\x20-\x7e\x{a0}-\x{200b}\x{2010}-\x{2027}\x{2030}-\x{10ffff}]`)

// outsideFiles are those which the command opens whatever it validates: the kernel's files that Go's runtime reads, and
// those that say how much memory the command has.
func outsideFiles(t *testing.T, binary string) map[string]bool {
	t.Helper()
	repo, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{binary: true, os.DevNull: true}
	putFile(t, filepath.Join(repo, "a.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"))
	files, _, err := runConfined(confinedCommand(t.Context(), binary, "validate", repo))
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for _, file := range files {
		if isBelow(file.path, repo) || file.path == binary {
			continue
		}
		allowed[file.path] = true
		// When the process starts, Helm's library for TOML asks for the time zone, and SOPS' for the
		// machine's audit database.
		if !regexp.MustCompile(`^/(sys|proc|dev|usr/share/zoneinfo)/|^/usr/share/zoneinfo$|^/etc/(localtime|sops/audit\.yaml)$`).MatchString(file.path) {
			t.Errorf("%s is opened whatever is validated", file.path)
		}
	}
	return allowed
}

func isBelow(file, dir string) bool { return file == dir || strings.HasPrefix(file, dir+"/") }

// hostileArchives are the cases in testdata/hostile. A comment's lines "want: TEXT" say what
// the output has, "link: FILE -> TARGET" makes a link; OUTSIDE in a file stands for the folder
// beside the repository.
func hostileArchives(t *testing.T) []hostileCase {
	t.Helper()
	files, err := filepath.Glob("testdata/hostile/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	var cases []hostileCase
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := hostileCase{name: strings.TrimSuffix(filepath.Base(file), ".txtar")}
		links := map[string]string{}
		for line := range strings.Lines(string(archive.Comment)) {
			directive, argument, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch directive {
			case "want":
				c.want = append(c.want, argument)
			case "link":
				name, target, _ := strings.Cut(argument, " -> ")
				links[name] = target
			}
		}
		c.make = func(t *testing.T, repo, outside string) {
			for _, f := range archive.Files {
				putFile(t, filepath.Join(repo, f.Name), bytes.ReplaceAll(f.Data, []byte("OUTSIDE"), []byte(outside)))
			}
			for name, target := range links {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(repo, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(strings.ReplaceAll(target, "OUTSIDE", outside), filepath.Join(repo, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		cases = append(cases, c)
	}
	return cases
}
