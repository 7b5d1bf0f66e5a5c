package cache

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestReadWhatWasWritten(t *testing.T) {
	c := New(filepath.Join(t.TempDir(), "a", "b"))
	if _, err := c.Read(Sum(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty cache gives %v", err)
	}
	for range 2 {
		digest, err := c.Write([]byte("content"))
		if err != nil || digest != Sum([]byte("content")) {
			t.Fatal(digest, err)
		}
		if data, err := c.Read(digest); err != nil || string(data) != "content" {
			t.Errorf("%q, %v", data, err)
		}
	}
	for _, bad := range []string{"", "sha256:", "sha256:../../x", "md5:aa", "sha256:" + strings.Repeat("A", 64)} {
		if _, err := c.Read(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	left, err := os.ReadDir(filepath.Join(c.dir, temporary))
	if err != nil || len(left) > 0 {
		t.Errorf("%d temporary files are left, %v", len(left), err)
	}
}

// What is in the place of a content, and is not that, is not there.
func TestNothingIsTrusted(t *testing.T) {
	c := New(t.TempDir())
	digest, err := c.Write([]byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	at, _ := place(digest)
	file := filepath.Join(c.dir, at)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, poison := range map[string]func() error{
		"other content": func() error { return os.WriteFile(file, []byte("contents"), 0o600) },
		"half of it":    func() error { return os.Truncate(file, 3) },
		"a link":        func() error { return errors.Join(os.Remove(file), os.Symlink(elsewhere, file)) },
		"a folder":      func() error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
	} {
		if err := poison(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(digest); err == nil {
			t.Errorf("%s is read", name)
		}
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("content")); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

func TestPruneAndTrim(t *testing.T) {
	c, now := New(t.TempDir()), time.Now()
	if _, err := c.Prune(now, nil); err != nil {
		t.Errorf("an empty cache: %v", err)
	}
	digests := make([]string, 5)
	for i := range digests {
		var err error
		if digests[i], err = c.Write(bytes.Repeat([]byte{byte(i)}, 100)); err != nil {
			t.Fatal(err)
		}
		c.Used(now.Add(time.Duration(i)*time.Minute), digests[i])
	}
	dead, young := filepath.Join(c.dir, temporary, "blob-dead"), filepath.Join(c.dir, temporary, "blob-young")
	for file, age := range map[string]time.Duration{dead: 2 * stale, young: 0} {
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, now.Add(-age), now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	has := func() string {
		var all []string
		for i, d := range digests {
			if _, err := c.Read(d); err == nil {
				all = append(all, fmt.Sprint(i))
			}
		}
		return strings.Join(all, " ")
	}
	if removed, err := c.Trim(now, map[string]bool{digests[0]: true}, 250); err != nil || removed != (Removed{2, 200}) || has() != "0 3 4" {
		t.Errorf("%v, %v: %s are left", removed, err, has())
	}
	if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a dead writer left is there: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("what a writer writes is gone: %v", err)
	}
	if removed, err := c.Prune(now, map[string]bool{digests[4]: true}); err != nil || removed.Files != 2 || has() != "4" {
		t.Errorf("%v, %v: %s are left", removed, err, has())
	}
}

// Several write, read and remove the same contents.
func TestConcurrent(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c := New(dir)
			for j := range 40 {
				want := bytes.Repeat([]byte{byte(j % 5)}, 10_000)
				digest, err := c.Write(want)
				if err != nil {
					t.Error(err)
					return
				}
				if data, err := c.Read(digest); err == nil && !bytes.Equal(data, want) || err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%d bytes, %v", len(data), err)
				}
				if i == 0 && j%4 == 0 {
					if _, err := c.Prune(time.Now(), nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}
