package gitrepo

import (
	"errors"
	"fmt"
	"io"
	"path"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// The kinds of units that read objects of a repository. Objects are compressed, so that a small one may become very
// large.
const (
	revisionKind = "revision"
	readingKind  = "reading"
)

// ErrLarge is returned for a file that is larger than 10 MB and therefore not read.
var ErrLarge = errors.New("larger than 10 MB")

// bound limits how much of an object is read.
type bound struct {
	bytes int64
	// met is the reason why an object was not read. Libraries report such an object as missing.
	met string

	opened  bool // whether folders is set
	folders []objectFolder
	err     error
	cache   cache.Object // of objects in packs
}

// bounded reads an object if its header, and the headers of the objects that it is a delta of, are within the limit.
func (s objects) bounded(kind plumbing.ObjectType, hash plumbing.Hash) (plumbing.EncodedObject, error) {
	folders, err := s.folders()
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		o, err := s.loose(f, hash)
		if err == nil && o == nil {
			o, err = s.fromPack(f, hash)
		}
		switch {
		case err != nil:
			return nil, err
		case o != nil && (kind == plumbing.AnyObject || kind == o.Type()):
			return o, nil
		}
	}
	return nil, plumbing.ErrObjectNotFound
}

// size returns the size of an object according to its header.
func (s objects) size(hash plumbing.Hash) (size int64, err error) {
	folders, err := s.folders()
	if err != nil {
		return 0, err
	}
	for _, f := range folders {
		if size, err = looseSize(f, hash); size >= 0 || err != nil {
			return size, err
		}
		found, err := f.packed(hash, func(p pack, file billy.File) error {
			at, err := p.index.FindOffset(hash)
			if err != nil {
				return err
			}
			h, err := p.header(file, at)
			if size = h.length; h.isDelta() {
				size = h.result
			}
			return err
		})
		if found || err != nil {
			return size, err
		}
	}
	return 0, plumbing.ErrObjectNotFound
}

// looseSize returns the size in the header of a loose object; -1 if the file does not exist.
func looseSize(folder objectFolder, hash plumbing.Hash) (size int64, err error) {
	f, err := folder.files.Open(looseFile(hash))
	if err != nil {
		return -1, nil // the object may be in a pack
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := objfile.NewReader(f)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	_, size, err = r.Header()
	return max(size, 0), err
}

// looseFile returns the path of a loose object.
func looseFile(hash plumbing.Hash) string {
	name := hash.String()
	return path.Join("objects", name[:2], name[2:])
}

// loose reads a loose object. It checks the actual size, not only the header. It returns nil if the file does not exist.
func (s objects) loose(folder objectFolder, hash plumbing.Hash) (o plumbing.EncodedObject, err error) {
	f, err := folder.files.Open(looseFile(hash))
	if err != nil {
		return nil, nil // the object may be in a pack
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r, err := objfile.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	kind, size, err := r.Header()
	if err != nil {
		return nil, err
	}
	if size < 0 || size > s.bound.bytes {
		return nil, s.exceed(fmt.Sprintf("object %s has %d MB; up to %d MB are read", hash, size>>20, s.bound.bytes>>20))
	}
	data := make([]byte, size)
	n, err := io.ReadFull(r, data)
	more, _ := io.ReadFull(r, make([]byte, 1))
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if int64(n) != size || more > 0 {
		return nil, s.exceed(fmt.Sprintf("object %s does not have the %d bytes that its header says", hash, size))
	}
	m := &plumbing.MemoryObject{}
	m.SetType(kind)
	_, err = m.Write(data)
	return m, err
}

// exceed records why a part of the store was not read, and returns it as an error.
func (s objects) exceed(why string) error {
	s.bound.met = why
	return errors.New(why)
}

// reading runs work as the unit that reads the commit and the folders of a revision. If a limit is exceeded, it returns
// and records a bounds.Error.
func (s objects) reading(revision string, work func() error) error {
	unit := bounds.Unit{Kind: revisionKind, Name: revision}
	return bounds.Check(unit, func() error {
		err := work()
		if err == nil || s.bound.met == "" {
			return err
		}
		return bounds.Refused(unit, s.bound.met, "")
	})
}

// mostKept is the maximum number of bytes of files that are kept in memory.
const mostKept = 32 << 20

// blobs reads files of a revision or of the index. It is safe for concurrent use.
type blobs struct {
	store objects
	// where names the files' revision in messages, such as "at HEAD".
	where string

	mu    sync.Mutex
	kept  map[plumbing.Hash][]byte
	bytes int
}

// read reads a file of at most 10 MB as a unit of its own. size is its size according to git.
func (b *blobs) read(name string, hash plumbing.Hash, size int64) ([]byte, error) {
	unit := bounds.Unit{Kind: readingKind, File: name, Name: name + " " + b.where}
	return bounds.Do(unit, func() (data []byte, err error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if data, ok := b.kept[hash]; ok {
			return data, nil
		}
		if size > limits.FileBytes {
			return nil, fmt.Errorf("%s is %w", name, ErrLarge)
		}
		if data, err = b.store.blob(hash); err != nil && b.store.bound.met != "" {
			err, b.store.bound.met = bounds.Refused(unit, b.store.bound.met, ""), ""
		}
		if err != nil {
			return nil, err
		}
		if b.bytes+len(data) <= mostKept {
			if b.kept == nil {
				b.kept = map[plumbing.Hash][]byte{}
			}
			b.kept[hash] = data
			b.bytes += len(data)
		}
		return data, nil
	})
}
