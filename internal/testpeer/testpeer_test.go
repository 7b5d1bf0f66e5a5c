package testpeer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// judge notes what a test would fail with.
type judge struct {
	*testing.T
	failed string
}

func (j *judge) Errorf(format string, args ...any) { j.failed += fmt.Sprintf(format, args...) }

func (j *judge) Fatalf(format string, args ...any) {
	j.Errorf(format, args...)
	panic(j)
}

// try runs a command as a test function of its own would, in a mode, and returns with what the test fails.
func try(t *testing.T, as string, c Command) (result Result, failed string) {
	t.Helper()
	before := mode
	mode = as
	books.all = map[string]*book{}
	t.Run("one", func(t *testing.T) {
		j := &judge{T: t}
		defer func() {
			if stopped := recover(); stopped != nil && stopped != any(j) {
				panic(stopped)
			}
			failed = j.failed
		}()
		result = c.Run(j)
	})
	mode = before
	return result, failed
}

// A record replaces the tool while the inputs are the same, and only then.
func TestRun(t *testing.T) {
	home := folder
	folder = t.TempDir()
	t.Cleanup(func() { folder, books.all = home, map[string]*book{} })
	in, out := t.TempDir(), t.TempDir()
	put(t, filepath.Join(in, "a"), "text of "+in)
	c := Command{Tool: "sh", Args: []string{"-c", `cat "$0/a"; echo made > "$1/b"; echo "at $0" >&2; exit 3`, in, out}, Reads: []string{in}, Writes: out}
	if _, failed := try(t, replay, c); !strings.Contains(failed, "run make records") {
		t.Errorf("without a record: %q", failed)
	}
	want := Result{"text of " + in, "at " + in + "\n", 3}
	for _, as := range []string{record, live} {
		if got, failed := try(t, as, c); got != want || failed != "" {
			t.Errorf("%s: got %+v, %q", as, got, failed)
		}
	}

	// Elsewhere, and without the tool.
	moved := t.TempDir()
	put(t, filepath.Join(moved, "a"), "text of "+moved)
	out = t.TempDir()
	c.Args[2], c.Args[3], c.Reads, c.Writes = moved, out, []string{moved}, out
	t.Setenv("PATH", "")
	if got, failed := try(t, replay, c); got != (Result{"text of " + moved, "at " + moved + "\n", 3}) || failed != "" {
		t.Errorf("replayed: got %+v, %q", got, failed)
	}
	if made, err := os.ReadFile(filepath.Join(out, "b")); err != nil || string(made) != "made\n" {
		t.Errorf("the written file: %q, %v", made, err)
	}
	put(t, filepath.Join(moved, "a"), "another text")
	if _, failed := try(t, replay, c); !strings.Contains(failed, "run make records") {
		t.Errorf("with another input: %q", failed)
	}
}

// A tool that prints something else than its record fails, but for what differs each time: then the record is the result.
func TestLive(t *testing.T) {
	home := folder
	folder = t.TempDir()
	t.Cleanup(func() { folder, books.all = home, map[string]*book{} })
	at := filepath.Join(t.TempDir(), "n")
	c := Command{Tool: "sh", Args: []string{"-c", `echo >> "$0"; echo run $(wc -l < "$0")`, at}, Places: map[string]string{at: "n"}}
	if got, failed := try(t, record, c); got.Stdout != "run 1\n" || failed != "" {
		t.Errorf("got %+v, %q", got, failed)
	}
	if _, failed := try(t, live, c); !strings.Contains(failed, "the record differs") {
		t.Errorf("another output: %q", failed)
	}
	c.Alike = func(text string) string { return regexp.MustCompile(`\d`).ReplaceAllString(text, "N") }
	if got, failed := try(t, live, c); got.Stdout != "run 1\n" || failed != "" {
		t.Errorf("got %+v, %q", got, failed)
	}
	if got, failed := try(t, record, c); got.Stdout != "run 1\n" || failed != "" {
		t.Errorf("a record that is good is rewritten: %+v, %q", got, failed)
	}
}

// A record of another version than that of the file go.mod fails.
func TestVersions(t *testing.T) {
	b := &book{Tools: versions(t, []string{"helm", "make"})}
	if len(b.Tools) != 1 || !strings.HasPrefix(b.Tools["helm"], "v3.") {
		t.Errorf("got %v", b.Tools)
	}
	j := &judge{T: t}
	if b.checkVersions(j, []string{"helm", "make"}); j.failed != "" {
		t.Error(j.failed)
	}
	b.Tools["helm"] = "v3.0.0"
	if b.checkVersions(j, []string{"helm", "make"}); !strings.Contains(j.failed, "run make records") {
		t.Errorf("got %q", j.failed)
	}
}

// Each file of records belongs to a test.
func TestRecordsHaveTests(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root(t), "*/testdata/peers/*.json"))
	for _, deeper := range []string{"*/*/testdata/peers/*.json", "*/*/*/testdata/peers/*.json"} {
		more, _ := filepath.Glob(filepath.Join(root(t), deeper))
		files = append(files, more...)
	}
	if err != nil || len(files) == 0 {
		t.Fatal("there are no records")
	}
	for _, file := range files {
		function := "func " + strings.TrimSuffix(filepath.Base(file), ".json") + "(t *testing.T)"
		if !declared(t, filepath.Join(filepath.Dir(file), "../.."), function) {
			t.Errorf("%s: its test is gone; remove it", file)
		}
	}
}

func declared(t *testing.T, dir, function string) bool {
	t.Helper()
	tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range tests {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), function) {
			return true
		}
	}
	return false
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
