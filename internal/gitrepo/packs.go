package gitrepo

import (
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/fleetwright/fleetwright/internal/limits"
)

const (
	mostBorrowing = 5   // depth of repositories that borrow objects from each other, as in git
	mostFolders   = 100 // repositories that objects are borrowed from
)

// objectFolder is a folder that contains a folder "objects", and the indexes of its packs.
type objectFolder struct {
	files billy.Filesystem
	packs []pack
}

type pack struct {
	name  string
	index *idxfile.MemoryIndex
}

// folders returns the repository's own object folder and the object folders that it borrows from.
func (s objects) folders() ([]objectFolder, error) {
	b := s.bound
	if !b.opened {
		b.opened = true
		b.cache = cache.NewObjectLRU(32 * cache.MiByte)
		b.folders, b.err = openFolders(s.common)
	}
	return b.folders, b.err
}

// openFolders opens the object folders of a repository and of the repositories that it borrows objects from, each once.
func openFolders(dir string) ([]objectFolder, error) {
	var all []objectFolder
	seen := map[string]bool{dir: true}
	for next, depth := []string{dir}, 0; len(next) > 0 && depth <= mostBorrowing; depth++ {
		var others []string
		for _, at := range next {
			own, err := openFolder(regularFiles{osfs.New(at)})
			if err != nil {
				return nil, err
			}
			all = append(all, own)
			for _, other := range alternatesOf(at) {
				if !seen[other] && len(seen) < mostFolders {
					seen[other] = true
					others = append(others, other)
				}
			}
		}
		next = others
	}
	return all, nil
}

// alternatesOf returns the folders of the repositories that a repository borrows objects from. Their paths
// are absolute, as "git clone --shared" writes them, or relative to its folder "objects".
func alternatesOf(dir string) []string {
	objects := filepath.Join(dir, "objects")
	data, err := readBounded(filepath.Join(objects, "info", "alternates"), 1<<20)
	if err != nil {
		return nil // the repository borrows no objects
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		all = append(all, filepath.Dir(resolveIn(objects, line)))
	}
	return all
}

// isPartial reports whether a repository was cloned with a filter: it has packs whose objects may refer
// to others that only the remote has.
func isPartial(dir string) bool {
	found, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.promisor"))
	return err == nil && len(found) > 0
}

func openFolder(files billy.Filesystem) (objectFolder, error) {
	own := objectFolder{files: files}
	entries, _ := files.ReadDir("objects/pack") // the folder may not exist
	for _, e := range entries {
		name, isIndex := strings.CutSuffix(e.Name(), ".idx")
		if !isIndex || !strings.HasPrefix(name, "pack-") {
			continue
		}
		index, err := readPackIndex(files, path.Join("objects/pack", e.Name()))
		if err != nil {
			return objectFolder{}, err
		}
		own.packs = append(own.packs, pack{path.Join("objects/pack", name+".pack"), index})
	}
	return own, nil
}

func readPackIndex(files billy.Filesystem, name string) (index *idxfile.MemoryIndex, err error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	index = idxfile.NewMemoryIndex()
	if err := idxfile.NewDecoder(f).Decode(index); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return index, nil
}

// packed calls do with the pack that contains an object. It returns false if no pack does.
func (f objectFolder) packed(hash plumbing.Hash, do func(p pack, file billy.File) error) (found bool, err error) {
	for _, p := range f.packs {
		if there, err := p.index.Contains(hash); err != nil || !there {
			continue
		}
		file, err := f.files.Open(p.name)
		if err != nil {
			return true, err
		}
		return true, errors.Join(do(p, file), file.Close())
	}
	return false, nil
}

// fromPack reads an object from a pack, after checkChain.
func (s objects) fromPack(f objectFolder, hash plumbing.Hash) (o plumbing.EncodedObject, err error) {
	if o, kept := s.bound.cache.Get(hash); kept {
		return o, nil
	}
	_, err = f.packed(hash, func(p pack, file billy.File) error {
		if err := s.checkChain(p, file, hash); err != nil {
			return err
		}
		o, err = packfile.NewPackfileWithCache(p.index, nil, file, s.bound.cache, 0).Get(hash)
		return err
	})
	return o, err
}

// packHeader is the header of an object in a pack, before the compressed bytes.
type packHeader struct {
	kind plumbing.ObjectType
	// length is the size of the object or delta, and result the size of the object that the delta creates.
	length, result int64
	// base is the offset of the object that a delta changes.
	base int64
}

func (h packHeader) isDelta() bool {
	return h.kind == plumbing.OFSDeltaObject || h.kind == plumbing.REFDeltaObject
}

// checkChain returns an error if the chain of deltas of an object is too long or its objects are too large. It reads
// the headers before anything is decompressed.
func (s objects) checkChain(p pack, file io.ReaderAt, hash plumbing.Hash) error {
	at, err := p.index.FindOffset(hash)
	if err != nil {
		return err
	}
	var deltas, expanded int64
	for range limits.Deltas + 1 {
		h, err := p.header(file, at)
		if err != nil {
			return err
		}
		if size := max(h.length, h.result); size > s.bound.bytes {
			return s.exceed(fmt.Sprintf("object %s, or an object that it is a delta of, has %d MB; up to %d MB are read", hash, size>>20, s.bound.bytes>>20))
		}
		if !h.isDelta() {
			return nil
		}
		deltas, expanded, at = deltas+h.length, expanded+h.result, h.base
		if deltas > limits.DeltaBytes || expanded > limits.ChainBytes {
			return s.exceed(fmt.Sprintf("the chain of deltas of object %s has more than %d MB", hash, limits.ChainBytes>>20))
		}
	}
	return s.exceed(fmt.Sprintf("the chain of deltas of object %s has more than %d objects", hash, limits.Deltas))
}

// longestHeader is the maximum length of a header before the compressed bytes.
const longestHeader = 10 + 20

// header reads the header of the object at an offset.
func (p pack) header(file io.ReaderAt, at int64) (h packHeader, err error) {
	malformed := fmt.Errorf("%w at %d of %s", packfile.ErrMalformedPackFile, at, p.name)
	buf := make([]byte, longestHeader)
	n, err := file.ReadAt(buf, at)
	if n == 0 {
		return h, errors.Join(malformed, err)
	}
	buf = buf[:n]
	size, used := binary.Uvarint(buf)
	if used <= 0 || size>>58 != 0 {
		return h, malformed
	}
	// The first byte contains the kind, between the lowest four bits of the size and the continuation bit.
	h.kind, h.length = plumbing.ObjectType(size>>4&7), int64(size>>7<<4|size&15) //nolint:gosec // below 2^58
	buf = buf[used:]
	start := at + int64(used)
	switch h.kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
		return h, nil
	case plumbing.OFSDeltaObject:
		back, used := backwards(buf)
		if used == 0 || back <= 0 || back > at {
			return h, malformed
		}
		h.base = at - back
		start += int64(used)
	case plumbing.REFDeltaObject:
		var base plumbing.Hash
		if len(buf) < len(base) {
			return h, malformed
		}
		copy(base[:], buf)
		if h.base, err = p.index.FindOffset(base); err != nil {
			return h, err
		}
		start += int64(len(base))
	default:
		return h, malformed
	}
	if h.result, err = resultOf(io.NewSectionReader(file, start, 1<<62)); err != nil {
		return h, errors.Join(malformed, err)
	}
	return h, nil
}

// backwards decodes the distance from a delta back to its base.
func backwards(buf []byte) (back int64, used int) {
	for i, b := range buf[:min(len(buf), 8)] {
		if i > 0 {
			back++
		}
		back = back<<7 | int64(b&0x7f)
		if b&0x80 == 0 {
			return back, i + 1
		}
	}
	return 0, 0
}

// resultOf returns the size of the object that a delta creates, from the delta's first bytes.
func resultOf(delta io.Reader) (int64, error) {
	z, err := zlib.NewReader(delta)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 2*binary.MaxVarintLen64)
	n, err := io.ReadFull(z, buf)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return 0, err
	}
	_, used := binary.Uvarint(buf[:n])
	if used <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	size, used := binary.Uvarint(buf[used:n])
	if used <= 0 || size > 1<<62 {
		return 0, io.ErrUnexpectedEOF
	}
	return int64(size), nil
}
