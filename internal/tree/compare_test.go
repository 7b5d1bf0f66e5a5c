package tree

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const ours = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  list:\n  - x # why\n"

// reformatted says the same as ours in another style.
const reformatted = "---\napiVersion: \"v1\"\n\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n    list:\n      - 'x'   # why\n"

func inventory(entries ...Entry) *Inventory {
	inv := &Inventory{Files: entries}
	inv.sort()
	return inv
}

func entry(path string, mode Mode, content string) Entry {
	return Entry{Path: path, Mode: mode, Digest: Digest([]byte(content))}
}

func desired(tb testing.TB, files ...File) *Tree {
	tb.Helper()
	var t Tree
	for _, f := range files {
		if err := t.Add(f); err != nil {
			tb.Fatal(err)
		}
	}
	return &t
}

// blockingReader is a Reader in which some paths are blocked.
type blockingReader struct {
	Memory
	blocked map[string]BlockedError
}

func (r blockingReader) ReadFile(p string) ([]byte, error) {
	if b, ok := r.blocked[p]; ok {
		return nil, &b
	}
	return r.Memory.ReadFile(p)
}

// TestCompare has a case for each row of the table in Compare's comment.
func TestCompare(t *testing.T) {
	const p = "clusters/a/file.yaml"
	old, edited := "old: 1\n", "old: 1 # mine\n"
	tests := []struct {
		name    string
		mode    Mode // empty: no longer desired
		content string
		known   string // content at the time of the last write
		blocked *BlockedError
		opts    Options

		action   Action       // of the file's step, empty: none
		conflict ConflictKind // empty: none
		recorded string       // content whose digest the new inventory has, empty: none
	}{
		{name: "absent", mode: Managed, action: Create, recorded: ours},
		{name: "absent, was deleted by the user", mode: Managed, known: ours, action: Create, recorded: ours},
		{name: "same", mode: Managed, content: ours, known: ours, action: Keep, recorded: ours},
		{name: "same, not ours yet", mode: Managed, content: ours, action: Keep, recorded: ours},
		{name: "same, recorded otherwise", mode: Managed, content: ours, known: old, action: Keep, recorded: ours},
		{name: "unedited", mode: Managed, content: old, known: old, action: Update, recorded: ours},
		{name: "unedited, other style", mode: Managed, content: reformatted, known: reformatted, action: Update, recorded: ours},
		{name: "reformatted", mode: Managed, content: reformatted, known: ours, action: Keep, recorded: ours},
		{name: "reformatted, not ours yet", mode: Managed, content: reformatted, action: Keep, recorded: reformatted},
		{name: "edited to what is desired", mode: Managed, content: reformatted, known: old, action: Keep, recorded: reformatted},
		{name: "edited", mode: Managed, content: edited, known: old, conflict: Edited, recorded: old},
		{name: "edited to nothing", mode: Managed, content: "\x00", known: old, conflict: Edited, recorded: old},
		{name: "comment edited", mode: Managed, content: strings.Replace(ours, "why", "because", 1), known: ours, conflict: Edited, recorded: ours},
		{name: "edited, overwritten", mode: Managed, content: edited, known: old, opts: Options{Overwrite: []string{p}}, action: Update, recorded: ours},
		{name: "foreign", mode: Managed, content: edited, conflict: Foreign},
		{name: "foreign, overwritten", mode: Managed, content: edited, opts: Options{Overwrite: []string{"./" + p}}, action: Update, recorded: ours},
		{name: "rewriting adopted leaves managed", mode: Managed, content: edited, known: old, opts: Options{RewriteAdopted: true}, conflict: Edited, recorded: old},

		{name: "once, absent", mode: Once, action: Create, recorded: ours},
		{name: "once, deleted", mode: Once, known: old, recorded: old},
		{name: "once, deleted and wanted back", mode: Once, known: old, opts: Options{Overwrite: []string{p}}, action: Create, recorded: ours},
		{name: "once, the user's", mode: Once, content: edited, action: Keep},
		{name: "once, edited", mode: Once, content: edited, known: old, action: Keep, recorded: old},
		{name: "once, unedited", mode: Once, content: old, known: old, action: Keep, recorded: old},
		{name: "once, rewriting adopted", mode: Once, content: old, known: old, opts: Options{RewriteAdopted: true}, action: Keep, recorded: old},
		{name: "once, overwritten", mode: Once, content: old, known: old, opts: Options{Overwrite: []string{p}}, action: Update, recorded: ours},
		{name: "once, now a link", mode: Once, known: old, blocked: &BlockedError{At: p, What: ASymlink}, action: Keep, recorded: old},
		{name: "once, below a link", mode: Once, blocked: &BlockedError{At: "clusters", What: ASymlink}, conflict: Blocked},

		{name: "adopted, absent", mode: Adopted, action: Create, recorded: ours},
		{name: "adopted, other", mode: Adopted, content: edited, action: Keep},
		{name: "adopted, rewritten", mode: Adopted, content: edited, opts: Options{RewriteAdopted: true}, action: Update, recorded: ours},
		{name: "adopted, overwritten", mode: Adopted, content: edited, known: old, opts: Options{Overwrite: []string{p}}, action: Update, recorded: ours},

		{name: "gone, unedited", content: old, known: old, action: Delete},
		{name: "gone, deleted by the user", known: old},
		{name: "gone, edited", content: edited, known: old, conflict: LeftBehind},
		{name: "gone, edited, overwritten", content: edited, known: old, opts: Options{Overwrite: []string{p}}, action: Delete},
		{name: "gone, now a link", known: old, blocked: &BlockedError{At: p, What: ASymlink}, conflict: LeftBehind},
		{name: "gone, below a link", known: old, blocked: &BlockedError{At: "clusters", What: ASymlink}},
		{name: "never ours", content: edited},

		{name: "a link", mode: Managed, known: ours, blocked: &BlockedError{At: p, What: ASymlink}, conflict: Blocked, recorded: ours},
		{name: "a folder", mode: Managed, blocked: &BlockedError{At: p, What: AFolder}, conflict: Blocked},
		{name: "below a link", mode: Managed, blocked: &BlockedError{At: "clusters", What: ASymlink}, conflict: Blocked},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reader := blockingReader{Memory: Memory{}, blocked: map[string]BlockedError{}}
			if test.content != "" {
				reader.Memory[p] = []byte(test.content)
			}
			if test.blocked != nil {
				reader.blocked[p] = BlockedError{Path: p, At: test.blocked.At, What: test.blocked.What}
			}
			inv := &Inventory{}
			if test.known != "" {
				inv = inventory(entry(p, Managed, test.known))
			}
			tree := &Tree{}
			if test.mode != "" {
				tree = desired(t, File{Path: p, Mode: test.mode, Content: []byte(ours)})
			}
			plan, err := Compare(tree, reader, inv, test.opts)
			if err != nil {
				t.Fatal(err)
			}
			var action Action
			for _, s := range plan.Steps {
				if s.Path == p {
					action = s.Action
				}
			}
			if action != test.action {
				t.Errorf("action %q, want %q", action, test.action)
			}
			var conflict ConflictKind
			for _, c := range plan.Conflicts {
				conflict = c.Kind
				if c.Path != p || c.Message() == "" || c.Hint() == "" {
					t.Errorf("conflict of %q has a wrong path or no message", c.Path)
				}
			}
			if conflict != test.conflict {
				t.Errorf("conflict %q, want %q", conflict, test.conflict)
			}
			recorded, ok := plan.Inventory.Entry(p)
			if want := entry(p, test.mode, test.recorded); ok != (test.recorded != "") || ok && recorded != want {
				t.Errorf("recorded %+v (%v), want %+v", recorded, ok, want)
			}
		})
	}
}

func TestCompareInventoryFile(t *testing.T) {
	file := File{Path: "a.yaml", Mode: Managed, Content: []byte(ours)}
	inv := inventory(entry("a.yaml", Managed, ours))
	current := Memory{"a.yaml": []byte(ours)}
	action := func(t *testing.T, tree *Tree, current Memory, inv *Inventory, opts Options) Action {
		t.Helper()
		plan, err := Compare(tree, current, inv, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range plan.Steps {
			if s.Path == InventoryPath {
				return s.Action
			}
		}
		return ""
	}
	if got := action(t, desired(t, file), current, inv, Options{}); got != Create {
		t.Errorf("missing inventory: %q", got)
	}
	// kpt may have written it in another style.
	current[InventoryPath] = []byte("# other\n" + string(inv.Encode()))
	if got := action(t, desired(t, file), current, inv, Options{}); got != Keep {
		t.Errorf("inventory that says the same: %q", got)
	}
	tenants := Options{Tenants: []TenantState{{Name: "shop", State: "Active"}}}
	if got := action(t, desired(t, file), current, inv, tenants); got != Update {
		t.Errorf("inventory with another tenant: %q", got)
	}
	if got := action(t, &Tree{}, current, inv, Options{}); got != Delete {
		t.Errorf("inventory of nothing: %q", got)
	}
	if got := action(t, &Tree{}, Memory{}, &Inventory{}, Options{}); got != "" {
		t.Errorf("nothing and no inventory: %q", got)
	}
}

func TestCompareFileBecomesFolder(t *testing.T) {
	current := Memory{"a": []byte("old")}
	tree := desired(t, File{Path: "a/b", Mode: Managed, Content: []byte("new")})
	plan, err := Compare(tree, current, inventory(entry("a", Managed, "old")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Summary(); got != (Summary{Created: 2, Deleted: 1}) {
		t.Errorf("unedited: %s", got)
	}
	plan, err = Compare(tree, current, &Inventory{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Conflicts) != 1 || plan.Conflicts[0].Kind != Blocked || plan.Conflicts[0].At != "a" {
		t.Errorf("a file of the user's: %s", kinds(plan))
	}
}

// Carried files are the user's at places of ours: they go only as they were made here.
func TestCompareCarried(t *testing.T) {
	const p, made, changed = "a/db.sops.yaml", "made", "changed"
	tests := []struct {
		name string
		// there is what stands there, carried what is desired, known what was
		// written there; "" for none.
		there, carried, known string
		overwrite             []string

		action   Action
		conflict ConflictKind
		left     bool
		recorded string // content whose digest the new inventory has, empty: none
	}{
		{name: "a copy is written", carried: made, action: Create, recorded: made},
		{name: "in its place", there: made, carried: made, action: Keep, recorded: made},
		{name: "changed in its place", there: changed, carried: changed, known: made, action: Keep, recorded: made},
		{name: "a copy follows", there: made, carried: changed, known: made, action: Update, recorded: changed},
		{name: "a copy that was changed", there: changed, carried: "another", known: made, conflict: Edited, recorded: made},
		{name: "gone, as it was made", there: made, known: "before", action: Delete},
		{name: "gone, changed", there: changed, known: made, left: true},
		{name: "gone, as it was written", there: changed, known: changed, left: true},
		{name: "gone, changed, overwritten", there: changed, known: made, overwrite: []string{p}, action: Delete},
		{name: "gone already", known: made},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inv, current, want := &Inventory{}, Memory{}, &Tree{}
			if test.known != "" {
				inv = inventory(entry(p, Carried, test.known))
			}
			if test.there != "" {
				current[p] = []byte(test.there)
			}
			if test.carried != "" {
				want = desired(t, File{Path: p, Mode: Carried, Content: []byte(test.carried)})
			}
			plan, err := Compare(want, current, inv, Options{
				Overwrite: test.overwrite, Created: func(content []byte) bool { return string(content) == made },
			})
			if err != nil {
				t.Fatal(err)
			}
			var action Action
			for _, s := range plan.Steps {
				if s.Path == p {
					action = s.Action
				}
			}
			var conflict ConflictKind
			for _, c := range plan.Conflicts {
				conflict = c.Kind
			}
			if action != test.action || conflict != test.conflict || (len(plan.Left) == 1) != test.left {
				t.Errorf("action %q, conflict %q, left %v", action, conflict, plan.Left)
			}
			if retired := len(plan.Retired()) == 1; retired != (test.action == Delete) {
				t.Errorf("retired: %v", plan.Retired())
			}
			e, known := plan.Inventory.Entry(p)
			if known != (test.recorded != "") || known && e.Digest != Digest([]byte(test.recorded)) {
				t.Errorf("recorded: %v %v", known, e)
			}
		})
	}
}

func TestCompareErrors(t *testing.T) {
	edited := Memory{"clusters/staging/a.yaml": []byte("mine"), "b.yaml": []byte("b")}
	files := []File{
		{Path: "clusters/staging/a.yaml", Mode: Managed, Content: []byte("ours")},
		{Path: "b.yaml", Mode: Managed, Content: []byte("b")},
	}
	tests := []struct {
		name    string
		files   []File
		current Reader
		opts    Options
		want    string
	}{
		{"overwrite of nothing", files[1:], Memory{}, Options{Overwrite: []string{"b.yaml"}}, `cannot overwrite "b.yaml": no file is in conflict`},
		{"overwrite with a slip", files, edited, Options{Overwrite: []string{"clusters/stagin/a.yaml"}}, `did you mean "clusters/staging/a.yaml"?`},
		{"overwrite of an unchanged file", files, edited, Options{Overwrite: []string{"b.yaml"}}, `cannot overwrite "b.yaml": it is not in conflict`},
		{
			"overwrite of a link", files[1:],
			blockingReader{blocked: map[string]BlockedError{"b.yaml": {Path: "b.yaml", At: "b.yaml", What: ASymlink}}},
			Options{Overwrite: []string{"b.yaml"}}, `cannot overwrite "b.yaml": move b.yaml away`,
		},
		{
			"case", []File{{Path: "a/B.yaml", Mode: Managed}, {Path: "A/b.yaml", Mode: Managed}}, Memory{}, Options{},
			`"A/b.yaml" and "a/B.yaml" differ only in case`,
		},
		{
			"file and folder", []File{{Path: "a", Mode: Managed}, {Path: "A/b", Mode: Managed}}, Memory{}, Options{},
			`"a" is both a file and the folder of "A/b"`,
		},
		{"mode", []File{{Path: "a"}}, Memory{}, Options{}, `file "a" has mode ""`},
		{
			"tenants", nil, Memory{}, Options{Tenants: []TenantState{{"a", "Active"}, {"a", "Removed"}}},
			`tenant "a" is in the inventory twice`,
		},
		{
			"inventory is a link", files, blockingReader{blocked: map[string]BlockedError{InventoryPath: {At: ".fleetwright", What: ASymlink}}},
			Options{}, `reading the inventory: ".fleetwright" is a symbolic link`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compare(desired(t, test.files...), test.current, &Inventory{}, test.opts)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// TestCompareManyConflicts checks that conflicts do not keep more bytes than
// they show.
func TestCompareManyConflicts(t *testing.T) {
	tree, current := &Tree{}, Memory{}
	content := []byte(strings.Repeat("x\n", maxShown/2))
	for i := range 80 {
		p := strings.Repeat("a", i+1)
		add(t, tree, p, Managed, "ours")
		current[p] = content
	}
	current["a"] = append(content, 'x')
	plan, err := Compare(tree, current, &Inventory{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, c := range plan.Conflicts {
		total += len(c.Current)
	}
	if len(plan.Conflicts) != 80 || total != maxShownTotal || plan.Conflicts[0].Current != nil {
		t.Errorf("%d conflicts keep %d bytes", len(plan.Conflicts), total)
	}
}

func TestAddRefuses(t *testing.T) {
	for _, p := range []string{
		"", ".", "/a", "../a", "a/../../b", "a//b", "./a", "a\\b", "a/", "a\nb", "a\x1bb", "a\xff",
		".git/config", "a/.GIT/x", ".git./x", ".git /x", "git~1/x", ".g\u200cit/x", ".git::$INDEX_ALLOCATION/x",
		".fleetwright/inventory.yaml", ".Fleetwright/x", strings.Repeat("a", maxPath+1),
	} {
		var tree Tree
		if tree.Add(File{Path: p, Mode: Managed}) == nil {
			t.Errorf("path %q is taken", p)
		}
	}
	for _, p := range []string{".gitignore", ".github/x", "a/..b", "...", "git~2", ".fleetwright.yaml", "ä ö.yaml"} {
		var tree Tree
		if err := tree.Add(File{Path: p, Mode: Managed}); err != nil {
			t.Error(err)
		}
	}
}

func TestSameYAML(t *testing.T) {
	tests := []struct {
		name, file, a, b string
		want             bool
	}{
		{"style", "a.yaml", ours, reformatted, true},
		{"not YAML's name", "a.txt", ours, reformatted, false},
		{"Kptfile", "x/Kptfile", ours, reformatted, true},
		{"value", "a.yaml", "a: 1\n", "a: 2\n", false},
		{"type", "a.yaml", "a: 1\n", "a: \"1\"\n", false},
		{"order", "a.yaml", "a: 1\nb: 2\n", "b: 2\na: 1\n", false},
		{"comment", "a.yaml", "a: 1\n", "a: 1 # x\n", false},
		{"comment moves with blank lines", "a.yaml", "a: 1\n# x\n\nb: 2\n", "a: 1\n\n# x\nb: 2\n", true},
		{"documents", "a.yaml", "a: 1\n---\nb: 2\n", "---\na: 1\n---\n---\nb: 2\n", true},
		{"document more", "a.yaml", "a: 1\n", "a: 1\n---\nb: 2\n", false},
		{"anchor", "a.yaml", "a: &x 1\nb: *x\n", "a: &y 1\nb: *y\n", false},
		{"tag", "a.yaml", "a: !x 1\n", "a: 1\n", false},
		{"not YAML", "a.yaml", "a: [\n", "a: [\n\n", false},
		{"folded", "a.yaml", "a: >\n  b\n  c\n", "a: |\n  b c\n", true},
		{"moved into another map", "a.yaml", "a:\n  b:\n    c: 1\n", "a:\n  b:\n  c: 1\n", false},
		{"bomb", "a.yaml", strings.Repeat("[", 1<<20), strings.Repeat("[", 1<<20) + "\n", false},
		{"deep", "a.yaml", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n", false},
		{"large", "a.yaml", "a: " + strings.Repeat("x", maxParsed), "a:  " + strings.Repeat("x", maxParsed), false},
	}
	for _, test := range tests {
		if got := sameYAML(test.file, []byte(test.a), []byte(test.b)); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestChanges checks that applying the changes to what is there gives what was
// rendered, and that the next comparison finds nothing to do.
func TestChanges(t *testing.T) {
	before, after := states(t)
	plan, err := Compare(after, before, mustInventory(t, before), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plan.Summary().String(), "3 created, 3 updated, 5 deleted, 2 unchanged"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	now := maps.Clone(before)
	for s := range plan.Changes() {
		if (s.New == nil) != (s.Action == Delete) || (s.Old == nil) != (s.Action == Create) {
			t.Errorf("%s %s has the wrong bytes", s.Action, s.Path)
		}
		if s.New == nil {
			delete(now, s.Path)
		} else {
			now[s.Path] = s.New
		}
	}
	plan, err = Compare(after, now, mustInventory(t, now), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Stale() || !plan.Empty() {
		t.Errorf("the second comparison finds %s", plan.Summary())
	}
	want := append(after.Paths(), InventoryPath, "mine/notes.txt")
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(now)); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}

func mustInventory(tb testing.TB, r Reader) *Inventory {
	tb.Helper()
	inv, err := ReadInventory(r)
	if err != nil {
		tb.Fatal(err)
	}
	return inv
}

// states are a rendered folder with a file of the user's in it, and the tree to
// render next: it creates, updates, keeps and deletes files and folders, and a
// file becomes a folder.
func states(tb testing.TB) (before Memory, after *Tree) {
	tb.Helper()
	var first, next Tree
	add(tb, &first, "clusters/a/kept.yaml", Managed, "kept: 1\n")
	add(tb, &first, "clusters/a/updated.yaml", Managed, "version: 1\n")
	add(tb, &first, "clusters/a/starter.yaml", Once, "starter: 1\n")
	add(tb, &first, "clusters/b/deep/er/gone.yaml", Managed, "gone: 1\n")
	add(tb, &first, "clusters/b/gone.yaml", Managed, "gone: 2\n")
	add(tb, &first, "mine/gone.yaml", Managed, "gone: 3\n")
	add(tb, &first, "becomes", Managed, "a file\n")
	add(tb, &first, "gone.yaml", Managed, "gone: 4\n")
	add(tb, &first, "README.md", Managed, "one\n")

	add(tb, &next, "clusters/a/kept.yaml", Managed, "kept: 1\n")
	add(tb, &next, "clusters/a/updated.yaml", Managed, "version: 2\n")
	add(tb, &next, "clusters/a/starter.yaml", Once, "starter: 2\n")
	add(tb, &next, "clusters/c/deep/new.yaml", Managed, "new: 1\n")
	add(tb, &next, "becomes/a/folder.yaml", Managed, "new: 2\n")
	add(tb, &next, "new.yaml", Managed, "")
	add(tb, &next, "README.md", Managed, strings.Repeat("two\n", 3000))

	before = Memory{"mine/notes.txt": []byte("mine")}
	plan, err := Compare(&first, before, &Inventory{}, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	for s := range plan.Changes() {
		before[s.Path] = s.New
	}
	return before, &next
}

// A release that changes nothing else leaves the inventory as it is; one that changes something
// is recorded.
func TestCompareRelease(t *testing.T) {
	var tree Tree
	add(t, &tree, "a.yaml", Managed, "a: 1\n")
	inv := inventory(entry("a.yaml", Managed, "a: 1\n"))
	inv.Release = "v1.2.3"
	current := Memory{"a.yaml": []byte("a: 1\n"), InventoryPath: inv.Encode()}
	plan, err := Compare(&tree, current, inv, Options{Release: "v1.3.0"})
	if err != nil {
		t.Fatal(err)
	}
	if !plan.Empty() || plan.RenderedBy != "v1.2.3" || plan.Inventory.Release != "v1.2.3" {
		t.Errorf("nothing changes, and the plan is %+v", plan)
	}
	add(t, &tree, "b.yaml", Managed, "b: 1\n")
	if plan, err = Compare(&tree, current, inv, Options{Release: "v1.3.0"}); err != nil {
		t.Fatal(err)
	}
	if plan.RenderedBy != "v1.2.3" || plan.Inventory.Release != "v1.3.0" {
		t.Errorf("a file is added, and the plan is %+v", plan)
	}
}
