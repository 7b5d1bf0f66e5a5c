package gitrepo

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// unpackLimit is the maximum number of objects that are written as loose objects; more are written as
// one pack (git's transfer.unpackLimit). A pack needs a single sync to disk for all of its objects.
const unpackLimit = 100

// writeObjects writes the new objects of an editor to disk. When it returns, a reference may point
// to them.
func (e *editor) writeObjects(d disk, common string) error {
	var missing []plumbing.Hash
	dir := filepath.Join(common, "objects")
	for _, hash := range e.order {
		if e.store.HasEncodedObject(hash) == nil {
			// As git does, so that a prune in another process keeps it.
			now := time.Now() //nolint:forbidigo // a file's time, which goes into no output
			_ = os.Chtimes(loosePath(dir, hash), now, now)
			continue
		}
		missing = append(missing, hash)
	}
	if len(missing) == 0 {
		return nil
	}
	if len(missing) > unpackLimit {
		return e.writePack(d, dir, missing)
	}
	for _, hash := range missing {
		if err := e.writeLoose(d, dir, hash); err != nil {
			return err
		}
	}
	return nil
}

func loosePath(dir string, hash plumbing.Hash) string {
	name := hash.String()
	return filepath.Join(dir, name[:2], name[2:])
}

// tempName returns a name in a folder that git treats as temporary: fsck ignores tmp_*, and gc
// removes it.
func tempName(dir, kind string) string {
	return filepath.Join(dir, "tmp_"+kind+"_"+rand.Text())
}

func (e *editor) writeLoose(d disk, dir string, hash plumbing.Hash) error {
	o, err := e.fresh.EncodedObject(plumbing.AnyObject, hash)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	w := objfile.NewWriter(&buf)
	if err := w.WriteHeader(o.Type(), o.Size()); err != nil {
		return err
	}
	r, err := o.Reader()
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		return err
	}
	if err := errors.Join(r.Close(), w.Close()); err != nil {
		return err
	}
	path := loosePath(dir, hash)
	if err := d.mkdirs(filepath.Dir(path)); err != nil {
		return err
	}
	tmp := tempName(filepath.Dir(path), "obj")
	if err := d.write(tmp, 0o444, buf.Bytes()); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return d.rename(tmp, path)
}

// writePack writes a pack and then its index: without the index git doesn't see the pack.
func (e *editor) writePack(d disk, dir string, hashes []plumbing.Hash) (err error) {
	dir = filepath.Join(dir, "pack")
	if err := d.mkdirs(dir); err != nil {
		return err
	}
	tmpPack, tmpIdx := tempName(dir, "pack"), tempName(dir, "idx")
	defer func() {
		if err != nil {
			_ = os.Remove(tmpPack)
			_ = os.Remove(tmpIdx)
		}
	}()
	var sum plumbing.Hash
	writer := new(idxfile.Writer)
	if err := d.create(tmpPack, 0o444, func(f io.ReadWriteSeeker) error {
		buffered := bufio.NewWriterSize(f, 1<<20)
		if sum, err = packfile.NewEncoder(buffered, e.fresh, false).Encode(hashes, 0); err != nil {
			return err
		}
		if err := buffered.Flush(); err != nil {
			return err
		}
		d.at("write-pack", tmpPack)
		return indexPack(f, writer)
	}); err != nil {
		return err
	}
	idx, err := writer.Index()
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if _, err := idxfile.NewEncoder(&buf).Encode(idx); err != nil {
		return err
	}
	if err := d.write(tmpIdx, 0o444, buf.Bytes()); err != nil {
		return err
	}
	final := filepath.Join(dir, "pack-"+sum.String())
	if err := d.rename(tmpPack, final+".pack"); err != nil {
		return err
	}
	return d.rename(tmpIdx, final+".idx")
}

// indexPack reads a pack to create its index, which also checks the pack.
func indexPack(f io.ReadWriteSeeker, into *idxfile.Writer) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	parser, err := packfile.NewParser(packfile.NewScanner(f), into)
	if err != nil {
		return err
	}
	_, err = parser.Parse()
	return err
}

// exists reports whether a file exists at a path; it does not follow links.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir)
}
