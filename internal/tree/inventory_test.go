package tree

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/kio"
)

func sampleInventory() *Inventory {
	inv := &Inventory{
		Tenants: []TenantState{{"shop", "Active"}, {"x", "Draining"}, {"null", "Removed"}, {"007", "Active"}},
	}
	for _, p := range []string{
		"a.yaml", "clusters/a/b.yaml", ".krmignore", "1", "1e3", "true", "~", "ä/ö ü.yaml", "a b: c", "- x", "#x", "a #b",
		"'q'", `"q"`, "a,b", "{a}", "2001-01-01", "yes", "=", "0x1f", strings.Repeat("long word ", 30) + "end", "&a", "*a", "!a",
		"-/a", ".5", ".inf", ".yaml", "null", "0b1/x", "%a", "@a", "`a", "key: ", "trailing ",
	} {
		inv.Files = append(inv.Files, entry(p, Managed, p))
	}
	inv.Files[0].Mode, inv.Files[1].Mode = Once, Adopted
	inv.sort()
	return inv
}

func TestInventoryRoundTrip(t *testing.T) {
	for name, inv := range map[string]*Inventory{
		"empty": {}, "release": {Target: "platform", Release: "v1.2.3-rc.1", Files: []Entry{entry("a/b.yaml", Once, "x")}}, "sample": sampleInventory(),
		"plain":      {Files: []Entry{entry("a/b.yaml", Once, "x")}, Tenants: []TenantState{{"shop", "Active"}}},
		"guards":     {Files: []Entry{entry("a/b.yaml", Once, "x")}, Guards: []string{"addons/eu/grafana/monitoring/grafana/volumes", "clusters/eu/clusters/eu"}},
		"odd guards": {Guards: []string{"- x", "007", "a: b"}, Tenants: []TenantState{{"shop", "Active"}}},
	} {
		encoded := inv.Encode()
		got, err := DecodeInventory("f", encoded)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, encoded)
		}
		if !got.Equal(inv) || got.Release != inv.Release {
			t.Errorf("%s: got %+v, want %+v", name, got, inv)
		}
		if _, fast := scanInventory(encoded); fast != (name != "sample" && name != "odd guards") {
			t.Errorf("%s: read by the fast way: %v", name, fast)
		}
	}
}

// TestInventoryKyaml checks that kpt, which reads and writes with kyaml, leaves
// an inventory's bytes as they are.
func TestInventoryKyaml(t *testing.T) {
	for _, inv := range []*Inventory{{}, sampleInventory(), {Guards: []string{"clusters/eu/clusters/eu", "- x"}}} {
		encoded := inv.Encode()
		nodes, err := (&kio.ByteReader{Reader: bytes.NewReader(encoded), PreserveSeqIndent: true, WrapBareSeqNode: true}).Read()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := (kio.ByteWriter{Writer: &out}).Write(nodes); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Bytes(), encoded) {
			t.Errorf("kyaml changes\n%s\nto\n%s", encoded, out.Bytes())
		}
	}
}

func TestInventoryDecodeErrors(t *testing.T) {
	good := string(inventory(entry("a/b.yaml", Managed, "x")).Encode())
	replace := func(old, replacement string) string {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in the inventory", old)
		}
		return strings.Replace(good, old, replacement, 1)
	}
	head, _, _ := strings.Cut(good, "spec:")
	tests := []struct{ name, content, want, hint string }{
		{"empty", "", "f: the inventory is empty", hintRestore},
		{"null", "~", "f:1:1: want a mapping", hintRestore},
		{"not YAML", replace("spec:", "spec: ["), "f:9:1: the inventory is not YAML", hintRestore},
		{"merge conflict", replace("  tenants", "<<<<<<< HEAD\n  tenants"), "f:13:1: the inventory contains an unresolved merge conflict", hintConflict},
		{"two documents", good + "---\na: 1\n", "f: the inventory contains more than one document", hintRestore},
		{"kind", replace("kind: Inventory", "kind: Other"), `this is "Other"`, hintRestore},
		{"version", replace("v1alpha1", "v9"), `f:2:13: unknown inventory version "fleetwright.dev/v9"`, hintUpgrade},
		{"unknown field", replace("  tenants:", "  more: 1\n  tenants:"), `f:13:3: unknown field "more": this version knows files, target, release, tenants`, hintUpgrade},
		{"unknown field of a file", replace("    mode:", "    more: 1\n    mode:"), `f:11:5: unknown field "more"`, hintUpgrade},
		{"unknown mode", replace("managed", "shared"), `f:11:11: unknown mode "shared": this version knows managed, once, adopted`, hintUpgrade},
		{"digest", replace("sha256:", "sha1:"), `f:12:13: digest "sha1:`, hintRestore},
		{"path", replace("a/b.yaml", "../b.yaml"), `f:10:11: path "../b.yaml" leaves the repository`, hintRestore},
		{"git", replace("a/b.yaml", ".git/config"), `f:10:11: path ".git/config" is inside the git folder`, hintRestore},
		{"own", replace("a/b.yaml", InventoryPath), `is reserved for the inventory`, hintRestore},
		{"twice", replace("  tenants", "  - {path: a/b.yaml, mode: once, digest: "+Digest(nil)+"}\n  tenants"), `f:13:5: file "a/b.yaml" is listed twice`, hintRestore},
		{"field twice", replace("    mode: managed", "    mode: managed\n    mode: managed"), `is set twice`, hintRestore},
		{"missing", replace("    mode: managed\n", ""), `f:10:5: field "mode" is missing`, hintRestore},
		{"type", replace("managed", "[managed]"), `f:11:11: field "mode" is not a string`, hintRestore},
		{"no spec", head, `f:2:1: the inventory has no spec`, hintRestore},
		{"files", replace("  files:\n  -", "  files:\n   "), `f:10:5: field "files" is not a list`, hintRestore},
		{"tenant twice", replace("tenants: []", "tenants: [{name: a, state: b}, {name: a, state: b}]"), `tenant "a" is listed twice`, hintRestore},
		{"tenant field", replace("tenants: []", "tenants: [{name: a, state: b, c: d}]"), `unknown field "c"`, hintUpgrade},
		{"alias", "a: &a [x]\nb: *a\n", `f:1:1: unknown field "a"`, hintUpgrade},
		{"list and items", replace("files:", "files: []"), `the inventory is not YAML`, hintRestore},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := DecodeInventory("f", []byte(test.content))
			var e *FileError
			if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) || e.Hint != test.hint {
				t.Errorf("got %v, want %q and the hint %q", err, test.want, test.hint)
			}
			if e != nil && e.Text() != e.Error()+"\n  hint: "+test.hint {
				t.Errorf("text %q", e.Text())
			}
		})
	}
}

// TestInventoryBounds: hostile inventories are refused.
func TestInventoryBounds(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 20 {
		bomb += string(rune('b'+i)) + ": &" + string(rune('b'+i)) + " [" + strings.Repeat("*"+string(rune('a'+i))+",", 10) + "]\n"
	}
	for name, content := range map[string]string{
		"bomb": bomb, "large": strings.Repeat("#", maxInventory+1), "many": strings.Repeat("-\n", maxInventoryMarks),
		"deep": strings.Repeat("[", 1<<20), "wide": strings.Repeat("- ", 1<<20),
	} {
		if _, err := DecodeInventory("f", []byte(content)); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}

func TestReadInventory(t *testing.T) {
	if inv := mustInventory(t, Memory{}); len(inv.Files) != 0 {
		t.Errorf("no inventory gives %v", inv.Files)
	}
	want := sampleInventory()
	got := mustInventory(t, Memory{InventoryPath: want.Encode()})
	if !got.Equal(want) {
		t.Error("the inventory changes when it is read")
	}
	if !slices.Contains(got.Tenants, TenantState{Name: "x", State: "Draining"}) || slices.ContainsFunc(got.Tenants, func(t TenantState) bool { return t.Name == "y" }) {
		t.Errorf("the tenants are %v", got.Tenants)
	}
	if e, ok := got.Entry("a.yaml"); !ok || e.Digest != Digest([]byte("a.yaml")) {
		t.Errorf("entry %+v", e)
	}
}

func FuzzDecodeInventory(f *testing.F) {
	f.Add(sampleInventory().Encode())
	f.Add((&Inventory{}).Encode())
	f.Add(inventory(entry("a/b.yaml", Once, "x")).Encode())
	f.Fuzz(func(t *testing.T, content []byte) {
		slow, slowErr := (&inventoryDecoder{file: "f"}).decode(content)
		if slowErr == nil {
			slow.sort()
		}
		if fast, ok := scanInventory(content); ok && (slowErr != nil || !fast.Equal(slow)) {
			t.Fatalf("the fast way reads %+v, the slow one %+v (%v)", fast, slow, slowErr)
		}
		inv, err := DecodeInventory("f", content)
		if err != nil {
			var e *FileError
			if !errors.As(err, &e) {
				t.Fatalf("error of type %T: %v", err, err)
			}
			return
		}
		again, err := DecodeInventory("f", inv.Encode())
		if err != nil || !again.Equal(inv) {
			t.Fatalf("%+v becomes %+v (%v)", inv, again, err)
		}
	})
}
