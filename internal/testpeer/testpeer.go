// Package testpeer gives tests what the real kustomize, helm, helmfile, sops, age and flux-operator print. The records in
// testdata/peers hold it, so that the tests run without the tools. FLEETWRIGHT_PEERS=live runs the tools on PATH, and fails
// where a record is not what they print; FLEETWRIGHT_PEERS=record rewrites the records.
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

// Command is a run of a tool. What its result depends on is its key: the arguments, the variables, and all that it reads.
type Command struct {
	Tool  string
	With  []string // other tools that it calls
	Calls string   // a program of ours that it calls: a replay makes the same calls, and compares the answers
	Args  []string
	Env   []string // beside PATH and the folders of a user
	Stdin string
	Path  string   // a folder with programs that come before those on PATH
	Dir   string   // a new folder by default
	Reads []string // files and folders
	// Writes is a folder whose files belong to the result, and may be one that it reads.
	Writes string
	// Places names what differs from run to run, as the address of a server. Dir, Reads and Writes need no names.
	Places map[string]string
	// Keep is what the test reads of stdout, if that is not all.
	Keep func(stdout string) string
	// Warns keeps stderr where the command succeeds, too.
	Warns bool
	// Sums puts the digests of the written files in their places, which Places can name.
	Sums bool
	// Unrecorded is for tests with the build tag peers, which always run the tool.
	Unrecorded bool
	// Alike is what does not differ between two runs on the same input, if that is not all of stdout and of a file. Where
	// a run is like its record, the record is the result.
	Alike func(text string) string
}

// Result is what a tool prints, and how it ends.
type Result struct {
	Stdout, Stderr string
	Exit           int
}

// Digest keeps so much of a text that a change is noticed.
func Digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// The values of the variable FLEETWRIGHT_PEERS.
const (
	replay = ""
	live   = "live"
	record = "record"
)

var mode = os.Getenv("FLEETWRIGHT_PEERS")

// Output is what the command prints; the test ends where the command fails.
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

// same says whether two records differ in nothing but what differs each time.
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
