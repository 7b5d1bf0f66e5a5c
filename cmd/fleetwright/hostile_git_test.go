//go:build hostile && unix

package main

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
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
		bomb("a delta of a huge file", "the reading of b.yaml at HEAD was not checked: object ", readers, func(g gitFolder) string {
			names := g.pack(packed{kind: 3, padding: huge}, packed{kind: 6, text: deltaOf(huge, 5), back: 1})
			return of(g, g.tree("100644 b.yaml", names[1]))
		}),
		bomb("a huge delta", "the reading of b.yaml at HEAD was not checked: object ", readers, func(g gitFolder) string {
			names := g.pack(packed{kind: 3, text: "abcde"}, packed{kind: 6, text: deltaOf(5, 5), padding: huge, back: 1})
			return of(g, g.tree("100644 b.yaml", names[1]))
		}),
		bomb("a delta that makes a huge file", "b.yaml was not checked: it is 300.0 MB", readers, func(g gitFolder) string {
			names := g.pack(packed{kind: 3, text: "abcde"}, packed{kind: 6, text: deltaOf(5, huge), back: 1})
			return of(g, g.tree("100644 b.yaml", names[1]))
		}),
		bomb("deltas in a circle", "the reading of b.yaml at HEAD was not checked: object ", readers, func(g gitFolder) string {
			names := g.pack(packed{kind: 7, text: deltaOf(5, 5), base: 1}, packed{kind: 7, text: deltaOf(5, 5)})
			return of(g, g.tree("100644 b.yaml", names[1]))
		}),
		bomb("a commit that is a delta of a huge one", "the revision HEAD was not checked: object ", append(readers, "secrets check --staged"), func(g gitFolder) string {
			return g.pack(packed{kind: 1, padding: huge}, packed{kind: 6, text: deltaOf(huge, 5), back: 1})[1]
		}),
		bomb("a tree that is a delta of a huge one", "the revision HEAD was not checked: object ", append(readers, "secrets check --staged"), func(g gitFolder) string {
			return of(g, g.pack(packed{kind: 2, padding: huge}, packed{kind: 7, text: deltaOf(huge, 5)})[1])
		}),
		bomb("a delta in a repository that it borrows from", "the revision HEAD was not checked: object ", readers, func(g gitFolder) string {
			putFile(g.t, filepath.Join(g.dir, "objects/info/alternates"), []byte("../borrowed/objects\n"))
			return gitFolder{g.t, filepath.Join(g.dir, "borrowed")}.pack(packed{kind: 1, padding: huge}, packed{kind: 6, text: deltaOf(huge, 5), back: 1})[1]
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

// packed is an object of a pack: of git's kinds, and of a text and a padding. A delta is of the object that is so
// many places before it, or at a place.
type packed struct {
	kind       byte
	text       string
	padding    int
	back, base int
}

// deltaOf is a delta that takes the first five bytes of a base, and says the sizes of both.
func deltaOf(base, result int) string {
	sizes := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(base)), uint64(result)) //nolint:gosec // not negative
	return string(append(sizes, 0x90, 5))
}

// pack writes a pack of objects with its index, and returns the names of the objects, which are made up.
func (g gitFolder) pack(all ...packed) (names []string) {
	g.t.Helper()
	var file bytes.Buffer
	file.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("PACK"), 2), uint32(len(all)))) //nolint:gosec // few
	name := func(i int) [sha1.Size]byte { return sha1.Sum([]byte{byte(i)}) }
	chunk := bytes.Repeat([]byte{1}, 1<<20)
	offsets := make([]int, len(all))
	for i, o := range all {
		offsets[i] = file.Len()
		names = append(names, fmt.Sprintf("%x", name(i)))
		size := len(o.text) + o.padding
		header := []byte{o.kind<<4 | byte(size&15)}
		for size >>= 4; size > 0; size >>= 7 {
			header[len(header)-1] |= 0x80
			header = append(header, byte(size&0x7f))
		}
		file.Write(header)
		switch o.kind {
		case 6:
			back := offsets[i] - offsets[i-o.back]
			bytesOf := []byte{byte(back & 0x7f)}
			for back >>= 7; back > 0; back >>= 7 {
				back--
				bytesOf = append([]byte{0x80 | byte(back&0x7f)}, bytesOf...)
			}
			file.Write(bytesOf)
		case 7:
			base := name(o.base)
			file.Write(base[:])
		}
		z := zlib.NewWriter(&file)
		_, err := io.WriteString(z, o.text)
		for left := o.padding; err == nil && left > 0; left -= len(chunk) {
			_, err = z.Write(chunk[:min(left, len(chunk))])
		}
		if err = errors.Join(err, z.Close()); err != nil {
			g.t.Fatal(err)
		}
	}
	sum := sha1.Sum(file.Bytes())
	file.Write(sum[:])
	base := filepath.Join(g.dir, "objects/pack", "pack-"+hex.EncodeToString(sum[:]))
	putFile(g.t, base+".pack", file.Bytes())
	putFile(g.t, base+".idx", packIndex(names, offsets, sum))
	return names
}

// packIndex is the index of a pack, in git's version 2.
func packIndex(names []string, offsets []int, sum [sha1.Size]byte) []byte {
	places := map[string]int{}
	for i, name := range names {
		places[name] = offsets[i]
	}
	sorted := slices.Sorted(slices.Values(names))
	data := []byte("\xfftOc\x00\x00\x00\x02")
	word := func(n int) { data = binary.BigEndian.AppendUint32(data, uint32(n)) } //nolint:gosec // small
	for first := range 256 {
		below := slices.IndexFunc(sorted, func(name string) bool { return name[:2] > fmt.Sprintf("%02x", first) })
		if below < 0 {
			below = len(sorted)
		}
		word(below)
	}
	for _, name := range sorted {
		hash, _ := hex.DecodeString(name)
		data = append(data, hash...)
	}
	for range sorted {
		word(0) // a checksum that nobody looks at
	}
	for _, name := range sorted {
		word(places[name])
	}
	data = append(data, sum[:]...)
	all := sha1.Sum(data)
	return append(data, all[:]...)
}
