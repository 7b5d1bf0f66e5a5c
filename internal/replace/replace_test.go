package replace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

func folder(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(file, []byte("old "+name), 0o640), os.Chmod(file, 0o640)); err != nil { // whatever the umask is
			t.Fatal(err)
		}
	}
	return dir
}

func content(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAll(t *testing.T) {
	dir := folder(t, "a", "b")
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := All(t.Context(), []Change{{a, []byte("old a"), []byte("new a")}, {b, nil, []byte("new b")}}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(a)
	if err != nil || info.Mode().Perm() != 0o640 || content(t, a) != "new a" || content(t, b) != "new b" {
		t.Errorf("%v %v: %q %q", info, err, content(t, a), content(t, b))
	}
}

// TestNone: where one file can't be replaced, none is, and nothing is left beside them.
func TestNone(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(dir, b string) error
		want  string
	}{
		"gone":    {func(_, b string) error { return os.Remove(b) }, "no such file"},
		"link":    {func(_, b string) error { _ = os.Remove(b); return os.Symlink("a", b) }, "is not a regular file"},
		"folder":  {func(_, b string) error { _ = os.Remove(b); return os.Mkdir(b, 0o700) }, "is not a regular file"},
		"changed": {func(_, b string) error { return os.WriteFile(b, []byte("theirs"), 0o600) }, "changed after it was read"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, "a", "b")
			a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
			if err := c.spoil(dir, b); err != nil {
				t.Fatal(err)
			}
			err := All(t.Context(), []Change{{a, []byte("old a"), []byte("new a")}, {b, []byte("old b"), []byte("new b")}})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), b) {
				t.Errorf("%v: want %q, and the file", err, c.want)
			}
			if got := content(t, a); got != "old a" {
				t.Errorf("the first file holds %q", got)
			}
			if _, err := os.Lstat(filepath.Join(dir, ".fleetwright")); !os.IsNotExist(err) {
				t.Errorf("the journal's folder is left: %v", err)
			}
		})
	}
}

func TestFilesNeverLeavesTheFolder(t *testing.T) {
	dir := folder(t, "a")
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Files(t.Context(), inner, map[string][]byte{"../a": []byte("old a")}, map[string][]byte{"../a": []byte("x")}); err == nil || content(t, filepath.Join(dir, "a")) != "old a" {
		t.Errorf("%v: a file outside of the folder is replaced", err)
	}
}

// TestFilesComparesWithWhatWasRead: what somebody saved after the files were read stays, and so do the others.
func TestFilesComparesWithWhatWasRead(t *testing.T) {
	for name, was := range map[string]map[string][]byte{
		"saved meanwhile": {"a": []byte("old a"), "b": []byte("before the edit")},
		"never read":      {"a": []byte("old a")},
	} {
		dir := folder(t, "a", "b")
		err := Files(t.Context(), dir, was, map[string][]byte{"a": []byte("new a"), "b": []byte("new b")})
		if err == nil || !strings.Contains(err.Error(), "changed after it was read") {
			t.Errorf("%s: %v", name, err)
		}
		if a, b := content(t, filepath.Join(dir, "a")), content(t, filepath.Join(dir, "b")); a != "old a" || b != "old b" {
			t.Errorf("%s: the files hold %q and %q", name, a, b)
		}
	}
	dir := folder(t, "a")
	if err := Files(t.Context(), dir, map[string][]byte{"a": []byte("old a")}, map[string][]byte{"a": []byte("new a")}); err != nil || content(t, filepath.Join(dir, "a")) != "new a" {
		t.Errorf("%v: the file holds %q", err, content(t, filepath.Join(dir, "a")))
	}
}

// ending is a context that ends after a number of questions, which several goroutines may ask.
type ending struct {
	context.Context
	left atomic.Int64
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterrupted: an interrupted run replaces nothing and leaves nothing behind.
func TestInterrupted(t *testing.T) {
	for left := range int64(3) {
		dir := folder(t, "a", "b", "c")
		var changes []Change
		for _, name := range []string{"a", "b", "c"} {
			changes = append(changes, Change{filepath.Join(dir, name), nil, []byte("new")})
		}
		ends := &ending{Context: t.Context()}
		ends.left.Store(left)
		if err := All(ends, changes); !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d files: %v", left, err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 3 {
			t.Errorf("after %d files there are %v, %v", left, entries, err)
		}
		for _, name := range []string{"a", "b", "c"} {
			if got := content(t, filepath.Join(dir, name)); got != "old "+name {
				t.Errorf("after %d files %s holds %q", left, name, got)
			}
		}
	}
}
