package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// attributePaths are asked of git and of us.
var attributePaths = []string{
	"a", "a.bin", "big.BIN", "d/a.bin", "d/e/a.bin", "d/e/f/x.yaml", "lfs/x", "lfs/deep/x", "x y.dat", "tab\tx", "[z]", "a1", "a-", "ab", "docs/a.txt",
	"docs/b/a.txt", "keep/a.bin", "root.yaml", "d/root.yaml", "q?", "ünï", "back\\slash", "d/.hidden", "z/ab/c", "z/c",
}

// attributeFiles are sets of attributes files: the work tree's by their paths, info for
// .git/info/attributes, and user for the user's.
var attributeFiles = []map[string]string{
	{".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"},
	{".gitattributes": "[attr]lfs filter=lfs diff=lfs -text\n*.bin lfs\nkeep/* -lfs\nkeep/*.bin !filter\n"},
	{".gitattributes": "*.bin filter=lfs\n", "d/.gitattributes": "a.bin -filter\n", "keep/.gitattributes": "*.bin !filter\n"},
	{".gitattributes": "# comment\n\n  lfs/** filter=x\n/root.yaml filter=y\nd/e/ filter=no\n!neg filter=no\n"},
	{".gitattributes": "\"x y.dat\" filter=q\n\"tab\\tx\" filter=q\n\"\\303\\274n\\303\\257\" filter=q\n\"open filter=no\n"},
	{".gitattributes": "\\[z\\] filter=e\na[0-9] filter=c\na[!0-9] filter=n\na[^a-z] filter=m\nq\\? filter=e\nback\\\\slash filter=b\n"},
	{".gitattributes": "**/a.txt filter=s\nz/**/c filter=s\nd/** filter=s\nd/*/f/* filter=t\n**/.hidden filter=u\n*/root.yaml filter=v\n"},
	{".gitattributes": "a filter\nab filter=\na1 filter=lfs filter=git\n*.bin filter=lfs -filter\nd/a.bin -filter filter=lfs\n"},
	{".gitattributes": "*.txt working-tree-encoding=UTF-16\ndocs/b/** working-tree-encoding=UTF-8\nroot.yaml text eol=crlf ident\n"},
	{".gitattributes": "*.bin filter=lfs\n", "info": "*.bin -filter\nroot.yaml filter=i\n", "user": "a filter=u\n*.bin filter=u\n"},
	{"user": "[attr]mine filter=u\n*.bin mine\n", ".gitattributes": "a mine\n", "d/.gitattributes": "[attr]other filter=o\n* other\n"},
	{".gitattributes": "[[:alpha:]][[:digit:]] filter=p\n[a-] filter=d\n[]x] filter=d\n?? filter=w\n***.bin filter=stars\n"},
}

// TestAttributes compares with "git check-attr".
func TestAttributes(t *testing.T) {
	for i, files := range attributeFiles {
		dir := normal(t, map[string]string{"f": "1"})
		home := tempDir(t)
		for name, content := range files {
			switch name {
			case "info":
				write(t, dir, map[string]string{".git/info/attributes": content})
			case "user":
				write(t, home, map[string]string{".config/git/attributes": content})
			default:
				write(t, dir, map[string]string{name: content})
			}
		}
		b := open(t, dir, "main", Options{Env: environ("HOME="+home, "GIT_ATTR_NOSYSTEM=1", "GIT_CONFIG_NOSYSTEM=1")})
		a, err := b.attributes(nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("HOME", home)
		t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
		t.Setenv("GIT_ATTR_NOSYSTEM", "1")
		for _, name := range byteAttributes {
			out := git(t, dir, append([]string{"check-attr", "-z", name, "--"}, attributePaths...)...)
			fields := strings.Split(out[strings.LastIndexByte(out, '\n')+1:], "\x00") // warnings come first
			for k := 0; k+2 < len(fields); k += 3 {
				want := fields[k+2]
				if want == "set" || want == "unset" || want == "unspecified" {
					want = ""
				}
				if _, got := a.value(fields[k], name); got != want {
					t.Errorf("%d: %s of %q is %q, and git says %q", i, name, fields[k], got, want)
				}
			}
		}
	}
}

// TestFilterRefused refuses to commit what git would put through a filter, or in another encoding,
// wherever that is said, and nothing else.
func TestFilterRefused(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1", ".gitattributes": "*.bin filter=lfs\n*.txt working-tree-encoding=UTF-16\n*.yaml text eol=lf\n"})
	before := git(t, dir, "rev-parse", "main")
	for path, refused := range map[string]bool{"x.bin": true, "d/x.bin": true, "x.txt": true, "x.yaml": false} {
		_, err := open(t, dir, "main", Options{}).Commit(t.Context(), puts(map[string]string{path: "1"}), CommitOptions{Message: "x", Author: opts("x").Author, DryRun: true})
		if errors.Is(err, ErrFilter) != refused {
			t.Errorf("%s: %v", path, err)
		}
		var advice *Advice
		if refused && (!errors.As(err, &advice) || !strings.Contains(err.Error(), ".gitattributes:")) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if git(t, dir, "rev-parse", "main") != before {
		t.Error("something was committed")
	}
	// Without a work tree, the branch says it.
	from := bare(t)
	git(t, dir, "push", "-q", from, "main")
	if _, err := open(t, from, "main", Options{}).Commit(t.Context(), puts(map[string]string{"x.bin": "1"}), opts("x")); !errors.Is(err, ErrFilter) {
		t.Errorf("bare: %v", err)
	}
	// What a commit deletes goes through no filter, and what the commit itself says counts.
	commitTo(t, from, "main", Options{}, map[string]string{".gitattributes": "", "x.bin": "1"})
	commitTo(t, from, "main", Options{}, map[string]string{".gitattributes": "*.bin filter=lfs\n"})
	commitTo(t, from, "main", Options{}, map[string]string{"x.bin": "-"})
}

// A link in the place of an attributes file is not followed, as git doesn't, and a fifo doesn't hang.
func TestStrangeAttributes(t *testing.T) {
	dir := normal(t, map[string]string{"a": "1"})
	write(t, dir, map[string]string{"other": "* filter=x\n"})
	if err := os.Symlink("other", filepath.Join(dir, ".gitattributes")); err != nil {
		t.Fatal(err)
	}
	commitTo(t, dir, "main", Options{}, map[string]string{"a": "2"})
}
