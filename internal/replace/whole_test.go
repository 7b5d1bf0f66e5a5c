package replace

import (
	"errors"
	"io/fs"
	"os"
	"testing"
)

// A file is written whole or not at all, and no draft stays.
func TestWhole(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	text := func(text string) func(*os.File) error {
		return func(f *os.File) error {
			_, err := f.WriteString(text)
			return err
		}
	}
	failed := errors.New("no room")
	fails := func(f *os.File) error { return errors.Join(text("half")(f), failed) }
	for _, c := range []struct {
		name string
		do   func(*os.Root, string, string, fs.FileMode, func(*os.File) error) error
		with func(*os.File) error
		want error
		text string
	}{
		{"fails", New, fails, failed, ""},
		{"new", New, text("a"), nil, "a"},
		{"exists", New, text("b"), fs.ErrExist, "a"},
		{"fails", Whole, fails, failed, "a"},
		{"replaced", Whole, text("c"), nil, "c"},
	} {
		if err := c.do(root, "draft", "file", 0o600, c.with); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
		if got, _ := root.ReadFile("file"); string(got) != c.text {
			t.Errorf("%s: the file is %q, want %q", c.name, got, c.text)
		}
		if _, err := root.Lstat("draft"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the draft is still there", c.name)
		}
	}
	if err := root.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Whole(root, "draft", "folder", 0o600, text("d")); err == nil {
		t.Error("a file replaces a folder")
	}
	if err := Whole(root, "draft", "../file", 0o600, text("d")); err == nil {
		t.Error("a file outside of the folder")
	}
	if _, err := root.Lstat("draft"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a draft stays of what cannot be renamed")
	}
}
