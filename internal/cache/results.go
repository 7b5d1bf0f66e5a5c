package cache

import (
	"cmp"
	"crypto/hmac"
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

	"github.com/fleetwright/fleetwright/internal/regular"
	"github.com/fleetwright/fleetwright/internal/replace"
	"github.com/fleetwright/fleetwright/internal/sorting"
)

const (
	results = "results/v1"
	keyFile = "results.key"
	keySize = 32
	// mostResult is the maximum size of a result, and mostShard of the results in one folder, in bytes.
	mostResult = 16 << 20
	mostShard  = 4 << 20
)

// Results stores the results of computations, beside the contents of a cache. Each entry is authenticated with a key that is
// not in the cache, so an entry that somebody else wrote is never read. A nil Results stores nothing.
type Results struct {
	dir string
	key []byte
}

// KeyFolder returns the folder of the key: fleetwright in the user's folder of configurations.
func KeyFolder() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the key of the results: %w", err)
	}
	return filepath.Join(dir, "fleetwright"), nil
}

// MakeKey creates the key in a folder outside of the cache, unless it exists. Processes that do so at the same time get the
// same key.
func MakeKey(cacheFolder, keyFolder string) error {
	if err := outside(cacheFolder, keyFolder); err != nil {
		return err
	}
	to := filepath.Join(keyFolder, keyFile)
	if _, err := os.Lstat(to); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(keyFolder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(keyFolder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	err = replace.New(root, ".results-key-"+rand.Text(), keyFile, 0o600, func(f *os.File) error {
		_, err := f.Write(key)
		return errors.Join(err, f.Sync())
	})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// outside returns an error if the key would be in the cache, which others may share.
func outside(cacheFolder, keyFolder string) error {
	if in, err := filepath.Rel(resolved(cacheFolder), resolved(keyFolder)); err == nil && in != ".." && !strings.HasPrefix(in, ".."+string(filepath.Separator)) {
		return errors.New("the folder of the key is in the cache")
	}
	return nil
}

// resolved returns a folder with its symlinks resolved, as far as it exists.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	if parent := filepath.Dir(dir); parent != dir {
		return filepath.Join(resolved(parent), filepath.Base(dir))
	}
	return dir
}

// OpenResults returns the results in a cache, nil if there is no key outside of the cache that only the user can read.
func OpenResults(cacheFolder, keyFolder string) *Results {
	if outside(cacheFolder, keyFolder) != nil {
		return nil
	}
	at := filepath.Join(keyFolder, keyFile)
	info, err := os.Lstat(at)
	if err != nil || !info.Mode().IsRegular() || !private(info.Mode()) {
		return nil
	}
	key, err := regular.Read(at, keySize)
	if err != nil || len(key) != keySize {
		return nil
	}
	return &Results{cacheFolder, key}
}

// ID returns the name of the result for some inputs. Without the key, the name reveals nothing about them.
func (r *Results) ID(inputs []byte) string {
	return hex.EncodeToString(r.mac("name", nil, inputs))
}

// mac returns the authentication code of data, which is also used as the name of a result.
func (r *Results) mac(what string, id, data []byte) []byte {
	h := hmac.New(sha256.New, r.key)
	fmt.Fprintf(h, "fleetwright %s %d\n", what, len(id))
	h.Write(id)
	h.Write(data)
	return h.Sum(nil)
}

// Read returns the result with a name, and whether there is one that was written with the key.
func (r *Results) Read(id string) ([]byte, bool) {
	if r == nil {
		return nil, false
	}
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, false
	}
	defer func() { _ = root.Close() }()
	data, err := regular.ReadIn(root, path.Join(results, id[:2], id), mostResult+sha256.Size)
	if err != nil || len(data) < sha256.Size || !hmac.Equal(data[:sha256.Size], r.mac("result", []byte(id), data[sha256.Size:])) {
		return nil, false
	}
	return data[sha256.Size:], true
}

// Write stores a result. A result that cannot be stored is computed again.
func (r *Results) Write(id string, data []byte) error {
	if r == nil || len(data) > mostResult {
		return nil
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(r.dir) // no link in the folder leads out of it
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	shard := path.Join(results, id[:2])
	if err := root.MkdirAll(shard, 0o700); err != nil {
		return err
	}
	err = writeBlob(root, path.Join(shard, id), append(r.mac("result", []byte(id), data), data...))
	if err != nil {
		return err
	}
	return trimShard(root, shard, id)
}

// trimShard removes the oldest results of a folder, except for keep, until they fit.
func trimShard(root *os.Root, shard, keep string) error {
	all, err := resultsIn(root, shard)
	if err != nil {
		return err
	}
	sorting.Func(all, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	total := int64(0)
	for _, info := range all {
		total += info.Size()
	}
	for _, info := range all {
		if total <= mostShard || info.Name() == keep {
			continue
		}
		if err := root.Remove(path.Join(shard, info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		total -= info.Size()
	}
	return nil
}

// resultsIn returns the results in a folder.
func resultsIn(root *os.Root, shard string) ([]fs.FileInfo, error) {
	entries, err := fs.ReadDir(root.FS(), shard)
	var all []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && len(e.Name()) == hex.EncodedLen(sha256.Size) {
			all = append(all, info)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // another process removed it
	}
	return all, err
}

// removeResults removes all results of a cache.
func removeResults(dir string) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	shards, err := fs.ReadDir(root.FS(), results)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, shard := range shards {
		if !shard.IsDir() {
			continue
		}
		all, err := resultsIn(root, path.Join(results, shard.Name()))
		if err != nil {
			return err
		}
		for _, info := range all {
			if err := root.Remove(path.Join(results, shard.Name(), info.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
