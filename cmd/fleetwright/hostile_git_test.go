//go:build unix

package main

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"testing"
)

// gitBombs are repositories of git's whose objects are small, and large once they are inflated.
func gitBombs() []hostileCase {
	const huge = 300 << 20
	signed := "author a <a@example.com> 1700000000 +0000\ncommitter a <a@example.com> 1700000000 +0000\n\nx\n"
	readers := []string{"diff --from HEAD", "validate --changed-since HEAD"}
	bomb := func(name, want string, runs []string, commit func(g gitFolder) string) hostileCase {
		return hostileCase{name: "git: " + name, runs: runs, want: []string{want}, make: func(t *testing.T, repo, _ string) {
			files(map[string]string{
				"clusters/one/ks.yaml": fluxKs("app", ""), "app/a.yaml": configMap("a", "  b: c\n"),
				".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\trepositoryformatversion = 0\n", ".git/objects/info/none": "",
			})(t, repo, "")
			hash := commit(gitFolder{t, filepath.Join(repo, ".git")})
			putFile(t, filepath.Join(repo, ".git/refs/heads/main"), []byte(hash+"\n"))
		}}
	}
	of := func(g gitFolder, tree string) string {
		return g.put("commit", "tree "+tree+"\n"+signed, 0, -1)
	}
	return []hostileCase{
		bomb("a huge commit", "the revision HEAD was not checked: object ", append(readers, "secrets check --staged"), func(g gitFolder) string {
			return g.put("commit", "tree "+g.put("tree", "", 0, -1)+"\n"+signed, huge, -1)
		}),
		bomb("a commit whose header lies", "the revision HEAD was not checked: object ", append(readers, "secrets check --staged"), func(g gitFolder) string {
			return g.put("commit", "tree "+g.put("tree", "", 0, -1)+"\n"+signed, huge, 100)
		}),
		bomb("a huge tree", "the revision HEAD was not checked: object ", append(readers, "secrets check --staged"), func(g gitFolder) string {
			return of(g, g.put("tree", "", huge, -1))
		}),
		bomb("a huge file", "b.yaml was not checked: it is 300.0 MB", readers, func(g gitFolder) string {
			return of(g, g.tree("100644 b.yaml", g.put("blob", "", huge, -1)))
		}),
		bomb("a file whose header lies", "the reading of b.yaml at HEAD was not checked: object ", readers, func(g gitFolder) string {
			return of(g, g.tree("100644 b.yaml", g.put("blob", "", huge, 100)))
		}),
		bomb("folders in each other", "the revision HEAD was not checked: it has more than 200000 files and folders", readers, func(g gitFolder) string {
			tree := g.put("tree", "", 0, -1)
			for range 24 {
				tree = g.tree("40000 a", tree, "40000 b", tree)
			}
			return of(g, tree)
		}),
		bomb("many files", "the repository has more than 256 MB of text", readers[1:], func(g gitFolder) string {
			var entries []string
			for i := range 30 {
				entries = append(entries, fmt.Sprintf("100644 a%02d.txt", i), g.put("blob", fmt.Sprintf("%d: ", i), 9<<20, -1))
			}
			return of(g, g.tree(entries...))
		}),
	}
}

// gitFolder is the folder of a repository's objects.
type gitFolder struct {
	t   *testing.T
	dir string
}

// tree writes a tree of entries, each a mode with a name, and a hash.
func (g gitFolder) tree(entries ...string) string {
	var text []byte
	for i := 0; i < len(entries); i += 2 {
		hash, err := hex.DecodeString(entries[i+1])
		if err != nil {
			g.t.Fatal(err)
		}
		text = append(append(append(text, entries[i]...), 0), hash...)
	}
	return g.put("tree", string(text), 0, -1)
}

// put writes an object of a text and a padding, and returns its name. Claimed is the size in its
// header; -1 is its own.
func (g gitFolder) put(kind, text string, padding, claimed int) string {
	g.t.Helper()
	if claimed < 0 {
		claimed = len(text) + padding
	}
	var file bytes.Buffer
	sum, packed := sha1.New(), zlib.NewWriter(&file)
	w := io.MultiWriter(sum, packed)
	chunk := bytes.Repeat([]byte("a"), 1<<20)
	_, err := fmt.Fprintf(w, "%s %d\x00%s", kind, claimed, text)
	for ; err == nil && padding > 0; padding -= len(chunk) {
		_, err = w.Write(chunk[:min(padding, len(chunk))])
	}
	if err == nil {
		err = packed.Close()
	}
	if err != nil {
		g.t.Fatal(err)
	}
	name := hex.EncodeToString(sum.Sum(nil))
	putFile(g.t, filepath.Join(g.dir, "objects", name[:2], name[2:]), file.Bytes())
	return name
}
