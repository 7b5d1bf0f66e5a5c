package render

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fleetwright/fleetwright/api/v1alpha1"
	"github.com/fleetwright/fleetwright/internal/advice"
	"github.com/fleetwright/fleetwright/internal/tree"
)

const minimal = `apiVersion: fleetwright.dev/v1alpha1
kind: Fleet
metadata:
  name: acme
spec:
  repository:
    url: https://github.com/acme/platform
---
apiVersion: fleetwright.dev/v1alpha1
kind: Cluster
metadata:
  name: staging
spec:
  variables:
    REGION: eu
`

// folder writes files into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// generated is what a folder with a specification renders to.
func generated(t *testing.T, dir string) *Rendered {
	t.Helper()
	loaded, err := Load(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Generate(loaded, GenerateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadSpecification(t *testing.T) {
	dir := folder(t, map[string]string{
		"fleet/a.yaml": minimal, "fleet/notes.md": "no YAML", "fleet/more/b.yml": "# nothing\n", "other.yaml": "a: [",
	})
	for _, at := range []string{dir, filepath.Join(dir, "fleet")} {
		got, err := ReadSpecification(at)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Files) != 2 || got.Files[0].Path != "fleet/a.yaml" || got.Files[1].Path != "fleet/more/b.yml" {
			t.Errorf("files %v", got.Files)
		}
		if got.Root != dir {
			t.Errorf("root %q, want %q", got.Root, dir)
		}
	}
	t.Chdir(filepath.Join(dir, "fleet"))
	if got, err := ReadSpecification("."); err != nil || got.Root != ".." {
		t.Errorf("from inside of the folder: root %+v, %v", got, err)
	}
}

// A link to a folder is followed inside of the root, and each folder read once.
func TestReadSpecificationFollowsLinks(t *testing.T) {
	fleet, clusters, _ := strings.Cut(minimal, "---\n")
	dir := folder(t, map[string]string{
		"fleet/a.yaml": fleet, "shared/deep/b.yaml": clusters, "fleet/z/c.yaml": "# nothing\n", "notes/README.md": "",
	})
	for from, to := range map[string]string{
		"fleet/linked": "../shared", "fleet/again": "../shared/deep", "fleet/loop": ".", "shared/back": "../fleet",
		"fleet/y": "z", "fleet/notes": "../notes/README.md",
	} {
		link(to, from)(t, dir)
	}
	got, err := ReadSpecification(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range got.Files {
		names = append(names, f.Path)
	}
	if want := []string{"fleet/a.yaml", "fleet/again/b.yaml", "fleet/z/c.yaml"}; !slices.Equal(names, want) || len(got.Spec.Clusters) != 1 {
		t.Errorf("read %v with %d clusters, want %v", names, len(got.Spec.Clusters), want)
	}
}

func TestReadSpecificationRefuses(t *testing.T) {
	outside := folder(t, map[string]string{"secret.yaml": minimal})
	for name, c := range map[string]struct {
		files   map[string]string
		prepare func(t *testing.T, dir string)
		want    string
	}{
		"nothing":            {want: "no specification found"},
		"an empty":           {files: map[string]string{"fleet/README": ""}, want: "contains no YAML file"},
		"a symlink":          {files: map[string]string{"fleet/a.yaml": minimal}, prepare: link(filepath.Join(outside, "secret.yaml"), "fleet/b.yaml"), want: "fleet/b.yaml:1:1: cannot read the file"},
		"a loop":             {files: map[string]string{"fleet/a.yaml": minimal}, prepare: link("b.yaml", "fleet/b.yaml"), want: "fleet/b.yaml:1:1: cannot read the file"},
		"a folder outside":   {files: map[string]string{"fleet/a.yaml": minimal}, prepare: link(outside, "fleet/b"), want: "fleet/b:1:1: cannot read the file"},
		"a folder beside":    {files: map[string]string{"fleet/a.yaml": minimal}, prepare: link("../..", "fleet/b"), want: "fleet/b:1:1: cannot read the file"},
		"a folder not there": {files: map[string]string{"fleet/a.yaml": minimal}, prepare: link("../more", "fleet/b"), want: "fleet/b:1:1: cannot read the file"},
		"a link to itself":   {files: map[string]string{"fleet/a.yaml": minimal}, prepare: link("b", "fleet/b"), want: "fleet/b:1:1: cannot read the file"},
		"no YAML":            {files: map[string]string{"fleet/a.yaml": "a: [\n"}, want: "fleet/a.yaml:"},
		"large":              {files: map[string]string{"fleet/a.yaml": minimal}, prepare: large("fleet/b.yaml", 100<<20), want: "larger than 10 MB"},
		"alias bomb":         {files: map[string]string{"fleet/a.yaml": bomb()}, want: "fleet/a.yaml:"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, c.files)
			if c.prepare != nil {
				c.prepare(t, dir)
			}
			_, err := ReadSpecification(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if bad := (*advice.Error)(nil); strings.Contains(c.want, "cannot read") && (!errors.As(err, &bad) || !strings.Contains(bad.Hint(), "symbolic link")) {
				t.Errorf("no way out of %v", err)
			}
		})
	}
}

func link(to, from string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skip(err)
		}
	}
}

// large makes a file that takes no room on the disk.
func large(name string, size int64) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// bomb is a small file that expands to a billion values.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		n := string(rune('0' + i))
		b.WriteString("a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [" + strings.TrimSuffix(strings.Repeat("*a"+n+", ", 10), ", ") + "]\n")
	}
	return b.String()
}

func TestCarriersRoundTrip(t *testing.T) {
	source := generated(t, folder(t, map[string]string{"fleet/a.yaml": minimal}))
	targets := source.Targets
	nodes, err := Carriers(source, []byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	text, err := SpecificationYAML(nodes)
	if err != nil {
		t.Fatal(err)
	}
	again, others, err := FromStream(strings.NewReader(string(text)+"---\nkind: Other\n---\n- a list\n"), "stream", "")
	if err != nil || others != 2 {
		t.Fatalf("%d others, %v", others, err)
	}
	if !again.Spec.Equal(source.Spec) {
		t.Error("the specification is another one")
	}
	back := again.Stream.Targets
	if len(back) != len(targets) {
		t.Fatalf("%d targets", len(back))
	}
	for i, want := range targets {
		if back[i].Name != want.Name || back[i].URL != want.URL || back[i].Branch != want.Branch || back[i].Orphan != want.Orphan || len(back[i].Tree.Paths()) != len(want.Tree.Paths()) {
			t.Errorf("target %+v, want %+v", back[i], want)
		}
		for f := range want.Tree.All() {
			if got, _ := back[i].Tree.Get(f.Path); string(got.Content) != string(f.Content) || got.Mode != f.Mode {
				t.Errorf("%s: %s differs", want.Name, f.Path)
			}
		}
	}
	if err := checkTenants(again.Stream, &tree.Inventory{Tenants: []tree.TenantState{{Name: "gone", State: string(v1alpha1.StateActive)}}}); err == nil {
		t.Error("a stream drops an Active tenant")
	}
}

func TestStreamRefuses(t *testing.T) {
	const head = "apiVersion: fleetwright.dev/v1alpha1\nkind: File\nmetadata:\n  name: a\nspec:\n  "
	for name, c := range map[string]struct{ in, want string }{
		"nothing":         {"", "contains no object of kind File"},
		"no YAML":         {"a: [", "not YAML"},
		"target":          {head + "target: ..\n  path: a\n  mode: managed\n", `spec.target ".."`},
		"mode":            {head + "target: platform\n  path: a\n  mode: ours\n", `spec.mode "ours"`},
		"path":            {head + "target: platform\n  path: /etc/passwd\n  mode: managed\n", "/etc/passwd"},
		"git":             {head + "target: platform\n  path: .git/hooks/pre-commit\n  mode: managed\n", "git folder"},
		"twice":           {head + "target: platform\n  path: a\n  mode: managed\n---\n" + head + "target: platform\n  path: a\n  mode: managed\n", "twice"},
		"its own folder":  {head + "target: platform\n  path: .fleetwright/tmp/journal\n  mode: managed\n", ".fleetwright"},
		"broken contents": {head + "target: platform\n  path: .fleetwright/inventory.yaml\n  content: a\n", "inventory"},
	} {
		_, _, err := FromStream(strings.NewReader(c.in), "stream", "")
		if input := (*advice.Error)(nil); !errors.As(err, &input) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}

func TestCountLines(t *testing.T) {
	if added, removed := CountLines([]byte("a\nb\nc\n"), []byte("a\nx\ny\nc\n")); added != 2 || removed != 1 {
		t.Errorf("+%d -%d, want +2 -1", added, removed)
	}
	if added, removed := CountLines([]byte("-- a\n"), nil); added != 0 || removed != 1 {
		t.Errorf("+%d -%d, want +0 -1", added, removed)
	}
	if added, removed := CountLines(nil, []byte("--- a\n+++ b\n")); added != 2 || removed != 0 {
		t.Errorf("+%d -%d, want +2 -0", added, removed)
	}
}

func FuzzFromStream(f *testing.F) {
	f.Add("apiVersion: fleetwright.dev/v1alpha1\nkind: File\nmetadata:\n  name: a\nspec:\n  target: platform\n  path: a\n  mode: managed\n  content: b\n")
	f.Add("kind: List\nitems:\n- a\n- {}\n")
	f.Fuzz(func(t *testing.T, in string) {
		s, _, err := FromStream(strings.NewReader(in), "stream", "")
		if input := (*advice.Error)(nil); err != nil && !errors.As(err, &input) {
			t.Errorf("error %v is not the input's", err)
		}
		if err == nil && len(s.Stream.Targets) == 0 {
			t.Error("a stream without targets")
		}
	})
}
