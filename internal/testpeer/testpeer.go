// Package testpeer returns the output of the real kustomize, helm, helmfile, sops, age and flux-operator to tests. The output is
// recorded in testdata/peers, so that the tests run without the tools. FLEETWRIGHT_PEERS=live runs the tools on PATH, and fails
// if a record differs from their output; FLEETWRIGHT_PEERS=record rewrites the records.
package testpeer

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Command is a run of a tool. All inputs of the run are its key: the arguments, the variables, and all files that it reads.
type Command struct {
	Tool  string
	With  []string // other tools that it calls
	Calls string   // a program of ours that it calls: a replay repeats the calls, and compares the answers
	Args  []string
	Env   []string // in addition to PATH and the folders of a user
	Stdin string
	Path  string   // a folder with programs that come before those on PATH
	Dir   string   // a new folder by default
	Reads []string // files and folders
	// Writes is a folder whose files are part of the result. The tool may also read it.
	Writes string
	// Places names strings that differ from run to run, such as the address of a server. Dir, Reads and Writes need no names.
	Places map[string]string
	// Keep returns the part of stdout that the test needs; nil keeps all.
	Keep func(stdout string) string
	// Warns records stderr even if the command succeeds.
	Warns bool
	// Sums records digests instead of the written files. Places can name the digests.
	Sums bool
	// Unrecorded is for tests with the build tag peers, which always run the tool.
	Unrecorded bool
	// Alike returns the part of stdout, or of a file, that does not differ between two runs on the same input; nil compares
	// all. If a run equals its record in that part, the record is the result.
	Alike func(text string) string
}

// Result is the output of a tool, and its exit status.
type Result struct {
	Stdout, Stderr string
	Exit           int
}

// Digest returns a digest by which a test notices a change of a string.
func Digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// The values of the variable FLEETWRIGHT_PEERS.
const (
	replay = ""
	live   = "live"
	record = "record"
)

var mode = os.Getenv("FLEETWRIGHT_PEERS")

// Output returns the stdout of the command. The test ends if the command fails.
func (c Command) Output(t testing.TB) string {
	t.Helper()
	result := c.Run(t)
	if result.Exit != 0 {
		t.Fatalf("%s %s: exit status %d\n%s%s", c.Tool, strings.Join(c.Args, " "), result.Exit, result.Stdout, result.Stderr)
	}
	return result.Stdout
}

// Run replays the command, or runs it.
func (c Command) Run(t testing.TB) Result {
	t.Helper()
	b, p, key := bookOf(t), c.places(), c.key(t)
	if c.Unrecorded {
		now := c.execute(t)
		return Result{p.real(now.Stdout.text()), p.real(now.Stderr.text()), now.Exit}
	}
	old, known := b.find(key)
	if mode == replay {
		if !known {
			t.Fatalf("testdata/peers has no record of %q with these inputs: run make records", p.named(c.line()))
		}
		b.checkVersions(t, c.tools())
		c.answer(t, old.Calls)
		c.write(t, old.Files)
		return Result{p.real(old.Stdout.text()), p.real(old.Stderr.text()), old.Exit}
	}
	now := c.execute(t)
	if now.Key = key; !slices.Contains(c.Reads, c.Writes) && c.key(t) != key {
		t.Errorf("%s changes what it reads, so that the next record would have another key", now.Command)
	}
	same := known && c.same(old, now)
	if same {
		now = old
	}
	c.write(t, now.Files)
	switch {
	case mode == record:
		b.put(t, now, c.tools())
	case mode != live:
		t.Fatalf("FLEETWRIGHT_PEERS is %q: want live or record", mode)
	case !known:
		t.Errorf("testdata/peers has no record of %q with these inputs: run make records", now.Command)
	case !same:
		t.Errorf("%s: the record differs from what the tool does now: run make records\nrecorded: %s\nnow: %s", now.Command, old, now)
	default:
		b.checkVersions(t, c.tools())
	}
	return Result{p.real(now.Stdout.text()), p.real(now.Stderr.text()), now.Exit}
}

func (c Command) tools() []string { return append([]string{c.Tool}, c.With...) }

func (c Command) line() string { return strings.Join(append([]string{c.Tool}, c.Args...), " ") }

// same reports whether two records are equal, except for the parts that differ from run to run.
func (c Command) same(a, b entry) bool {
	if c.Alike != nil {
		a.Stdout, b.Stdout = linesOf(c.Alike(a.Stdout.text())), linesOf(c.Alike(b.Stdout.text()))
		a.Files, b.Files = alike(a.Files, c.Alike), alike(b.Files, c.Alike)
	}
	return a.String() == b.String()
}

func alike(files map[string]lines, of func(string) string) map[string]lines {
	out := map[string]lines{}
	for name, content := range files {
		out[name] = linesOf(of(content.text()))
	}
	return out
}

// write writes the files that the tool wrote.
func (c Command) write(t testing.TB, files map[string]lines) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		at := filepath.Join(c.Writes, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(c.places().real(files[name].text())), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
