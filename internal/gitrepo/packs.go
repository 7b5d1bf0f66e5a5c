package gitrepo

import (
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// What the objects in packs come to that an object is made of: git writes chains of at most 4,095 deltas, of 50
// unless it is told otherwise.
const (
	mostDeltas     = 4095
	mostDeltaBytes = 4 * MostFileBytes  // of the deltas, which are in memory all at once
	mostChainBytes = 64 * MostFileBytes // of what is made of them, one after the other
	mostBorrowing  = 5                  // repositories that borrow objects from each other, as git follows them
)

// objectFolder is a folder with a folder "objects", and the indexes of its packs.
type objectFolder struct {
	files billy.Filesystem
	packs []pack
}

type pack struct {
	name  string
	index *idxfile.MemoryIndex
}

// folders are the repository's own and those that it borrows objects from.
func (s objects) folders() ([]objectFolder, error) {
	b := s.bound
	if !b.opened {
		b.opened = true
		b.cache = cache.NewObjectLRU(32 * cache.MiByte)
		b.folders, b.err = openFolders(s.Filesystem(), s.borrowed, 0)
	}
	return b.folders, b.err
}

func openFolders(files, borrowed billy.Filesystem, depth int) ([]objectFolder, error) {
	own := objectFolder{files: files}
	entries, _ := files.ReadDir("objects/pack") // there may be none
	for _, e := range entries {
		name, isIndex := strings.CutSuffix(e.Name(), ".idx")
		if !isIndex || !strings.HasPrefix(name, "pack-") {
			continue
		}
		index, err := readPackIndex(files, path.Join("objects/pack", e.Name()))
		if err != nil {
			return nil, err
		}
		own.packs = append(own.packs, pack{path.Join("objects/pack", name+".pack"), index})
	}
	all := []objectFolder{own}
	if depth >= mostBorrowing {
		return all, nil
	}
	others, err := dotgit.NewWithOptions(files, dotgit.Options{AlternatesFS: borrowed}).Alternates()
	if err != nil {
		return all, nil //nolint:nilerr // it borrows from none
	}
	for _, other := range others {
		more, err := openFolders(regularFiles{other.Fs()}, borrowed, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
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

// packed opens the pack with an object and does something with it; false where none has it.
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

// fromPack reads an object of a pack, once the headers of what it is made of say that it may be.
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

// packHeader is what comes before the compressed bytes of an object in a pack.
type packHeader struct {
	kind plumbing.ObjectType
	// length is that of the object, or of the delta, and result that of what the delta makes.
	length, result int64
	// base is where the object is that a delta changes.
	base int64
}

func (h packHeader) isDelta() bool {
	return h.kind == plumbing.OFSDeltaObject || h.kind == plumbing.REFDeltaObject
}

// checkChain refuses an object that is made of others that are too large, or too many, by their headers: nothing
// is inflated before.
func (s objects) checkChain(p pack, file io.ReaderAt, hash plumbing.Hash) error {
	at, err := p.index.FindOffset(hash)
	if err != nil {
		return err
	}
	var deltas, made int64
	for range mostDeltas + 1 {
		h, err := p.header(file, at)
		if err != nil {
			return err
		}
		if size := max(h.length, h.result); size > s.bound.bytes {
			return s.exceed(fmt.Sprintf("object %s has, or is made of one that has, %d MB; up to %d MB are read", hash, size>>20, s.bound.bytes>>20))
		}
		if !h.isDelta() {
			return nil
		}
		deltas, made, at = deltas+h.length, made+h.result, h.base
		if deltas > mostDeltaBytes || made > mostChainBytes {
			return s.exceed(fmt.Sprintf("object %s is made of others that have more than %d MB", hash, mostChainBytes>>20))
		}
	}
	return s.exceed(fmt.Sprintf("object %s is made of more than %d others", hash, mostDeltas))
}

// longestHeader is what a header may have before the compressed bytes.
const longestHeader = 10 + 20

// header reads that of the object at an offset.
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
	// The first byte has the kind between the size's lowest four bits and the mark that more follow.
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

// backwards reads how far before a delta its base is.
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

// resultOf is the size of what a delta makes, which its first bytes say.
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
