package tree

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// put makes a folder that holds just these files.
func put(tb testing.TB, dir string, files Memory) {
	tb.Helper()
	for p, content := range files {
		name := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

// snapshot reads all files of a folder; empty folders end in a slash.
func snapshot(tb testing.TB, dir string) Memory {
	tb.Helper()
	out := Memory{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if entries, err := os.ReadDir(name); err != nil || len(entries) == 0 {
				out[rel+"/"] = nil
			}
			return nil
		}
		content, err := os.ReadFile(name)
		out[rel] = content
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func same(a, b Memory) bool {
	return maps.EqualFunc(a, b, func(x, y []byte) bool { return string(x) == string(y) })
}

// kinds lists a plan's conflicts.
func kinds(p *Plan) string {
	var out []string
	for _, c := range p.Conflicts {
		out = append(out, c.Path+" "+string(c.Kind))
	}
	return strings.Join(out, ", ")
}

// compareDir plans how a folder becomes a tree.
func compareDir(tb testing.TB, dir string, t *Tree, opts Options) *Plan {
	tb.Helper()
	folder, err := OpenFolder(dir)
	if err != nil {
		tb.Fatal(err)
	}
	defer folder.Close()
	plan, err := Compare(t, folder, mustInventory(tb, folder), opts)
	if err != nil {
		tb.Fatal(err)
	}
	return plan
}

// afterwards is what a folder holds when a plan was applied.
func afterwards(before Memory, plan *Plan) Memory {
	now := maps.Clone(before)
	for s := range plan.Changes() {
		delete(now, s.Path)
		if s.New != nil {
			now[s.Path] = s.New
		}
	}
	return now
}

func TestApply(t *testing.T) {
	dir := t.TempDir()
	before, tree := states(t)
	put(t, dir, before)
	readme := filepath.Join(dir, "README.md")
	if err := os.Chmod(readme, 0o750); err != nil {
		t.Fatal(err)
	}
	plan := compareDir(t, dir, tree, Options{})
	if err := Apply(t.Context(), dir, plan); err != nil {
		t.Fatal(err)
	}
	if got, want := snapshot(t, dir), afterwards(before, plan); !same(got, want) {
		t.Errorf("files %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	info, err := os.Stat(readme)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o750 {
		t.Errorf("a rewritten file has the permissions %v (%v)", info.Mode(), err)
	}
	plan = compareDir(t, dir, tree, Options{})
	if plan.Stale() {
		t.Errorf("a second render finds %s", plan.Summary())
	}
	if got, err := Recover(dir); err != nil || got.Finished != 0 || got.Cleaned {
		t.Errorf("recovering a whole folder gives %+v, %v", got, err)
	}
}

func TestApplyMakesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out", "platform")
	tree := desired(t, File{Path: "a/b.yaml", Mode: Managed, Content: []byte("b")})
	if err := Apply(t.Context(), dir, compareDir(t, dir, tree, Options{})); err != nil {
		t.Fatal(err)
	}
	if plan := compareDir(t, dir, tree, Options{}); plan.Stale() {
		t.Errorf("left to do: %s", plan.Summary())
	}
	// Without the tree, nothing is left but the folder.
	if err := Apply(t.Context(), dir, compareDir(t, dir, &Tree{}, Options{})); err != nil {
		t.Fatal(err)
	}
	if got := snapshot(t, dir); len(got) != 1 || got["./"] != nil {
		t.Errorf("left behind: %q", slices.Sorted(maps.Keys(got)))
	}
}

// TestApplyKeepsFolders replaces the only file of a folder: the folder keeps its
// permissions, so it was not removed and made anew.
func TestApplyKeepsFolders(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	dir := t.TempDir()
	for _, name := range []string{"a/b/old.yaml", "a/b/new.yaml"} {
		tree := desired(t, File{Path: name, Mode: Managed, Content: []byte(name)})
		if err := Apply(t.Context(), dir, compareDir(t, dir, tree, Options{})); err != nil {
			t.Fatal(err)
		}
		if name == "a/b/old.yaml" {
			if err := os.Chmod(filepath.Join(dir, "a", "b"), 0o711); err != nil {
				t.Fatal(err)
			}
		}
	}
	info, err := os.Stat(filepath.Join(dir, "a", "b"))
	if err != nil || info.Mode().Perm() != 0o711 {
		t.Errorf("the folder has the permissions %v (%v)", info.Mode(), err)
	}
	if got := snapshot(t, dir); len(got) != 2 || string(got["a/b/new.yaml"]) != "a/b/new.yaml" {
		t.Errorf("files %q", slices.Sorted(maps.Keys(got)))
	}
}

func TestApplyLeavesConflicts(t *testing.T) {
	dir := t.TempDir()
	tree := desired(t,
		File{Path: "edited.yaml", Mode: Managed, Content: []byte("a: 1\n")},
		File{Path: "other.yaml", Mode: Managed, Content: []byte("a: 1\n")})
	if err := Apply(t.Context(), dir, compareDir(t, dir, tree, Options{})); err != nil {
		t.Fatal(err)
	}
	put(t, dir, Memory{"edited.yaml": []byte("a: 2\n")})
	tree = desired(t,
		File{Path: "edited.yaml", Mode: Managed, Content: []byte("a: 3\n")},
		File{Path: "other.yaml", Mode: Managed, Content: []byte("a: 3\n")})
	for range 2 { // the edit is seen by each run
		plan := compareDir(t, dir, tree, Options{})
		if len(plan.Conflicts) != 1 || plan.Conflicts[0].Kind != Edited || !plan.Stale() {
			t.Fatalf("conflicts %s", kinds(plan))
		}
		if err := Apply(t.Context(), dir, plan); err != nil {
			t.Fatal(err)
		}
		if got := snapshot(t, dir); string(got["edited.yaml"]) != "a: 2\n" || string(got["other.yaml"]) != "a: 3\n" {
			t.Fatalf("files %q", got)
		}
	}
	if err := Apply(t.Context(), dir, compareDir(t, dir, tree, Options{Overwrite: []string{"edited.yaml"}})); err != nil {
		t.Fatal(err)
	}
	if plan := compareDir(t, dir, tree, Options{}); plan.Stale() {
		t.Errorf("after overwriting: %s", plan.Summary())
	}
}

// TestApplyRefusesWhatChanged changes the folder between comparison and write.
func TestApplyRefusesWhatChanged(t *testing.T) {
	changes := map[string]func(dir string) error{
		"updated file edited":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "README.md"), []byte("mine"), 0o644) },
		"updated file deleted":  func(dir string) error { return os.Remove(filepath.Join(dir, "README.md")) },
		"deleted file edited":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "gone.yaml"), []byte("mine"), 0o644) },
		"new file there":        func(dir string) error { return os.WriteFile(filepath.Join(dir, "new.yaml"), []byte("mine"), 0o644) },
		"new file a folder":     func(dir string) error { return os.Mkdir(filepath.Join(dir, "new.yaml"), 0o755) },
		"new file a link":       func(dir string) error { return os.Symlink("README.md", filepath.Join(dir, "new.yaml")) },
		"new folder a link":     func(dir string) error { return os.Symlink("../b", filepath.Join(dir, "clusters", "c")) },
		"inventory edited":      func(dir string) error { return os.WriteFile(filepath.Join(dir, InventoryPath), []byte("mine"), 0o644) },
		"freed file edited":     func(dir string) error { return os.WriteFile(filepath.Join(dir, "becomes"), []byte("mine"), 0o644) },
		"updated file too wide": func(dir string) error { return os.Truncate(filepath.Join(dir, "README.md"), maxRead+1) },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			before, tree := states(t)
			put(t, dir, before)
			plan := compareDir(t, dir, tree, Options{})
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			found := snapshotLinks(t, dir)
			err := Apply(t.Context(), dir, plan)
			var changed *ChangedError
			if !errors.As(err, &changed) || changed.Written || len(changed.Paths) != 1 {
				t.Errorf("error %v", err)
			}
			if !maps.Equal(snapshotLinks(t, dir), found) {
				t.Error("something was written")
			}
		})
	}
}

// snapshotLinks is like snapshot, but reads links and sizes, not bytes.
func snapshotLinks(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case info.Mode().IsRegular() && info.Size() <= maxRead:
			content, err := os.ReadFile(name)
			out[name] = Digest(content)
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			out[name], err = os.Readlink(name)
		default:
			out[name] = info.Mode().String()
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestApplyCanceled(t *testing.T) {
	dir := t.TempDir()
	before, tree := states(t)
	put(t, dir, before)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Apply(ctx, dir, compareDir(t, dir, tree, Options{})); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if !same(snapshot(t, dir), before) {
		t.Error("something was written")
	}
}

func TestApplyNeedsNothingForNothing(t *testing.T) {
	if err := Apply(t.Context(), "/nonexistent/folder", &Plan{Inventory: &Inventory{}}); err != nil {
		t.Error(err)
	}
}

// hookFS calls a function before each change of a folder.
type hookFS struct {
	fsys
	before func(op, path string) error
}

func (h hookFS) mkdir(dir string, perm fs.FileMode) error {
	if err := h.before("mkdir", dir); err != nil {
		return err
	}
	return h.fsys.mkdir(dir, perm)
}

func (h hookFS) write(file string, content []byte, perm fs.FileMode, exact bool) error {
	if err := h.before("create", file); err != nil {
		return err
	}
	if err := h.fsys.write(file, content[:len(content)/2], perm, exact); err != nil {
		return err
	}
	if err := h.before("write", file); err != nil {
		return err
	}
	if err := h.fsys.remove(file); err != nil { // truncating would make ext4 wait for the disk
		return err
	}
	return h.fsys.write(file, content, perm, exact)
}

func (h hookFS) rename(from, to string) error {
	if err := h.before("rename", to); err != nil {
		return err
	}
	return h.fsys.rename(from, to)
}

func (h hookFS) exchange(a, b string) error {
	if err := h.before("rename", b); err != nil {
		return err
	}
	return h.fsys.exchange(a, b)
}

func (h hookFS) renameNew(from, to string) error {
	if err := h.before("rename", to); err != nil {
		return err
	}
	return h.fsys.renameNew(from, to)
}

func (h hookFS) remove(file string) error {
	if err := h.before("remove", file); err != nil {
		return err
	}
	return h.fsys.remove(file)
}

// Nothing is synced: what a process wrote outlives its end.
func (h hookFS) syncAll([]string) error { return h.before("sync", stageFolder) }

func (h hookFS) syncFile(file string) error { return h.before("sync", file) }

func (h hookFS) syncDirs(dirs ...string) error {
	for _, dir := range dirs {
		if err := h.before("sync", dir); err != nil {
			return err
		}
	}
	return nil
}

// lock locks like the disk does, but for its races; a process that is dead gives
// the lock back and leaves its file.
func (h hookFS) lock(file string) (func() error, error) {
	if err := h.before("lock", file); err != nil {
		return nil, err
	}
	f, err := h.fsys.(disk).root.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := TryLock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		err := h.before("unlock", file)
		if err == nil {
			err = h.fsys.remove(file)
		}
		return errors.Join(err, f.Close())
	}, nil
}

// quickDisk leaves out syncs.
type quickDisk struct{ disk }

func (quickDisk) syncAll([]string) error   { return nil }
func (quickDisk) syncFile(string) error    { return nil }
func (quickDisk) syncDirs(...string) error { return nil }

func quick(root *os.Root) fsys { return quickDisk{disk{root}} }

// hooked opens folders for hookFS.
func hooked(before func(op, path string) error) opener {
	return func(root *os.Root) fsys { return hookFS{newDisk(root), before} }
}

// TestApplyDiskErrors lets each operation fail in turn: the folder is as before,
// or the next Recover finishes the write.
func TestApplyDiskErrors(t *testing.T) {
	before, tree := states(t)
	full := errors.New("no space left on device")
	for n := 1; ; n++ {
		dir := t.TempDir()
		put(t, dir, before)
		plan := compareDir(t, dir, tree, Options{})
		want := afterwards(before, plan)
		steps := counter(n, full)
		err := applyWith(t.Context(), dir, plan, hooked(steps.step))
		if steps.done.Load() < int64(n) {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		left := snapshot(t, dir)
		maps.DeleteFunc(left, func(p string, _ []byte) bool {
			return strings.HasPrefix(p, workFolder) || strings.HasSuffix(p, "/")
		})
		decided := same(left, want)
		if err != nil && !strings.Contains(err.Error(), dir) {
			t.Errorf("step %d (%s): the error does not name the folder: %v", n, steps.name, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, journalFile)); err == nil {
			decided = true
		}
		if _, err := Recover(dir); err != nil {
			t.Fatalf("step %d (%s): %v", n, steps.name, err)
		}
		// An empty folder that cannot be removed stays.
		got := snapshot(t, dir)
		maps.DeleteFunc(got, func(p string, _ []byte) bool { return strings.HasSuffix(p, "/") })
		if decided && !same(got, want) || !decided && !same(got, before) {
			t.Fatalf("step %d (%s): decided %v, and the folder holds %q", n, steps.name, decided, slices.Sorted(maps.Keys(got)))
		}
	}
}
