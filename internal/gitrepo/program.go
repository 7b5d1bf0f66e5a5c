package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/output"
)

// program runs the user's git in a folder. Filters and signatures are as the user configured them; hooks, file system
// monitors and submodules are left out, and nothing prompts.
type program struct {
	path, dir string
	env       []string
	// step is the hook of tests, see disk.
	step func(op, path string)
	// held is a lock that git inherits, so that the next command waits for a git that outlives this process.
	held *os.File
}

// newProgram returns git for a folder; dir is empty for none. It fails with ErrNoGit if git is not on PATH.
func newProgram(dir string, env func(string) string) (program, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return program{}, ErrNoGit
	}
	p := program{path: path, dir: dir, env: gitEnvironment(env)}
	if dir == "" {
		p.dir = filepath.VolumeName(path) + string(filepath.Separator)
		p.env = append(p.env, "GIT_DIR="+os.DevNull)
	}
	return p, nil
}

// elsewhere are the variables that point git to another repository or index, or let it print or prompt. Source: git
// rev-parse --local-env-vars.
var elsewhere = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_NAMESPACE", "GIT_CONFIG",
	"GIT_ASKPASS", "SSH_ASKPASS", "LANGUAGE",
}

// gitEnvironment returns the environment of git: that of this process, except that env returns the variables for git's
// configuration.
func gitEnvironment(env func(string) string) []string {
	configured := func(name string) bool {
		return name == "HOME" || name == "XDG_CONFIG_HOME" || name == "EMAIL" || strings.HasPrefix(name, "GIT_CONFIG_") || strings.HasPrefix(name, "GIT_ATTR_")
	}
	all := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(elsewhere, name) || strings.HasPrefix(name, "GIT_TRACE") || configured(name)
	})
	names := []string{"HOME", "XDG_CONFIG_HOME", "EMAIL", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS",
		"GIT_CONFIG_COUNT", "GIT_ATTR_NOSYSTEM"}
	for i := 0; i < 1000 && env(fmt.Sprint("GIT_CONFIG_KEY_", i)) != ""; i++ {
		names = append(names, fmt.Sprint("GIT_CONFIG_KEY_", i), fmt.Sprint("GIT_CONFIG_VALUE_", i))
	}
	for _, name := range names {
		if value := env(name); value != "" || strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
			all = append(all, name+"="+value)
		}
	}
	return append(all, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1")
}

// always are the options of each git call. They turn off programs and changes that the call does not ask for.
var always = []string{
	"--no-pager", "--literal-pathspecs", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.safecrlf=false",
	"-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "index.sparse=false", "-c", "i18n.commitEncoding=UTF-8", "-c", "core.askPass=",
}

// with returns the same program with more variables in its environment.
func (p program) with(env ...string) program {
	p.env = append(slices.Clip(p.env), env...)
	return p
}

// run returns the output of git. The error contains git's messages.
func (p program) run(ctx context.Context, stdin string, args ...string) (string, error) {
	if p.step != nil {
		p.step("git", verb(args))
	}
	c := exec.CommandContext(ctx, p.path, append(slices.Clone(always), args...)...)
	c.Dir, c.Env, c.Stdin = p.dir, p.env, strings.NewReader(stdin)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr, c.WaitDelay = &out, &said, 5*time.Second
	if p.held != nil {
		detach(c, p.held)
	}
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", &gitError{verb(args), said.String(), err}
	}
	return out.String(), nil
}

// verb returns the command in the arguments of git.
func verb(args []string) string {
	for args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// gitError is a failure of git.
type gitError struct {
	command, said string
	err           error
}

// mostSaid is the maximum number of lines of git's messages in an error.
const mostSaid = 10

func (e *gitError) Error() string {
	var lines []string
	for line := range strings.Lines(e.said) {
		if line = strings.TrimSpace(output.Line(line)); line == "" || strings.HasPrefix(line, "hint:") {
			continue
		}
		words := strings.Fields(line)
		for i, word := range words {
			words[i] = Redact(word)
		}
		lines = append(lines, strings.Join(words, " "))
	}
	if len(lines) == 0 {
		lines = []string{e.err.Error()}
	}
	return "git " + e.command + ": " + strings.Join(lines[:min(len(lines), mostSaid)], "\n  ")
}

func (e *gitError) Unwrap() error { return e.err }

// says reports whether an error is an error of git whose messages contain a text.
func says(err error, text string) bool {
	var failed *gitError
	return errors.As(err, &failed) && strings.Contains(failed.said, text)
}

// checkOwner returns an error if git refuses to work in the repository because it belongs to another user.
func (p program) checkOwner(ctx context.Context, path string) error {
	// safe.bareRepository forbids to find a bare repository by chance; this one was named.
	_, err := p.run(ctx, "", "-c", "safe.bareRepository=all", "rev-parse", "--git-dir")
	if says(err, "dubious ownership") {
		return advice.New(fmt.Errorf("%w: %q", ErrOwner, path), fmt.Sprintf("if you trust it, run \"git config --global --add safe.directory %s\"", path))
	}
	if err != nil {
		return fmt.Errorf("git cannot work in %q: %w", path, err)
	}
	return nil
}
