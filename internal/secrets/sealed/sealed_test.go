package sealed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/fleetwright/fleetwright/internal/limits"
	"github.com/fleetwright/fleetwright/internal/secrets"
	"github.com/fleetwright/fleetwright/internal/secrets/keys"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// folder writes files, beside a .sops.yaml for those that are named so, and a key that opens them.
func folder(t *testing.T, files map[string]string) (dir string, ids *keys.Identities) {
	t.Helper()
	dir = t.TempDir()
	private, public, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	if ids, err = keys.Parse("x", private); err != nil {
		t.Fatal(err)
	}
	put(t, dir, secrets.ConfigName, "creation_rules:\n- path_regex: .\n  age: "+public+"\n")
	for name, text := range files {
		put(t, dir, name, text)
	}
	return dir, ids
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ending is a context that ends after a number of questions.
type ending struct {
	context.Context
	left atomic.Int64
}

// endingAfter is a context that has ended once it was asked more than some times.
func endingAfter(parent context.Context, left int) *ending {
	e := &ending{Context: parent}
	e.left.Store(int64(left))
	return e
}

func (e *ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever the work is interrupted, the files are as they were.
func TestInterrupted(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("f%d.sops.env", i)] = "A=tr0ub4dor\n"
	}
	dir, ids := folder(t, files)
	work := func(ctx context.Context) error {
		rules := NewRules(unspecified)
		found, _, err := rules.FindPlain(ctx, dir)
		if err != nil {
			return err
		}
		results, err := rules.Encrypt(ctx, found, now)
		if err != nil {
			return err
		}
		return Write(ctx, results)
	}
	stopped := 0
	for ; ; stopped++ {
		err := work(endingAfter(t.Context(), stopped))
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for name, text := range files {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
				t.Fatalf("interrupted at %d, %s holds %q (%v)", stopped, name, got, err)
			}
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(files)+1 {
			t.Fatalf("interrupted at %d, there are %v (%v)", stopped, entries, err)
		}
	}
	if stopped < 3*len(files) {
		t.Errorf("it asked %d times whether to go on, for %d files", stopped, len(files))
	}
	found, err := FindEncrypted(t.Context(), dir, nil)
	if err != nil || len(found) != len(files) {
		t.Fatalf("%v, %v", found, err)
	}
	for left := range len(files) {
		if _, err := NewRules(unspecified).UpdateKeys(endingAfter(t.Context(), left), found, UpdateOptions{Rotate: true, Keys: ids, Now: now}); !errors.Is(err, context.Canceled) {
			t.Errorf("rotation goes on: %v", err)
		}
	}
}

// A file that is too large and says that it is encrypted is told of, not passed over.
func TestFindTooLarge(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	dir, _ := folder(t, map[string]string{"a.txt": "x"})
	put(t, dir, "large.txt", strings.Repeat("x", limits.FileBytes+1))
	if found, _, err := NewRules(unspecified).FindPlain(t.Context(), dir); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	put(t, dir, "large.sops.txt", strings.Repeat("x", limits.FileBytes+1))
	for name, find := range map[string]func(context.Context, string) ([]string, error){"plain": func(ctx context.Context, dir string) ([]string, error) {
		found, _, err := NewRules(unspecified).FindPlain(ctx, dir)
		return found, err
	}, "encrypted": func(ctx context.Context, dir string) ([]string, error) { return FindEncrypted(ctx, dir, nil) }} {
		if _, err := find(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "large.sops.txt: is larger than 10 MB") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What git keeps is never touched.
func TestFindLeavesGit(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1)
	dir, _ := folder(t, map[string]string{".git/a.sops.env": "A=tr0ub4dor", "sub/.git/a.sops.env": "A=tr0ub4dor", "node_modules/a.sops.env": "A=tr0ub4dor"})
	if found, _, err := NewRules(unspecified).FindPlain(t.Context(), dir); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	file := filepath.Join(dir, ".git", "a.sops.env")
	if _, err := NewRules(unspecified).Encrypt(t.Context(), []string{file}, now); err == nil || !strings.Contains(err.Error(), ".git") {
		t.Errorf("one that is named: %v", err)
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, []byte("A=tr0ub4dor")) {
		t.Errorf("%q, %v", got, err)
	}
}

// unspecified is a folder without a specification.
func unspecified(string) (*secrets.Config, error) { return nil, nil } //nolint:nilnil // as specifiedRules
