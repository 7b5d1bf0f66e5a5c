package gitrepo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// unpackLimit is the maximum number of objects that are written as loose objects; more are written as
// one pack (git's transfer.unpackLimit). A pack needs a single sync to disk for all of its objects.
const unpackLimit = 100

// writeObjects writes the new objects of an editor to disk. When it returns, a reference may point
// to them.
func (e *editor) writeObjects(d disk, common string) error {
	var missing []plumbing.Hash
	for _, hash := range e.order {
		if e.store.HasEncodedObject(hash) != nil {
			missing = append(missing, hash)
			continue
		}
		// Set the current time, as git does, so that a prune in another process keeps the object.
		now := time.Now() //nolint:forbidigo // the time of a file, which no output contains
		_ = os.Chtimes(filepath.Join(common, looseFile(hash)), now, now)
	}
	if len(missing) > unpackLimit {
		return e.writePack(d, filepath.Join(common, "objects", "pack"), missing)
	}
	for _, hash := range missing {
		o, err := e.fresh.EncodedObject(plumbing.AnyObject, hash)
		if err != nil {
			return err
		}
		d.at("write", hash.String())
		if _, err := e.store.SetEncodedObject(o); err != nil {
			return err
		}
		if err := d.finishObject(filepath.Join(common, looseFile(hash))); err != nil {
			return err
		}
	}
	return nil
}

func (e *editor) writePack(d disk, dir string, hashes []plumbing.Hash) error {
	w, err := e.store.PackfileWriter()
	if err != nil {
		return err
	}
	d.at("write-pack", dir)
	sum, err := packfile.NewEncoder(w, e.fresh, false).Encode(hashes, 0)
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	pack := filepath.Join(dir, "pack-"+sum.String())
	return errors.Join(d.finishObject(pack+".pack"), d.finishObject(pack+".idx"))
}

// finishObject syncs the file of an object to disk, and sets the modes that git sets for it and its folder.
func (d disk) finishObject(path string) error {
	d.at("finish", path)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close(), os.Chmod(path, 0o444|d.fileBits)); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	return errors.Join(d.share(dir), syncDir(dir))
}

// exists reports whether a file exists at a path; it does not follow links.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDir)
}
