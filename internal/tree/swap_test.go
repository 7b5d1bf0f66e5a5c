package tree

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// save puts bytes into a file as most editors do: as a new file that takes its name.
func save(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name+"~", []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+"~", name); err != nil {
		t.Fatal(err)
	}
}

// saveInPlace writes into the file that is there.
func saveInPlace(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSavedAtTheRename saves a file between the last look at it and the rename,
// once and again at each rename after it: the edit stays, the rest is written.
func TestSavedAtTheRename(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux swaps files")
	}
	before := Memory{"updated": []byte("1"), "deleted": []byte("1"), "beside": []byte("1")}
	steps := []Step{
		{Path: "beside", Action: Update, Old: []byte("1"), New: []byte("2")},
		{Path: "created", Action: Create, New: []byte("2")},
		{Path: "deleted", Action: Delete, Old: []byte("1")},
		{Path: "updated", Action: Update, Old: []byte("1"), New: []byte("2")},
	}
	for _, file := range []string{"updated", "created", "deleted"} {
		for _, times := range []int{1, 2, 3, 5} {
			for how, saved := range map[string]func(*testing.T, string, string){"new file": save, "in place": saveInPlace} {
				t.Run(fmt.Sprintf("%s %s %d", file, how, times), func(t *testing.T) {
					dir := memoryDir(t)
					put(t, dir, before)
					index := slices.IndexFunc(steps, func(s Step) bool { return s.Path == file })
					last := ""
					done := 0
					err := applyWith(t.Context(), dir, &Plan{Steps: steps}, hooked(func(op, path string) error {
						if (op == "rename" || op == "remove") && (path == file || path == staged(index)) && done < times {
							done++
							last = fmt.Sprintf("edit %d", done)
							saved(t, filepath.Join(dir, file), last)
						}
						return nil
					}))
					var changed *ChangedError
					if !errors.As(err, &changed) || strings.Join(changed.Paths, " ") != file || !changed.Written {
						t.Errorf("error %v", err)
					}
					want := Memory{"updated": []byte("2"), "created": []byte("2"), "beside": []byte("2")}
					want[file] = []byte(last)
					if got := snapshot(t, dir); !same(got, want) {
						t.Errorf("%q, want %q", got, want)
					}
				})
			}
		}
	}
}

// TestSavedAndKilled saves a file at the rename and ends the process at each step
// after it: the next command brings the edit back.
func TestSavedAndKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux swaps files")
	}
	before := Memory{"updated": []byte("1"), "deleted": []byte("1")}
	plan := &Plan{Steps: []Step{
		{Path: "deleted", Action: Delete, Old: []byte("1")},
		{Path: "updated", Action: Update, Old: []byte("1"), New: []byte("2")},
	}}
	for index, file := range []string{"deleted", "updated"} {
		for n := 1; ; n++ {
			dir := memoryDir(t)
			put(t, dir, before)
			done, steps := false, 0
			err := applyWith(t.Context(), dir, plan, hooked(func(op, path string) error {
				if steps++; steps > n {
					return errKilled
				}
				if (op == "rename" || op == "remove") && (path == file || path == staged(index)) && !done {
					done = true
					save(t, filepath.Join(dir, file), "edit")
				}
				return nil
			}))
			killed := errors.Is(err, errKilled)
			if _, err := Recover(dir); err != nil {
				t.Fatalf("%s, killed after step %d: %v", file, n, err)
			}
			got := snapshot(t, dir)
			if content := string(got[file]); done && content != "edit" || got[workFolder+"/"] != nil {
				t.Errorf("%s, killed after step %d: holds %q of %q", file, n, content, slices.Sorted(maps.Keys(got)))
			}
			if !killed {
				if !done || n < 10 {
					t.Errorf("%s: %d steps, edited: %t", file, n, done)
				}
				break
			}
		}
	}
}

// TestOpenForWriting leaves a file alone that somebody has open to write to it,
// whose bytes may come when it has been read.
func TestOpenForWriting(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells")
	}
	dir := memoryDir(t)
	put(t, dir, Memory{"a": []byte("1"), "b": []byte("1")})
	f, err := os.OpenFile(filepath.Join(dir, "a"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = Apply(t.Context(), dir, &Plan{Steps: []Step{
		{Path: "a", Action: Update, Old: []byte("1"), New: []byte("2")},
		{Path: "b", Action: Update, Old: []byte("1"), New: []byte("2")},
	}})
	var changed *ChangedError
	if !errors.As(err, &changed) || strings.Join(changed.Paths, " ") != "a" {
		t.Errorf("error %v", err)
	}
	if _, err := f.WriteString("mine"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := snapshot(t, dir); !same(got, Memory{"a": []byte("mine"), "b": []byte("2")}) {
		t.Errorf("%q", got)
	}
}

// TestSwapUnsupported writes where the file system cannot swap files.
func TestSwapUnsupported(t *testing.T) {
	before, tree := states(t)
	dir := memoryDir(t)
	put(t, dir, before)
	plan := compareDir(t, dir, tree, Options{})
	if err := applyWith(t.Context(), dir, plan, func(root *os.Root) fsys { return plainDisk{disk{root}} }); err != nil {
		t.Fatal(err)
	}
	if got := snapshot(t, dir); !same(got, afterwards(before, plan)) {
		t.Errorf("%q", slices.Sorted(maps.Keys(got)))
	}
}

// plainDisk is a file system that can only rename and link.
type plainDisk struct{ disk }

func (plainDisk) exchange(string, string) error     { return errors.ErrUnsupported }
func (d plainDisk) renameNew(from, to string) error { return d.linkNew(from, to) }
