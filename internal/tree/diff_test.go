package tree

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func diffOf(tb testing.TB, p *Plan, color bool) string {
	tb.Helper()
	var out bytes.Buffer
	if err := p.Diff(&out, color); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

// TestDiffApplies gives the diff to git, which makes the folder what was
// rendered.
func TestDiffApplies(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Repeat("line\n", 20)
	before := Memory{
		"updated.yaml": []byte("a: 1\n" + lines + "z: 1\n"), "no newline": []byte("a\nb"), "newline": []byte("a\nb\n"),
		"gone.yaml": []byte("gone: 1\n"), "gone empty": {}, "gone/no newline": []byte("x"), "to empty": []byte("x\n"),
		"from empty": {}, `quo"ted\.yaml`: []byte("a\n"), "ümläut ☃.yaml": []byte("a\n"), "crlf": []byte("a\r\nb\r\n"),
		"edited.yaml": []byte("was: 1\n"), "dashes": []byte("-- a\n"), "pluses": []byte("++ b/x\n"), "left": []byte("was"),
	}
	first := &Tree{}
	for _, p := range slices.Sorted(maps.Keys(before)) {
		// A path with a backslash is none that is rendered; only the diff's
		// quoting is of interest.
		if !strings.Contains(p, `\`) {
			add(t, first, p, Managed, string(before[p]))
		}
	}
	plan, err := Compare(first, before, &Inventory{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	before = afterwards(before, plan)
	before["edited.yaml"], before["left"], before["foreign.yaml"] = []byte("mine: 1\n"), []byte("mine"), []byte("mine: 2\n")

	next := &Tree{}
	for p, content := range map[string]string{
		"updated.yaml": "a: 2\n" + lines + "z: 2\n", "no newline": "a\nc", "newline": "a\nb",
		"to empty": "", "from empty": "x", `quo"ted.yaml`: "b\n", "ümläut ☃.yaml": "b\n", "crlf": "a\r\nc\r\n",
		"edited.yaml": "new: 1\n", "dashes": "-- b\n", "pluses": "++ b/y\n", "foreign.yaml": "new: 2\n",
		"new.yaml": "a: 1\n", "new empty": "", "new/deep/no newline": "x", "new\u00a0space": "x",
	} {
		add(t, next, p, Managed, content)
	}
	plan, err = Compare(next, before, mustInventory(t, before), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := kinds(plan), "edited.yaml edited, foreign.yaml foreign, left left-behind"; got != want {
		t.Fatalf("conflicts %s, want %s", got, want)
	}
	dir := t.TempDir()
	put(t, dir, before)
	text := diffOf(t, plan, false)
	for _, args := range [][]string{{"apply", "--check", "-"}, {"apply", "--whitespace=nowarn", "-"}} {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = append(cmd.Environ(), "GIT_CEILING_DIRECTORIES="+dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s\n%s", strings.Join(args, " "), err, out, text)
		}
	}
	want := Memory{`quo"ted\.yaml`: []byte("a\n")}
	for f := range next.All() {
		want[f.Path] = f.Content
	}
	got := snapshot(t, dir)
	inv, err := DecodeInventory(InventoryPath, got[InventoryPath])
	if err != nil || !inv.Equal(plan.Inventory) {
		t.Errorf("the inventory is not the plan's: %v", err)
	}
	delete(got, InventoryPath)
	if !same(got, want) {
		t.Errorf("after the diff: %q, want %q", got, want)
	}
}

func TestDiffText(t *testing.T) {
	p := &Plan{
		Steps: []Step{
			{Path: "b", Action: Update, Old: []byte("one\n"), New: []byte("two")},
			{Path: "c", Action: Keep},
			{Path: "d", Action: Delete, Old: []byte("three\n")},
		},
		Conflicts: []Conflict{
			{Path: "a", Kind: Blocked, At: "a", What: ASymlink, Desired: []byte("x")},
			{Path: "c2", Kind: Edited, Current: []byte("mine\x1b[2J\n"), Desired: []byte("ours\n")},
			{Path: "e", Kind: LeftBehind},
		},
	}
	want := `# "a" cannot be written: "a" is a symbolic link
diff --git a/b b/b
--- a/b
+++ b/b
@@ -1,1 +1,1 @@
-one
+two
\ No newline at end of file
# "c2" was edited after it was rendered: not changed
# "c2" is not shown: line 1 contains the control or format character U+001B
diff --git a/d b/d
deleted file mode 100644
--- a/d
+++ /dev/null
@@ -1,1 +0,0 @@
-three
# "e" is no longer generated, but was edited: not deleted, and no longer managed by fleetwright
# "e" is not shown: it is too large or not a regular file
`
	if got := diffOf(t, p, false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	colored := diffOf(t, p, true)
	if !strings.Contains(colored, "\x1b[31m-one\x1b[0m\n") || !strings.Contains(colored, "\x1b[31m-mine\ufffd[2J\x1b[0m\n") {
		t.Errorf("in color: %q", colored)
	}
	if got := string(p.Conflicts[1].Diff()); !strings.HasPrefix(got, `# "c2" was edited`) || !strings.Contains(got, "is not shown") {
		t.Errorf("the conflict's diff is %q", got)
	}
}

// TestDiffShowsNoSecret checks that a user's file in the way is not printed when
// it holds a secret, nor what is encrypted.
func TestDiffShowsNoSecret(t *testing.T) {
	const secret = "aHVudGVyMg=="
	for name, hidden := range map[string]string{
		"Secret":         "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  password: " + secret + "\n",
		"second":         "a: 1\n---\nkind: \"Secret\"\nstringData: {password: " + secret + "}\n",
		"JSON":           `{"apiVersion":"v1","kind":"Secret","data":{"password":"` + secret + `"}}`,
		"in a list":      "kind: List\nitems:\n- data: {a: " + secret + "}\n  kind: Secret\n",
		"age key":        "# AGE-SECRET-KEY-1" + secret,
		"private key":    "-----BEGIN OPENSSH PRIVATE KEY-----\n" + secret + "\n",
		"no text":        secret + "\x00",
		"other has sops": "kind: Secret\ndata: {a: ENC}\nsops: {}\n---\nkind: Secret\ndata: {a: " + secret + "}\n",
	} {
		p := &Plan{Conflicts: []Conflict{{Path: "a", Kind: Foreign, Current: []byte(hidden), Desired: []byte("a: 1\n")}}}
		if got := diffOf(t, p, false); strings.Contains(got, secret) || !strings.Contains(got, "is not shown") {
			t.Errorf("%s: %s", name, got)
		}
	}
	const encrypted = "kind: Secret\ndata:\n  a: ENC[AES256_GCM,data:" + secret + "]\nsops:\n    mac: ENC[AES256_GCM,data:" + secret + "]\n"
	for want, step := range map[string]Step{
		"encrypted, and would be created":  {New: []byte(encrypted)},
		"encrypted, and would be deleted":  {Old: []byte(encrypted)},
		"encrypted, and would be replaced": {Old: []byte(encrypted), New: []byte("a: 1\n")},
	} {
		step.Path = "a"
		if got := diffOf(t, &Plan{Steps: []Step{step}}, false); got != "# \"a\" is not shown: it is "+want+"\n" {
			t.Errorf("%s: %s", want, got)
		}
	}
	p := &Plan{Conflicts: []Conflict{{Path: "a", Kind: Edited, Current: []byte(encrypted), Desired: []byte("a: 1\n")}}}
	if got, want := diffOf(t, p, false), "# \"a\" was edited after it was rendered: not changed\n# \"a\" is not shown: it is encrypted\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for name, shown := range map[string]string{
		"not quite": "kind: Secret\ndata:\n  a: ENC[AES256_GCM,data:" + secret + "]\nsops:\n  mac: x\n",
		"reference": "kind: HelmRelease\nspec:\n  valuesFrom:\n  - kind: Secret\n    name: " + secret + "\n",
	} {
		p := &Plan{Conflicts: []Conflict{{Path: "a", Kind: Foreign, Current: []byte(shown), Desired: []byte("a: 1\n")}}}
		if got := diffOf(t, p, false); !strings.Contains(got, secret) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// failingWriter fails after some bytes.
type failingWriter struct{ left int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestDiffWriteError(t *testing.T) {
	p := &Plan{Steps: []Step{{Path: "b", Action: Create, New: bytes.Repeat([]byte("x\n"), 10_000)}}}
	if err := p.Diff(&failingWriter{left: 100}, false); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("error %v", err)
	}
}
