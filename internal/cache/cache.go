// Package cache stores downloaded content by its digest, in a folder of the user that all repositories share. It trusts
// no file in the folder: it compares each file that it reads with its digest. A file appears in the folder complete or not at
// all, even if several processes write, crash or remove files at the same time.
package cache

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/replace"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

const (
	// Variable of the environment that names the folder.
	Variable = "FLEETWRIGHT_CACHE"
	// mostBlob is the size of the largest content, in bytes.
	mostBlob = 64 << 20
	// Most is how many bytes the cache may keep after a fetch, in addition to what the fetch needs.
	Most = 2 << 30
	// stale is the age after which a temporary file was left behind by a process that crashed.
	stale = time.Hour

	blobs     = "blobs/sha256"
	temporary = "tmp"
)

// Cache stores downloaded content in a folder, by its digest.
type Cache struct{ dir string }

// Folder returns the folder of the cache: the one in Variable, or by default fleetwright in the user's cache folder.
func Folder(env func(string) string) (string, error) {
	if dir := env(Variable); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the cache: %w", err)
	}
	return filepath.Join(dir, "fleetwright"), nil
}

// New returns the cache in a folder, which does not have to exist yet.
func New(dir string) *Cache { return &Cache{dir} }

// Sum returns the digest of content, as sha256:….
func Sum(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// place returns the path of content below the folder, and an error for an invalid digest.
func place(digest string) (string, error) {
	sum, ok := strings.CutPrefix(digest, "sha256:")
	if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != sha256.Size || strings.ToLower(sum) != sum {
		return "", fmt.Errorf("%q is not a digest", digest)
	}
	return path.Join(blobs, sum[:2], sum), nil
}

// Read returns the content with a digest. The error is fs.ErrNotExist if the cache does not contain it, or if the file's
// content does not match the digest.
func (c *Cache) Read(digest string) ([]byte, error) {
	at, err := place(digest)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, err := regular.ReadIn(root, at, mostBlob)
	if err != nil {
		return nil, err
	}
	if Sum(data) != digest {
		return nil, fmt.Errorf("the cache has other content than %s: %w", digest, fs.ErrNotExist)
	}
	return data, nil
}

// Write stores content and returns its digest.
func (c *Cache) Write(data []byte) (digest string, err error) {
	if len(data) > mostBlob {
		return "", fmt.Errorf("the content is larger than %d MB", mostBlob>>20)
	}
	digest = Sum(data)
	at, err := place(digest)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	if err := root.MkdirAll(path.Dir(at), 0o700); err != nil {
		return "", err
	}
	return digest, writeBlob(root, at, data)
}

// writeBlob writes a file of the cache, without a sync: a file that a crash left incomplete has another digest, and counts
// as absent.
func writeBlob(root *os.Root, name string, data []byte) error {
	if err := root.MkdirAll(temporary, 0o700); err != nil {
		return err
	}
	return replace.Whole(root, path.Join(temporary, "blob-"+rand.Text()), name, 0o600, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}

// Used records that content is used, so that Trim keeps it longer than others.
func (c *Cache) Used(now time.Time, digests ...string) {
	for _, digest := range digests {
		if at, err := place(digest); err == nil {
			_ = os.Chtimes(filepath.Join(c.dir, filepath.FromSlash(at)), now, now) // a missing file needs no time
		}
	}
}

// Removed counts the files that were removed.
type Removed struct {
	Files int
	Bytes int64
}

// blob is a file in the cache.
type blob struct {
	at, digest string
	size       int64
	used       time.Time
}

// Prune removes all contents except those in keep, and all results, which are not counted.
func (c *Cache) Prune(now time.Time, keep map[string]bool) (Removed, error) {
	removed, err := c.remove(now, keep, 0)
	if err != nil {
		return removed, err
	}
	return removed, removeResults(c.dir)
}

// Trim removes the content that was unused for the longest time, except for the digests in keep, until the rest takes at most
// that many bytes.
func (c *Cache) Trim(now time.Time, keep map[string]bool, most int64) (Removed, error) {
	return c.remove(now, keep, most)
}

func (c *Cache) remove(now time.Time, keep map[string]bool, most int64) (Removed, error) {
	var removed Removed
	all, err := c.list()
	if err != nil {
		return removed, err
	}
	var others []blob
	total := int64(0)
	for _, b := range all {
		if !keep[b.digest] {
			others = append(others, b)
			total += b.size
		}
	}
	sorting.Func(others, func(a, b blob) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.digest, b.digest)) })
	for _, b := range others {
		if total <= most && most > 0 {
			break
		}
		if err := os.Remove(b.at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		total -= b.size
		removed.Files++
		removed.Bytes += b.size
	}
	return removed, c.sweep(now)
}

// list returns the files in the cache.
func (c *Cache) list() ([]blob, error) {
	var all []blob
	root := filepath.Join(c.dir, filepath.FromSlash(blobs))
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // another process removed it
		}
		if err != nil || d.IsDir() {
			return err
		}
		digest := "sha256:" + d.Name()
		if known, err := place(digest); err != nil || filepath.Join(c.dir, filepath.FromSlash(known)) != at {
			return nil //nolint:nilerr // not a file of the cache
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // another process removed it
		}
		all = append(all, blob{at, digest, info.Size(), info.ModTime()})
		return nil
	})
	return all, err
}

// sweep removes temporary files that crashed processes left behind.
func (c *Cache) sweep(now time.Time) error {
	dir := filepath.Join(c.dir, temporary)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, failed := e.Info()
		if failed != nil || !strings.HasPrefix(e.Name(), "blob-") || now.Sub(info.ModTime()) < stale {
			continue
		}
		if failed := os.Remove(filepath.Join(dir, e.Name())); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	return err
}
