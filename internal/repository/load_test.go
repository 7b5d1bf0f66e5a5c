package repository

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// inMemory loads files in txtar form from memory.
func inMemory(t testing.TB, files string, limits Limits) *Repository {
	t.Helper()
	content := map[string][]byte{}
	for _, f := range txtar.Parse([]byte(files)).Files {
		content[f.Name] = f.Data
	}
	r, err := FromFiles(maps.All(content), Options{Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// write writes files in txtar form into a folder.
func write(t testing.TB, files string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(files)).Files {
		p := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const small = `-- apps/b.yaml --
# comment
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: x}
---
---
apiVersion: v1
kind: List
items:
  - apiVersion: v1
    kind: Namespace
    metadata: {name: one}
  - apiVersion: v1
    kind: Namespace
    metadata: {name: two}
-- apps/a.json --
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
-- package.json --
{"name": "x"}
-- README.md --
text
-- .git/config.yaml --
apiVersion: v1
kind: ConfigMap
-- .github/x.yaml --
apiVersion: v1
kind: ConfigMap
-- values.yaml --
a: 1
`

func TestLoadFindsObjects(t *testing.T) {
	fromFolder, err := Load(write(t, small), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"apps/a.json:1 ConfigMap a", "apps/b.yaml:2 ConfigMap x/b", "apps/b.yaml:10 Namespace one", "apps/b.yaml:13 Namespace two"}
	for name, r := range map[string]*Repository{"folder": fromFolder, "memory": inMemory(t, strings.ReplaceAll(small, ".git/", ".github/"), Limits{})} {
		var got []string
		for o := range r.Objects() {
			got = append(got, fmt.Sprintf("%s:%d %s", o.File(), o.Node.Line, o))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: objects are %q, want %q", name, got, want)
		}
		if found := r.Find("", "ConfigMap", "x", "b"); len(found) != 1 || found[0].Version() != "v1" {
			t.Errorf("%s: Find gives %v", name, found)
		}
		if f, ok := r.File(".github/x.yaml"); !ok || !f.Excluded {
			t.Errorf("%s: what Flux leaves out is not marked", name)
		}
		if _, ok := r.File("package.json"); ok || !r.Exists("package.json") || r.Exists("apps") {
			t.Errorf("%s: package.json is a file without documents", name)
		}
	}
	if fromFolder.Exists(".git/config.yaml") {
		t.Error(".git was read")
	}
}

func TestWhatCannotBeReadIsTold(t *testing.T) {
	jobs := documents([]entry{
		{path: "folder", err: &fs.PathError{Op: "open", Path: "/home/user/folder", Err: fs.ErrPermission}},
		{path: "a.yaml", err: fs.ErrPermission}, {path: "a.txt"},
	}, Limits{}.withDefaults())
	if len(jobs) != 2 || jobs[0].file.Err.Error() != "folder: cannot be read: permission denied" {
		t.Errorf("unreadable files are %+v", jobs)
	}
}

func TestLoadRefusesWhatIsNoFolder(t *testing.T) {
	dir := write(t, small)
	for _, p := range []string{filepath.Join(dir, "README.md"), filepath.Join(dir, "nothing")} {
		if _, err := Load(p, Options{}); err == nil {
			t.Errorf("%s is loaded", p)
		}
	}
	if _, err := Load(dir, Options{Limits: Limits{Files: 3}}); err == nil || !strings.Contains(err.Error(), "more than 3 files") {
		t.Errorf("too many files give %v", err)
	}
	if _, err := Load(dir, Options{Limits: Limits{Parsed: 1}}); err == nil || !strings.Contains(err.Error(), "YAML and JSON files; up to 1 are read: run the command on a part") {
		t.Errorf("too many documents give %v", err)
	}
	if _, err := FromFiles(maps.All(map[string][]byte{"a.yaml": nil, "b.json": nil, "c.txt": nil}), Options{Limits: Limits{Parsed: 1}}); err == nil || !strings.Contains(err.Error(), "2 YAML and JSON files") {
		t.Errorf("too many documents in memory give %v", err)
	}
}

func TestFromFilesRefusesPathsThatLeadOut(t *testing.T) {
	for _, p := range []string{"../a.yaml", "/a.yaml", "a/../b.yaml", "", ".", `a\b.yaml`, "a//b"} {
		if _, err := FromFiles(maps.All(map[string][]byte{p: nil}), Options{}); err == nil {
			t.Errorf("%q is accepted", p)
		}
	}
}

func TestReadFileStaysInside(t *testing.T) {
	outside := write(t, "-- secret.yaml --\npassword: x\n-- dir/a.yaml --\na: 1\n")
	dir := write(t, small)
	for from, to := range map[string]string{
		"out.yaml": filepath.Join(outside, "secret.yaml"), "outdir": outside, "loop.yaml": "loop.yaml",
		"a-loop.yaml": "b-loop.yaml", "b-loop.yaml": "a-loop.yaml", "in.yaml": "apps/b.yaml",
		"up.yaml": "../" + filepath.Base(outside) + "/secret.yaml", "self": ".",
	} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"out.yaml", "outdir/secret.yaml", "outdir/dir/a.yaml", "loop.yaml", "a-loop.yaml", "up.yaml",
		"../x", "/etc/passwd", "apps/../../x", "apps", "pipe.yaml", ".", ""} {
		if data, err := r.ReadFile(p); err == nil {
			t.Errorf("%q is read: %q", p, data)
		}
	}
	if _, err := r.ReadFile("nothing.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that isn't there gives %v", err)
	}
	if data, err := r.ReadFile("in.yaml"); err != nil || !strings.Contains(string(data), "ConfigMap") {
		t.Errorf("a symlink inside of the folder gives %v", err)
	}
	for _, f := range r.Files() {
		if strings.Contains(f.Path, "loop") || strings.HasPrefix(f.Path, "out") || f.Path == "pipe.yaml" || strings.HasPrefix(f.Path, "self") {
			t.Errorf("%s was loaded", f.Path)
		}
	}
}

func TestAHundredMegabytesAreNotRead(t *testing.T) {
	dir := write(t, small)
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, []byte("a: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(big, 100<<20); err != nil {
		t.Fatal(err)
	}
	r, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, _ := r.File("big.yaml")
	if f == nil || f.Err == nil || f.Err.Reason != TooLarge || !strings.Contains(f.Err.Error(), "100.0 MB") {
		t.Errorf("the file gives %+v", f)
	}
	var typed *Error
	if _, err := r.ReadFile("big.yaml"); !errors.As(err, &typed) || typed.Reason != TooLarge {
		t.Errorf("reading it gives %v", err)
	}
}

// numbered repeats a text with the numbers from 0 on.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// bomb is the billion laughs.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		ref := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Join(slices.Repeat([]string{ref}, 9), ", "))
	}
	return b.String()
}

func TestHostileFilesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, text string
		limits     Limits
		reason     Reason
		at         string
	}{
		{"alias bomb", bomb(), Limits{}, TooManyAliases, ":1:1"},
		{"merge bomb", strings.NewReplacer("[x, x, x, x, x, x, x, x, x]", "{x: y}", "[*", "{<<: [*", "]", "]}").Replace(bomb()), Limits{}, TooManyAliases, ":1:1"},
		{"many keys", numbered("k%d: v\n", 8000), Limits{}, TooLarge, ":1:1"},
		{"many keys in all", numbered("k%d: v\n", 300), Limits{KeyPairs: 40_000}, TooLarge, ":1:1"},
		{"long text", "a: &a " + strings.Repeat("x", 10_000) + "\nb: [" + strings.Repeat("*a, ", 4000) + "]\n", Limits{}, TooManyAliases, ":1:1"},
		{"aliases in all", "a: &a " + strings.Repeat("x", 10_000) + "\nb: [" + strings.Repeat("*a, ", 500) + "]\n", Limits{AliasBytes: 1 << 20}, TooManyAliases, ":1:1"},
		{"alias of itself", "a: &a\n  b: *a\n", Limits{}, NotYAML, ":2:6"},
		{"deep", strings.Repeat("[", 5000) + strings.Repeat("]", 5000), Limits{}, TooDeep, ":1:202"},
		{"deeper than the parser goes", strings.Repeat("[", 200000), Limits{}, TooDeep, ":1:1"},
		{"many aliases of what is deep", "a: &a " + strings.Repeat("{a: ", 150) + "[" + strings.Repeat("x, ", 1000) + "]" + strings.Repeat("}", 150) + "\nb: [" + strings.Repeat("*a, ", 100) + "]\n", Limits{}, TooDeep, ":1:1"},
		{"deep through aliases", "a: &a " + strings.Repeat("[", 150) + strings.Repeat("]", 150) + "\nb: " + strings.Repeat("[", 100) + "*a" + strings.Repeat("]", 100), Limits{}, TooDeep, ":2:104"},
		{"many documents", strings.Repeat("---\na: 1\n", 50), Limits{Documents: 20}, TooLarge, ":41:1"},
		{"many values", "[" + strings.Repeat("a,", 5000) + "]", Limits{FileNodes: 1000}, TooLarge, ""},
		{"all too large", strings.Repeat("# comment\n", 100), Limits{TotalBytes: 500}, TooLarge, ""},
		{"many values in all", "[" + strings.Repeat("a,", 500) + "]", Limits{TotalNodes: 100}, TooLarge, ""},
		{"template", "a: {{ .Values.x }}\nb: [\n", Limits{}, NotYAML, ":2:1"},
		{"undefined alias", "a: '*zz'\nhost: *zz\n", Limits{}, NotYAML, ":2:7"},
		{"binary", "\x00\x01\x02", Limits{}, NotYAML, ":1:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := inMemory(t, "-- f.yaml --\n"+c.text, c.limits)
			err := r.Files()[0].Err
			if err == nil || err.Reason != c.reason || !strings.HasPrefix(err.Error(), "f.yaml"+c.at+": ") {
				t.Errorf("the error is %v (%+v), want %s at %s", err, err, c.reason, c.at)
			}
		})
	}
}

// TestSyntaxErrorsAreAtTheLineToMend, and say how.
func TestSyntaxErrorsAreAtTheLineToMend(t *testing.T) {
	for _, c := range []struct{ name, text, at, hint string }{
		{"indented more", "a:\n  b: c\n   d: e\n", ":3:4", "indent the line"},
		{"indented less", "a:\n  b: c\n  d: e\n f: g\nh: i\n", ":4:2", "indent the line"},
		{"the first of a block, more", "a:\n   b:\n    c: d\n    e: f\n  g: h\n  i: j\n", ":2:4", "indent the line by 2 spaces, as line 5"},
		{"the first of a block, less", "a:\n b:\n    c: d\n    e: f\n  g: h\n  i: j\nk: l\n", ":2:2", "indent the line by 2 spaces, as line 5"},
		{"an entry beside its neighbours", "a:\n  b:\n    c: d\n  e:\n    f: g\n    h: i\n    j: k\n    l: m\n  x: y\n  z:\n   e: f\n    i: j\n    k: l\n", ":11:4", "indent the line by 4 spaces, as line 12"},
		{"one of two that don't fit each other", "a:\n  b: c\n d: e\n", ":3:2", "indent the line like"},
		{"an item among keys", "a: b\nc:\n  d: e\n  - f\ng: h\n", ":4:3", "indent the line"},
		{"in a second document", "a: b\n---\nc:\n    d: e\n  f: g\n", ":5:3", "indent the line"},
		{"a text", "a: b\nc: @d\n", ":2:1", "quote the text"},
		{"a quote", "x: y\na: \"b\nc: d\n", ":2:1", "close the quote"},
		{"a colon", "a:\n  b: c: d\n", ":2:3", "indent the line"},
	} {
		err := inMemory(t, "-- f.yaml --\n"+c.text, Limits{}).Files()[0].Err
		if err == nil || !strings.HasPrefix(err.Error(), "f.yaml"+c.at+": ") || !strings.HasPrefix(err.Hint, c.hint) {
			t.Errorf("%s: the error is %v, and its hint %q; want %s and %q", c.name, err, err.Hint, c.at, c.hint)
		}
	}
}

func TestABrokenDocumentLeavesTheOthers(t *testing.T) {
	r := inMemory(t, `-- f.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
a: {{ x }}
b: [
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
`, Limits{})
	f := r.Files()[0]
	if f.Err == nil || !f.Err.Template {
		t.Errorf("the error is %+v", f.Err)
	}
	if len(f.Documents) != 2 || f.Documents[1].Index != 2 || f.Documents[1].Line != 8 {
		t.Errorf("documents are %+v", f.Documents)
	}
	if line, column := f.Documents[1].Objects[0].Position("metadata", "name"); line != 10 || column != 18 {
		t.Errorf("the name is at %d:%d", line, column)
	}
}

func TestWhatBreaksNaiveParsers(t *testing.T) {
	r := inMemory(t, "-- f.yaml --\n\ufeff# byte order mark\r\napiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: crlf\r\n"+
		"-- g.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: anchors}\na: &x 1\nb: *x\nc: &x 2\nd: *x\n", Limits{})
	f := r.Find("", "ConfigMap", "", "crlf")
	if len(f) != 1 {
		t.Fatalf("the file with CRLF gives %v, %v", f, r.Files()[0].Err)
	}
	if line, column := f[0].Position("metadata", "name"); line != 5 || column != 9 {
		t.Errorf("the name is at %d:%d", line, column)
	}
	v, err := r.Find("", "ConfigMap", "", "anchors")[0].Value()
	m := v.(map[string]any)
	if err != nil || m["b"] != int64(1) || m["d"] != int64(2) {
		t.Errorf("anchors defined again give %v, %v", m, err)
	}
}

func TestSOPS(t *testing.T) {
	r := inMemory(t, `-- f.yaml --
apiVersion: v1
kind: Secret
metadata: {name: a}
stringData: {x: "ENC[AES256_GCM,data:a]"}
sops: {mac: x, lastmodified: y}
---
apiVersion: ENC[AES256_GCM,data:a]
kind: ENC[AES256_GCM,data:b]
sops: {mac: x}
---
apiVersion: v1
kind: Secret
metadata: {name: plain}
sops: yes
`, Limits{})
	docs := r.Files()[0].Documents
	if !docs[0].Encrypted || !docs[1].Encrypted || docs[2].Encrypted || len(docs[1].Objects) != 0 {
		t.Errorf("encrypted documents are not recognised")
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(bomb()))
	f.Add([]byte("a: &a {<<: *a}\n"))
	f.Add([]byte("kind: Kustomization\nresources: [a, {b: c}]\npatches: [{path: ../x}]\n"))
	f.Add([]byte("apiVersion: v1\nkind: Secret\ndata: &x {a: *x}\n---\n? [a]\n: b\n"))
	f.Add([]byte("apiVersion: v1\nkind: Secret\nstringData:\n  a: |\n    b\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files := map[string][]byte{"a/kustomization.yaml": data, "b.yaml": data, ".sourceignore": data}
		r, err := FromFiles(maps.All(files), Options{Limits: Limits{AliasNodes: 10_000}})
		if err != nil {
			t.Fatal(err)
		}
		lines := r.Lines()
		for o := range r.Objects() {
			if _, err := o.Value(); err != nil {
				var typed *Error
				if !errors.As(err, &typed) {
					t.Errorf("an error without a type: %v", err)
				}
			}
			if line, column := o.Position("metadata", "name"); line < 1 || column < 1 {
				t.Errorf("a position of %d:%d", line, column)
			}
			o.Lookup("spec", 0, "x")
			lines.Line(o.File(), o.Node.Line)
		}
		for _, f := range r.Files() {
			r.Use(f.Path)
		}
	})
}

func TestTabsArePointedAt(t *testing.T) {
	for text, want := range map[string]string{
		"a:\n\tb: c\n":                     "2:1: is not YAML: it is indented with a tab, but YAML requires spaces",
		"a:\n  b: c\n\td: e\n":             "3:1: is not YAML: it is indented with a tab, but YAML requires spaces",
		"a:\n  b: c\n  \td: e\n":           "3:3: is not YAML: it is indented with a tab, but YAML requires spaces",
		"x: y\n---\na: b\n\tc: d\n":        "4:1: is not YAML: it is indented with a tab, but YAML requires spaces",
		"a: b\nc: [\nd: |\n\te\n":          "4:1: is not YAML: it is indented with a tab, but YAML requires spaces",
		"a: |\n  text\n  \tb: c\nd: [\n\n": "5:1: is not YAML: did not find expected node content",
	} {
		repo, err := FromFiles(maps.All(map[string][]byte{"a.yaml": []byte(text)}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, ok := repo.File("a.yaml")
		if !ok || f.Err == nil {
			t.Errorf("%q: no error", text)
			continue
		}
		if got := fmt.Sprintf("%d:%d: %s", f.Err.Line, f.Err.Column, f.Err.Message); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
