package gitrepo

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// maxIndex is the maximum size of an index file in bytes: some two million files.
const maxIndex = 256 << 20

// readIndex returns the entries of an index file, sorted by name; none if the file is missing.
func readIndex(path string) ([]*index.Entry, error) {
	data, err := readBounded(path, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := decodeIndex(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return entries, nil
}

func decodeIndex(data []byte) ([]*index.Entry, error) {
	if end := len(data) - sha1.Size; end > 0 && bytes.Equal(data[end:], make([]byte, sha1.Size)) {
		sum := sha1.Sum(data[:end]) // with index.skipHash, git writes no checksum
		data = append(data[:end:end], sum[:]...)
	}
	var x index.Index
	err := index.NewDecoder(bytes.NewReader(data)).Decode(&x)
	switch {
	case errors.Is(err, index.ErrUnsupportedVersion):
		return nil, fmt.Errorf("%w: the index is not of version 2, 3 or 4", ErrUnsupported)
	case errors.Is(err, index.ErrUnknownExtension):
		return nil, fmt.Errorf("%w: a split or sparse index: run \"git update-index --no-split-index\" or \"git sparse-checkout reapply --no-sparse-index\"", ErrUnsupported)
	case err != nil:
		return nil, fmt.Errorf("the index is truncated or damaged: see \"git fsck\": %w", err)
	}
	for _, e := range x.Entries {
		if e.Stage != 0 {
			return nil, fmt.Errorf("%w: %q is unmerged: resolve it and \"git add\" it", ErrInProgress, e.Name)
		}
	}
	if !slices.IsSortedFunc(x.Entries, func(a, b *index.Entry) int { return cmp.Compare(a.Name, b.Name) }) {
		return nil, errors.New("the index is not sorted: see \"git fsck\"")
	}
	return x.Entries, nil
}
