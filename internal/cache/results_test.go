package cache

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// open returns results with a key of their own.
func open(t *testing.T, dir, keys string) *Results {
	t.Helper()
	if err := MakeKey(dir, keys); err != nil {
		t.Fatal(err)
	}
	r := OpenResults(dir, keys)
	if r == nil {
		t.Fatal("there is no key")
	}
	return r
}

// files are the results in a cache.
func files(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(results), "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestPoisonedResults: what was not written with the key for the same inputs is never read.
func TestPoisonedResults(t *testing.T) {
	dir, keys := t.TempDir(), t.TempDir()
	r := open(t, dir, keys)
	one, two := r.ID([]byte("one")), r.ID([]byte("two"))
	write := func() {
		t.Helper()
		for id, text := range map[string]string{one: "result one", two: "result two"} {
			if err := r.Write(id, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if data, found := r.Read(id); !found || string(data) != text {
				t.Fatalf("%q, %v", data, found)
			}
		}
	}
	write()
	at := func(id string) string { return filepath.Join(dir, filepath.FromSlash(results), id[:2], id) }
	whole, err := os.ReadFile(at(one))
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(at(two))
	if err != nil {
		t.Fatal(err)
	}
	for name, poison := range map[string][]byte{
		"another result": bytes.Replace(whole, []byte("one"), []byte("bad"), 1), "another's": other, "cut": whole[:len(whole)-1],
		"longer": append(bytes.Clone(whole), 'x'), "no authentication": whole[32:], "empty": {}, "zeros": make([]byte, len(whole)),
	} {
		if err := os.WriteFile(at(one), poison, 0o600); err != nil {
			t.Fatal(err)
		}
		if data, found := r.Read(one); found {
			t.Errorf("%s: it is read: %q", name, data)
		}
	}
	write()
	if data, found := open(t, dir, t.TempDir()).Read(one); found {
		t.Errorf("with another key it is read: %q", data)
	}
	if open(t, dir, t.TempDir()).ID([]byte("one")) == one {
		t.Error("the name tells of the inputs without the key")
	}
}

// TestKey: the key is the user's alone, outside of the cache, and the same for all who make it at once.
func TestKey(t *testing.T) {
	dir, keys := t.TempDir(), filepath.Join(t.TempDir(), "deep", "er")
	if OpenResults(dir, keys) != nil {
		t.Error("there are results without a key")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := MakeKey(dir, keys); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r := open(t, dir, keys)
	if err := r.Write(r.ID(nil), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, found := open(t, dir, keys).Read(r.ID(nil)); !found {
		t.Error("the key is another one")
	}
	if left, err := os.ReadDir(keys); err != nil || len(left) != 1 {
		t.Errorf("beside the key: %v, %v", left, err)
	}
	key := filepath.Join(keys, keyFile)
	if info, err := os.Stat(key); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for name, spoil := range map[string]func() error{
		"others may read it": func() error { return os.Chmod(key, 0o640) },
		"it is short":        func() error { return os.WriteFile(key, []byte("short"), 0o600) },
		"it is a link": func() error {
			return errors.Join(os.Rename(key, key+".real"), os.Symlink(key+".real", key))
		},
	} {
		if name == "others may read it" && runtime.GOOS == "windows" {
			continue
		}
		good, err := os.ReadFile(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if OpenResults(dir, keys) != nil {
			t.Errorf("%s: it is used", name)
		}
		_ = os.Remove(key)
		_ = os.Remove(key + ".real")
		if err := os.WriteFile(key, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, within := range []string{dir, filepath.Join(dir, "keys")} {
		if err := MakeKey(dir, within); err == nil || OpenResults(dir, within) != nil {
			t.Errorf("the key may be in the cache: %v", err)
		}
	}
}

// TestConcurrentResults: what is read is never another's, whoever writes and removes.
func TestConcurrentResults(t *testing.T) {
	dir, keys := t.TempDir(), t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		r := open(t, dir, keys)
		wg.Go(func() {
			for j := range 40 {
				id, want := r.ID([]byte{byte(j % 5)}), bytes.Repeat([]byte{byte(j % 5)}, 10_000)
				if err := r.Write(id, want); err != nil {
					t.Error(err)
				}
				if data, found := r.Read(id); found && !bytes.Equal(data, want) {
					t.Errorf("%d bytes", len(data))
				}
				if i == 0 && j%4 == 0 {
					if _, err := New(dir).Prune(time.Now(), nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// TestResultsAreBounded: the oldest of those that share a folder are removed, what is too large is not kept, and Prune
// removes all.
func TestResultsAreBounded(t *testing.T) {
	dir, keys := t.TempDir(), t.TempDir()
	r := open(t, dir, keys)
	large := make([]byte, 1<<20)
	var last string
	for i := range 8 {
		last = fmt.Sprintf("ab%062d", i)
		if err := r.Write(last, large); err != nil {
			t.Fatal(err)
		}
	}
	if kept := files(t, dir); len(kept) == 0 || len(kept) > mostShard>>20 {
		t.Errorf("%d results are kept", len(kept))
	}
	if _, found := r.Read(last); !found {
		t.Error("the newest is removed")
	}
	if err := r.Write(r.ID(nil), make([]byte, mostResult+1)); err != nil {
		t.Fatal(err)
	}
	if _, found := r.Read(r.ID(nil)); found {
		t.Error("a result is kept that is too large")
	}
	if _, err := New(dir).Prune(time.Now(), nil); err != nil || len(files(t, dir)) > 0 {
		t.Errorf("%v; %v are left", err, files(t, dir))
	}
}

// TestResultsStayInTheCache: links that somebody put there lead nowhere.
func TestResultsStayInTheCache(t *testing.T) {
	dir, keys, outside := t.TempDir(), t.TempDir(), t.TempDir()
	r := open(t, dir, keys)
	id := r.ID(nil)
	victim := filepath.Join(outside, id)
	if err := os.WriteFile(victim, make([]byte, mostShard+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(results)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, filepath.FromSlash(results), id[:2])); err != nil {
		t.Skip(err)
	}
	if err := r.Write(id, []byte("x")); err == nil {
		t.Error("it is written outside of the cache")
	}
	if _, found := r.Read(id); found {
		t.Error("it is read from outside of the cache")
	}
	if _, err := New(dir).Prune(time.Now(), nil); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(victim); err != nil || info.Size() != mostShard+1 {
		t.Errorf("a file outside of the cache is changed: %v", err)
	}
}
