package testpeer

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// execute runs the tool on PATH, with an empty home folder.
func (c Command) execute(t testing.TB) entry {
	t.Helper()
	for _, tool := range c.tools() {
		checkTool(t, tool)
	}
	home, path, dir := t.TempDir(), os.Getenv("PATH"), c.Dir
	if dir == "" {
		dir = t.TempDir()
	}
	if c.Path != "" {
		path = c.Path + string(os.PathListSeparator) + path
	}
	if c.Calls != "" {
		path = c.shim(t, home) + string(os.PathListSeparator) + path
	}
	for _, folder := range []string{"tmp", "calls"} {
		if err := os.MkdirAll(filepath.Join(home, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), c.Tool, c.Args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(c.Stdin)
	cmd.Env = append([]string{
		"PATH=" + path, "HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "XDG_CACHE_HOME=" + home, "XDG_CONFIG_HOME=" + home,
		"XDG_DATA_HOME=" + home, "HELMFILE_CACHE_HOME=" + home, "HELMFILE_UPGRADE_NOTICE_DISABLED=1", "NO_COLOR=1", "GIT_CONFIG_NOSYSTEM=1",
	}, c.Env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	p := append(places{home, "${home}"}, c.places()...)
	kept := p.printed(stdout.String())
	if c.Keep != nil {
		kept = c.Keep(kept)
	}
	now := entry{
		Command: p.printed(c.line()), Exit: cmd.ProcessState.ExitCode(), Stdout: linesOf(kept),
		Files: c.written(t, p), Calls: c.called(t, filepath.Join(home, "calls"), p),
	}
	if c.Warns || now.Exit != 0 {
		now.Stderr = linesOf(p.printed(stderr.String()))
	}
	return now
}

// checkTool fails if a tool is not the one that `make peers` builds.
func checkTool(t testing.TB, tool string) {
	t.Helper()
	at, err := exec.LookPath(tool)
	if err != nil {
		t.Fatalf("%v: make peers builds it", err)
	}
	for _, version := range versions(t, []string{tool}) {
		info, err := buildinfo.ReadFile(at)
		if err != nil {
			t.Fatal(err)
		}
		path := modules[tool].path
		if info.Main.Path == path && info.Main.Version == version {
			return
		}
		for _, m := range info.Deps {
			if m.Path == path && m.Version == version {
				return
			}
		}
		t.Fatalf("%s is not %s %s: run \"make peers\" to build it", at, path, version)
	}
}

// written returns the files that the tool wrote.
func (c Command) written(t testing.TB, p places) map[string]lines {
	t.Helper()
	if c.Writes == "" {
		return nil
	}
	all := map[string]lines{}
	for _, file := range filesIn(t, c.Writes) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(c.Writes, file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(content)
		if c.Sums {
			text = "sha256:" + Digest(text)
		}
		all[filepath.ToSlash(rel)] = linesOf(p.printed(text))
	}
	return all
}

// call is a call of our command by a tool.
type call struct {
	Args   []string `json:"args"`
	Stdin  lines    `json:"stdin,omitempty"`
	Answer string   `json:"answer"` // a digest of its output
	Exit   int      `json:"exit,omitempty"`
}

// shim replaces the program that the tool calls, and records each call.
const shim = `#!/bin/sh
at=%[1]s/$(ls %[1]s | wc -l)
mkdir "$at"
for arg; do printf '%%s\n' "$arg"; done > "$at/args"
cat > "$at/stdin"
%[2]s "$@" < "$at/stdin" > "$at/stdout" 2> "$at/stderr"
code=$?
echo $code > "$at/exit"
cat "$at/stderr" >&2
cat "$at/stdout"
exit $code
`

func (c Command) shim(t testing.TB, home string) string {
	t.Helper()
	program, err := exec.LookPath(c.Calls)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := fmt.Sprintf(shim, filepath.Join(home, "calls"), program)
	if err := os.WriteFile(filepath.Join(dir, c.Calls), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// called returns the calls that the shim recorded.
func (c Command) called(t testing.TB, dir string, p places) []call {
	t.Helper()
	folders, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []call
	for i := range folders {
		read := func(name string) string {
			content, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i), name))
			if err != nil {
				t.Fatal(err)
			}
			return p.named(string(content))
		}
		exit, err := strconv.Atoi(strings.TrimSpace(read("exit")))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, call{
			Args: strings.Split(strings.TrimSuffix(read("args"), "\n"), "\n"), Stdin: linesOf(read("stdin")),
			Answer: Digest(read("stdout") + read("stderr")), Exit: exit,
		})
	}
	return all
}

// answer repeats the calls of a record, and compares the answers.
func (c Command) answer(t testing.TB, calls []call) {
	t.Helper()
	for _, each := range calls {
		p := c.places()
		args := slices.Clone(each.Args)
		for i := range args {
			args[i] = p.real(args[i])
		}
		cmd := exec.CommandContext(t.Context(), c.Calls, args...)
		cmd.Dir, cmd.Stdin = c.Dir, strings.NewReader(p.real(each.Stdin.text()))
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		if got := Digest(p.named(stdout.String()) + p.named(stderr.String())); got != each.Answer || cmd.ProcessState.ExitCode() != each.Exit {
			t.Errorf("%s calls %s %q, whose answer differs from the record: find out why, or run make records\nexit status %d\n%s%s",
				c.Tool, c.Calls, args, cmd.ProcessState.ExitCode(), &stdout, &stderr)
		}
	}
}
