package tree

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/fleetwright/fleetwright/internal/testuser"
)

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, Memory{"a/b/c.yaml": []byte("c"), "a/empty": {}, "top": []byte("top")})
	for link, to := range map[string]string{
		"link": "top", "linked": "a", "loop": "loop", "dangling": "nowhere", "outside": "/etc/passwd", "a/up": "..", "etc": "/etc",
	} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "a", "b", "c.yaml"), 1); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 100<<20); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path, content string
		missing       bool
		at, what      string
	}{
		{path: "a/b/c.yaml", content: "c"},
		{path: "top", content: "top"},
		{path: "a/empty"},
		{path: "none", missing: true},
		{path: "none/none", missing: true},
		{path: "a/none/none", missing: true},
		{path: "a/b", at: "a/b", what: AFolder},
		{path: "top/x/y", at: "top", what: AFile},
		{path: "link", at: "link", what: ASymlink},
		{path: "dangling", at: "dangling", what: ASymlink},
		{path: "loop", at: "loop", what: ASymlink},
		{path: "loop/x", at: "loop", what: ASymlink},
		{path: "outside", at: "outside", what: ASymlink},
		{path: "etc/passwd", at: "etc", what: ASymlink},
		{path: "linked/b/c.yaml", at: "linked", what: ASymlink},
		{path: "linked/b/none", at: "linked", what: ASymlink},
		{path: "a/up/top", at: "a/up", what: ASymlink},
		{path: "large", at: "large", what: "a file of more than 16 MiB"},
	}
	folder, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for range 2 { // the second time from what it learned
		for _, test := range tests {
			content, err := folder.ReadFile(test.path)
			var blocked *BlockedError
			switch {
			case test.missing:
				if !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: error %v", test.path, err)
				}
			case test.at != "":
				if !errors.As(err, &blocked) || *blocked != (BlockedError{test.path, test.at, test.what}) {
					t.Errorf("%s: error %v", test.path, err)
				}
			case err != nil || string(content) != test.content || content == nil:
				t.Errorf("%s: %q, %v", test.path, content, err)
			}
		}
	}
}

func TestFolderMissing(t *testing.T) {
	folder, err := OpenFolder(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.ReadFile("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if err := folder.Close(); err != nil {
		t.Error(err)
	}
}

func TestMemory(t *testing.T) {
	m := Memory{"a": []byte("x")}
	var blocked *BlockedError
	if _, err := m.ReadFile("a/b/c"); !errors.As(err, &blocked) || blocked.At != "a" {
		t.Errorf("below a file: %v", err)
	}
	if _, err := m.ReadFile("b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

// TestNeverThroughLinks checks that neither comparing, writing nor recovering
// goes through a symbolic link.
func TestNeverThroughLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, Memory{"victim.yaml": []byte("mine")})
	put(t, dir, Memory{"inside/victim.yaml": []byte("mine")})
	for link, to := range map[string]string{"out": outside, "in": "inside", "file.yaml": "inside/victim.yaml"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	var tree Tree
	for _, p := range []string{"out/victim.yaml", "in/victim.yaml", "file.yaml", "out/new.yaml", "in/new.yaml", "fine.yaml"} {
		add(t, &tree, p, Managed, "ours")
	}
	plan := compareDir(t, dir, &tree, Options{})
	want := "file.yaml blocked, in/new.yaml blocked, in/victim.yaml blocked, out/new.yaml blocked, out/victim.yaml blocked"
	if got := kinds(plan); got != want {
		t.Errorf("conflicts %s, want %s", got, want)
	}
	if err := Apply(t.Context(), dir, plan); err != nil {
		t.Fatal(err)
	}
	if got := snapshot(t, outside); len(got) != 1 || string(got["victim.yaml"]) != "mine" {
		t.Errorf("outside: %q", got)
	}
	if got := snapshot(t, filepath.Join(dir, "inside")); len(got) != 1 || string(got["victim.yaml"]) != "mine" {
		t.Errorf("inside: %q", got)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "fine.yaml")); err != nil || string(got) != "ours" {
		t.Errorf("the rest is not written: %q, %v", got, err)
	}
}

// TestHostileWorkFolder checks that a repository which brings along a folder of
// work in progress cannot make us touch anything else.
func TestHostileWorkFolder(t *testing.T) {
	digest := Digest([]byte("mine"))
	evil := Digest([]byte("evil"))
	journalOf := func(path, old, replacement string) []byte {
		content, err := (&journal{Version: journalVersion, Operations: []operation{{path, old, replacement}}}).encode()
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	tests := []struct {
		name  string
		files Memory
		links map[string]string
		fails bool
	}{
		{name: "own folder is a link", links: map[string]string{".fleetwright": "docs"}},
		{name: "work folder is a link", files: Memory{InventoryPath: nil}, links: map[string]string{workFolder: "../docs"}},
		{name: "staging is a link", files: Memory{journalDraft: nil}, links: map[string]string{stageFolder: "../../docs"}},
		{name: "lock is a link", files: Memory{journalDraft: nil}, links: map[string]string{lockFile: "../../docs/a"}},
		{name: "folders in staging", files: Memory{stageFolder + "/a/b": nil}},
		{name: "journal, and the lock is a link", files: Memory{journalFile: nil}, links: map[string]string{lockFile: "../../docs/a"}, fails: true},
		{name: "journal is a link", files: Memory{journalDraft: nil}, links: map[string]string{journalFile: "../../docs/a"}, fails: true},
		{name: "draft is a link", files: Memory{staged(0): nil}, links: map[string]string{journalDraft: "../../docs/a"}},
		{name: "journal into git", files: Memory{journalFile: journalOf(".git/config", digest, evil), staged(0): []byte("evil")}, fails: true},
		{name: "journal out", files: Memory{journalFile: journalOf("../a", "", evil), staged(0): []byte("evil")}, fails: true},
		{name: "journal into its folder", files: Memory{journalFile: journalOf(lockFile, "", evil), staged(0): []byte("evil")}, fails: true},
		{name: "staged is missing", files: Memory{journalFile: journalOf("docs/a", digest, evil)}, fails: true},
		{name: "staged is another", files: Memory{journalFile: journalOf("docs/a", digest, evil), staged(0): []byte("worse")}, fails: true},
		{name: "staged is a link", files: Memory{journalFile: journalOf("docs/a", digest, digest[:70]+"0")}, links: map[string]string{staged(0): "../../../docs/b"}, fails: true},
		{name: "damaged", files: Memory{journalFile: []byte("{")}, fails: true},
		{name: "newer", files: Memory{journalFile: []byte(`{"version":2}`)}, fails: true},
		{name: "other bytes", files: Memory{journalFile: journalOf("docs/a", evil, evil), staged(0): []byte("evil")}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			mine := Memory{"docs/a": []byte("mine"), "docs/b": []byte("mine"), ".git/config": []byte("mine")}
			put(t, dir, mine)
			put(t, dir, test.files)
			for link, to := range test.links {
				name := filepath.Join(dir, filepath.FromSlash(link))
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.FromSlash(to), name); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Recover(dir)
			if (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			for p, content := range mine {
				if got, err := os.ReadFile(filepath.Join(dir, p)); err != nil || string(got) != string(content) {
					t.Errorf("%s is now %q (%v)", p, got, err)
				}
			}
		})
	}
}

// TestRecoverLeavesEdits edits files between the kill and the recovery.
func TestRecoverLeavesEdits(t *testing.T) {
	before, tree := states(t)
	dir := t.TempDir()
	put(t, dir, before)
	plan := compareDir(t, dir, tree, Options{})
	var decided atomic.Bool // many files are staged at once
	killed := errors.New("killed")
	err := applyWith(t.Context(), dir, plan, hooked(func(op, path string) error {
		if decided.Load() {
			return killed
		}
		if op == "rename" && path == journalFile {
			decided.Store(true)
		}
		return nil
	}))
	// The rename that decides goes through; nothing after it does.
	if !errors.Is(err, killed) {
		t.Fatal(err)
	}
	edits := Memory{
		"README.md": []byte("mine"), "gone.yaml": []byte("mine"), "new.yaml": []byte("mine"),
		"becomes": []byte("mine"), InventoryPath: before[InventoryPath],
	}
	put(t, dir, edits)
	got, err := Recover(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"README.md", "becomes", "becomes/a/folder.yaml", "gone.yaml", "new.yaml"}
	if strings.Join(got.Changed, " ") != strings.Join(want, " ") || got.Finished == 0 {
		t.Errorf("recovered %+v, want changed %q", got, want)
	}
	now := snapshot(t, dir)
	for p, content := range edits {
		if p != InventoryPath && string(now[p]) != string(content) {
			t.Errorf("%s is now %q", p, now[p])
		}
	}
	if string(now["clusters/a/updated.yaml"]) != "version: 2\n" {
		t.Error("the rest is not written")
	}
	// The edits are conflicts of the next run, not lost.
	plan = compareDir(t, dir, tree, Options{})
	if got, want := kinds(plan), "README.md edited, becomes/a/folder.yaml blocked, new.yaml edited"; got != want {
		t.Errorf("conflicts %s, want %s", got, want)
	}
}

// TestInterrupted starts a write where another was interrupted after Recover.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, Memory{journalFile: []byte("{}")})
	tree := desired(t, File{Path: "a", Mode: Managed})
	if err := Apply(t.Context(), dir, compareDir(t, dir, tree, Options{})); !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	if got := snapshot(t, dir); len(got) != 1 || string(got[journalFile]) != "{}" {
		t.Error("the journal is not kept for Recover")
	}
}

// TestOneWins lets two writers at one folder, in one process and thus with two
// open files, as the kernel's locks see two processes.
func TestOneWins(t *testing.T) {
	dir := t.TempDir()
	before, tree := states(t)
	put(t, dir, before)
	plan := compareDir(t, dir, tree, Options{})
	var once sync.Once
	err := applyWith(t.Context(), dir, plan, hooked(func(op, _ string) error {
		if op == "rename" {
			once.Do(func() {
				if err := Apply(t.Context(), dir, plan); !errors.Is(err, ErrLocked) {
					t.Errorf("the second writer's error: %v", err)
				}
				if _, err := Recover(dir); !errors.Is(err, ErrLocked) {
					t.Errorf("the second reader's error: %v", err)
				}
			})
		}
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	var changed *ChangedError
	if err := Apply(t.Context(), dir, plan); !errors.As(err, &changed) {
		t.Errorf("a plan of before: %v", err)
	}
	if got, want := snapshot(t, dir), afterwards(before, plan); !same(got, want) {
		t.Error("the folder is not what the winner wrote")
	}
}

// TestComparedBesideAWrite applies plans of comparisons that saw some of the files as
// another write left them, which a third one then took back: nothing is written, since
// the folder would be a mix of trees.
func TestComparedBesideAWrite(t *testing.T) {
	one, two := &Tree{}, &Tree{}
	for _, file := range []string{"a.yaml", "b.yaml"} {
		add(t, one, file, Managed, "version: 1\n")
		add(t, two, file, Managed, "version: 2\n")
	}
	add(t, one, "gone.yaml", Managed, "version: 1\n")
	for name, seen := range map[string]func(Memory){
		"a.yaml":    func(m Memory) { m["a.yaml"] = []byte("version: 2\n") },
		"b.yaml":    func(m Memory) { m["b.yaml"] = []byte("version: 3\n") }, // in conflict
		"gone.yaml": func(m Memory) { delete(m, "gone.yaml") },
	} {
		dir := memoryDir(t)
		if err := applyWith(t.Context(), dir, compareDir(t, dir, one, Options{}), quick); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, dir)
		mixed := maps.Clone(before)
		seen(mixed)
		plan, err := Compare(two, mixed, mustInventory(t, mixed), Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = applyWith(t.Context(), dir, plan, quick)
		var changed *ChangedError
		if !errors.As(err, &changed) || !slices.Equal(changed.Paths, []string{name}) || changed.Written {
			t.Errorf("%s: error %v", name, err)
		}
		if got := snapshot(t, dir); !same(got, before) {
			t.Errorf("%s: the folder holds %q, want %q", name, got, before)
		}
	}
}

// TestManyAtOnce lets many write different trees: each wins or says so, and the
// folder is one of the trees.
func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	var trees []*Tree
	for i := range 4 {
		var tree Tree
		for j := range 20 {
			add(t, &tree, "dir/"+string(rune('a'+j))+".yaml", Managed, "version: "+string(rune('0'+i))+"\n")
		}
		trees = append(trees, &tree)
	}
	if err := applyWith(t.Context(), dir, compareDir(t, dir, trees[0], Options{}), quick); err != nil {
		t.Fatal(err)
	}
	wins := 0
	var mu sync.Mutex
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			folder, err := OpenFolder(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer folder.Close()
			inv, err := ReadInventory(folder)
			if err != nil {
				t.Error(err)
				return
			}
			plan, err := Compare(trees[i%4], folder, inv, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			err = applyWith(t.Context(), dir, plan, quick)
			var changed *ChangedError
			switch {
			case err == nil:
				mu.Lock()
				wins++
				mu.Unlock()
			case errors.As(err, &changed) && !changed.Written, errors.Is(err, ErrLocked), errors.Is(err, ErrInterrupted):
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	if wins == 0 {
		t.Error("nobody won")
	}
	whole := 0
	for _, tree := range trees {
		if !compareDir(t, dir, tree, Options{}).Stale() {
			whole++
		}
	}
	if whole != 1 {
		t.Errorf("the folder is %d of the trees", whole)
	}
	if _, err := os.Lstat(filepath.Join(dir, workFolder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the work folder is left: %v", err)
	}
}

// TestReadOnly makes the folder, or one in it, read-only.
func TestReadOnly(t *testing.T) {
	if testuser.Again(t) {
		return
	}
	before, tree := states(t)
	for _, readonly := range []string{".", "clusters/a"} {
		dir := t.TempDir()
		put(t, dir, before)
		if err := os.Chmod(filepath.Join(dir, readonly), 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, readonly), 0o755) })
		if got, err := Recover(dir); err != nil || got.Cleaned {
			t.Errorf("recovering with %s read-only: %+v, %v", readonly, got, err)
		}
		err := Apply(t.Context(), dir, compareDir(t, dir, tree, Options{}))
		if want := filepath.Join(dir, readonly); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), want) {
			t.Errorf("with %s read-only, the error is %v", readonly, err)
		}
		if !same(snapshot(t, dir), before) {
			t.Errorf("with %s read-only, something was written", readonly)
		}
	}
}

func TestJournalRoundTrip(t *testing.T) {
	want := &journal{Version: journalVersion, Operations: []operation{
		{Path: "a/ö.yaml", New: Digest(nil)}, {Path: InventoryPath, Old: Digest([]byte("x"))},
	}}
	content, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeJournal(content)
	if err != nil || len(got.Operations) != 2 || got.Operations[0] != want.Operations[0] || got.Operations[1] != want.Operations[1] {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzDecodeJournal(f *testing.F) {
	content, err := (&journal{Version: journalVersion, Operations: []operation{{"a", Digest(nil), ""}, {"b", "", Digest(nil)}}}).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"version":1,"operations":[{"path":"../x","new":"sha256:"}]}`))
	f.Add([]byte(`{"version":2}{`))
	f.Fuzz(func(t *testing.T, content []byte) {
		j, err := decodeJournal(content)
		if err != nil {
			var e *FileError
			if !errors.As(err, &e) || e.Hint == "" {
				t.Fatalf("error of type %T: %v", err, err)
			}
			return
		}
		for _, op := range j.Operations {
			if !filepath.IsLocal(filepath.FromSlash(op.Path)) {
				t.Fatalf("operation on %q", op.Path)
			}
		}
	})
}

// TestLockExcludes takes and gives back one lock from many sides: the file goes
// with each holder, and still there is never more than one.
func TestLockExcludes(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var holders, held atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 2000 {
				unlock, err := disk{root}.lock("lock")
				if errors.Is(err, ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				held.Add(1)
				runtime.Gosched()
				holders.Add(-1)
				if err := unlock(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if held.Load() == 0 {
		t.Error("nobody got the lock")
	}
}
