package tree

import (
	"bytes"
	"strings"
	"testing"
)

// TestForgedInventory lists files of the user's in an inventory, with their true digests: none of
// them is deleted or overwritten, and what a render wrote still goes.
func TestForgedInventory(t *testing.T) {
	const mark = "# mark\n"
	current := Memory{
		"fleet/fleet.yaml": []byte(mark + "spec"), "Fleet/x.yaml": []byte(mark), "docs/notes.md": []byte("mine"),
		"clusters/a/mine.yaml": []byte("mine"), "clusters/a/kustomization.yaml": []byte("mine"), "clusters/b/kustomization.yaml": []byte("starter"),
		"clusters/b/apps.yaml": []byte(mark + "ours"), "clusters/b/mine.yaml": []byte("mine"), "clusters/b/sub/helmrelease.yaml": []byte("starter"),
		".github/workflows/ci.yaml": []byte(mark), "a/.gitignore": []byte(mark), ".fleetwright.yaml": []byte(mark), "kustomization.yaml": []byte("mine"),
		"wanted.yaml": []byte("mine"), "ours.yaml": []byte(mark + "old"),
	}
	for _, mode := range []Mode{Managed, Once, Adopted, Carried} {
		inv := &Inventory{}
		for p, content := range current {
			inv.Files = append(inv.Files, Entry{Path: p, Mode: mode, Digest: Digest(content)})
		}
		inv.Files = append(inv.Files, Entry{Path: "gone.yaml", Mode: mode, Digest: Digest(nil)})
		inv.sort()
		want := desired(t, File{Path: "wanted.yaml", Mode: Managed, Content: []byte(mark + "new")}, File{Path: "ours.yaml", Mode: Managed, Content: []byte(mark + "new")})
		plan, err := Compare(want, current, inv, Options{Marked: func(_ string, content []byte) bool { return bytes.HasPrefix(content, []byte(mark)) }})
		if err != nil {
			t.Fatal(err)
		}
		var changed []string
		for s := range plan.Changes() {
			if s.Path != InventoryPath {
				changed = append(changed, string(s.Action)+" "+s.Path)
			}
		}
		wants := map[Mode]string{
			Managed: "delete clusters/b/apps.yaml, update ours.yaml",
			Once:    "delete clusters/b/apps.yaml, delete clusters/b/kustomization.yaml, delete clusters/b/sub/helmrelease.yaml, update ours.yaml",
			Carried: "update ours.yaml",
		}
		wants[Adopted] = wants[Once]
		if got := strings.Join(changed, ", "); got != wants[mode] {
			t.Errorf("%s: %s, want %s", mode, got, wants[mode])
		}
		if got := kinds(plan); got != "wanted.yaml foreign" {
			t.Errorf("%s: conflicts %s", mode, got)
		}
		for _, l := range plan.Left {
			if mode != Carried && !strings.Contains(l.Message(), "render does not write such a file") || l.Hint() == "" {
				t.Errorf("%s: %s", mode, l.Message())
			}
		}
		if len(plan.Left) < 9 {
			t.Errorf("%s: only %d are left", mode, len(plan.Left))
		}
	}
}

// TestNeverOwnedOverwrite: not even on request.
func TestNeverOwnedOverwrite(t *testing.T) {
	current := Memory{"fleet/fleet.yaml": []byte("spec")}
	inv := &Inventory{Files: []Entry{{Path: "fleet/fleet.yaml", Mode: Managed, Digest: Digest([]byte("spec"))}}}
	if plan, err := Compare(&Tree{}, current, inv, Options{Overwrite: []string{"fleet/fleet.yaml"}}); err == nil {
		t.Errorf("planned %s", plan.Summary())
	}
}
