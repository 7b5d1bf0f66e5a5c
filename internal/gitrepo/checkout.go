package gitrepo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/fleetwright/fleetwright/internal/bounds"
	"github.com/fleetwright/fleetwright/internal/limits"
)

// Limits of a download from a remote repository. Single objects have the same limit as those of a local repository.
const (
	mostPack     = 256 << 20
	mostUnpacked = 2 << 30
	mostObjects  = 2_000_000
)

// Checkout contains the files of a commit of a remote repository, in a temporary folder.
type Checkout struct {
	*Revision
	// Submodules are the commits of submodules by path, and Links the targets of symlinks.
	Submodules, Links map[string]string
	folder            string
}

// Close removes the temporary folder.
func (c *Checkout) Close() error { return os.RemoveAll(c.folder) }

// Checkout downloads a commit. reference is a branch or tag that may contain it, "" if unknown.
func (u *Upstream) Checkout(ctx context.Context, commit, reference string) (c *Checkout, err error) {
	if !plumbing.IsHash(commit) {
		return nil, fmt.Errorf("%q is not the name of a commit", commit)
	}
	folder, err := os.MkdirTemp("", "fleetwright-git-")
	if err != nil {
		return nil, err
	}
	c = &Checkout{folder: folder, Submodules: map[string]string{}, Links: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(folder))
		}
	}()
	if _, err := gogit.PlainInit(folder, false); err != nil {
		return nil, err
	}
	repo, store, err := openRepository(folder)
	if err != nil {
		return nil, err
	}
	if err := u.download(ctx, store, commit, reference); err != nil {
		return nil, err
	}
	c.Revision = &Revision{revision: commit, blobs: blobs{store: store, where: "at " + commit}, files: map[string]revisionFile{}}
	return c, c.list(ctx, repo, store, commit)
}

// download stores the pack that the server sends, after checkPack.
func (u *Upstream) download(ctx context.Context, store objects, commit, reference string) (err error) {
	from, err := u.pack(ctx, commit, reference)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(store.common, "download-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	n, err := io.Copy(file, io.LimitReader(from, mostPack+1))
	switch {
	case errors.Is(err, pktline.ErrInvalidPktLen):
		return fmt.Errorf("the server ends the connection: %w", io.ErrUnexpectedEOF)
	case err != nil:
		return fmt.Errorf("the server stops: %w", err)
	case n > mostPack:
		return fmt.Errorf("the repository sends more than %d MB", mostPack>>20)
	}
	unit := bounds.Unit{Kind: "download", Name: "the Git objects of " + commit}
	return bounds.Check(unit, func() error {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := checkPack(file); err != nil {
			return err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return packfile.UpdateObjectStorage(store.Storage, file)
	})
}

// checkPack returns an error for a pack whose objects are too large together. It is called before the pack is unpacked.
func checkPack(file io.Reader) error {
	scan := packfile.NewScanner(file)
	_, count, err := scan.Header()
	if err != nil {
		return fmt.Errorf("the server sends no pack: %w", err)
	}
	if count > mostObjects {
		return fmt.Errorf("the repository has more than %d objects", mostObjects)
	}
	total := int64(0)
	for range count {
		header, err := scan.NextObjectHeader()
		if err != nil {
			return fmt.Errorf("the pack is not valid: %w", err)
		}
		if header.Length > limits.Committed {
			return fmt.Errorf("an object of the repository has more than %d MB", limits.Committed>>20)
		}
		head := &beginning{left: header.Length}
		if _, _, err := scan.NextObject(head); err != nil {
			return fmt.Errorf("the pack is not valid: %w", err)
		}
		size := header.Length
		if header.Type.IsDelta() {
			size = max(size, head.result())
		}
		if size > limits.Committed {
			return fmt.Errorf("an object of the repository has more than %d MB", limits.Committed>>20)
		}
		if total += size; total > mostUnpacked {
			return fmt.Errorf("the objects of the repository have more than %d MB", mostUnpacked>>20)
		}
	}
	return nil
}

// beginning keeps the first bytes of an object, and returns an error if there are more bytes than its header says.
type beginning struct {
	data []byte
	left int64
}

func (h *beginning) Write(p []byte) (int, error) {
	if h.left -= int64(len(p)); h.left < 0 {
		return 0, errors.New("an object is larger than its header says")
	}
	h.data = append(h.data, p[:min(len(p), 2*binary.MaxVarintLen64-len(h.data))]...)
	return len(p), nil
}

// result returns the size of the object that a delta creates.
func (h *beginning) result() int64 {
	_, n := binary.Uvarint(h.data)
	if n <= 0 {
		return 0
	}
	size, _ := binary.Uvarint(h.data[n:])
	return int64(min(size, mostUnpacked+1))
}

// list lists the files of the commit.
func (c *Checkout) list(ctx context.Context, repo *gogit.Repository, store objects, commit string) error {
	return store.reading(commit, func() error {
		tree, err := treeAt(repo, commit, "")
		if err != nil {
			return fmt.Errorf("the repository has no commit %s: %w", commit, err)
		}
		others := map[string]object.TreeEntry{}
		w := treeWalk{ctx: ctx, store: store, files: c.files, seen: map[plumbing.Hash]int64{}, trees: map[plumbing.Hash]*object.Tree{}, others: others}
		if err := w.folder(tree, "", 0); err != nil {
			return fmt.Errorf("reading commit %s: %w", commit, err)
		}
		for at, e := range others {
			if e.Mode == filemode.Submodule {
				c.Submodules[at] = e.Hash.String()
				continue
			}
			if size, err := store.size(e.Hash); err != nil || size > mostLink {
				continue // such a link leads nowhere
			}
			target, err := store.blob(e.Hash)
			if err != nil {
				return err
			}
			c.Links[at] = string(target)
		}
		return nil
	})
}

// mostLink is the maximum length of a symlink's target, in bytes.
const mostLink = 4096

// Modules returns the URLs of the submodules in a .gitmodules, by path.
func Modules(data []byte) (map[string]string, error) {
	m := config.NewModules()
	if err := m.Unmarshal(data); err != nil {
		return nil, errors.New(".gitmodules is not valid")
	}
	found := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(m.Submodules)) {
		found[filepath.ToSlash(m.Submodules[name].Path)] = m.Submodules[name].URL
	}
	return found, nil
}
