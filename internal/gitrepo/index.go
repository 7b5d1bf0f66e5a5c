package gitrepo

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/fleetwright/fleetwright/internal/sorting"
)

// This file reads and writes the index instead of go-git's format package, which drops the
// assume-unchanged bit of an entry: a setting of the user. Format: git's
// Documentation/gitformat-index.txt.

const (
	flagExtended     = 0x4000
	flagStage        = 0x3000
	flagName         = 0x0fff
	extSkipWorktree  = 0x4000
	extIntentToAdd   = 0x2000
	indexEntryHeader = 62
)

// indexEntry is an entry of the index: a file that git tracks.
type indexEntry struct {
	name string
	// stat is the file's metadata, which git compares first: ctime, mtime (seconds and nanoseconds),
	// device, inode, mode, user, group, size.
	stat       [10]uint32
	hash       plumbing.Hash
	flags, ext uint16
}

// Indexes in indexEntry.stat.
const (
	statCtime = iota
	statCtimeNano
	statMtime
	statMtimeNano
	statDev
	statIno
	statMode
	statUID
	statGID
	statSize
)

func (e indexEntry) mode() filemode.FileMode { return filemode.FileMode(e.stat[statMode]) }
func (e indexEntry) skipWorktree() bool      { return e.ext&extSkipWorktree != 0 }
func (e indexEntry) intentToAdd() bool       { return e.ext&extIntentToAdd != 0 }

// index is an index file that was read: its entries are sorted by name.
type index struct {
	entries []indexEntry
	// written is the modification time of the index file, to recognize racily clean entries
	// (git's Documentation/technical/racy-git.txt).
	written time.Time
}

// maxIndex is the maximum size of an index file in bytes: some two million files.
const maxIndex = 256 << 20

// readIndex reads an index file; a missing one is empty.
func readIndex(path string) (index, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return index{}, nil
	}
	if err != nil {
		return index{}, err
	}
	data, err := readBounded(path, maxIndex)
	if err != nil {
		return index{}, err
	}
	entries, err := decodeIndex(data)
	if err != nil {
		return index{}, fmt.Errorf("%s: %w", path, err)
	}
	return index{entries: entries, written: info.ModTime()}, nil
}

var errShortIndex = errors.New("the index is cut off or damaged: see \"git fsck\"")

func decodeIndex(data []byte) ([]indexEntry, error) {
	if len(data) < 12+sha1.Size || string(data[:4]) != "DIRC" {
		return nil, errShortIndex
	}
	body, sum := data[:len(data)-sha1.Size], data[len(data)-sha1.Size:]
	// With index.skipHash, the checksum is zero.
	if got := sha1.Sum(body); !bytes.Equal(got[:], sum) && !bytes.Equal(sum, make([]byte, sha1.Size)) {
		return nil, errShortIndex
	}
	version := binary.BigEndian.Uint32(body[4:])
	count := binary.BigEndian.Uint32(body[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("%w: index version %d, want 2, 3 or 4", ErrUnsupported, version)
	}
	rest, last := body[12:], ""
	entries := make([]indexEntry, 0, min(int(count), len(body)/indexEntryHeader))
	for range count {
		e, n, err := decodeEntry(rest, version, last)
		if err != nil {
			return nil, err
		}
		if e.flags&flagStage != 0 {
			return nil, fmt.Errorf("%w: %q is unmerged: resolve it and \"git add\" it", ErrInProgress, e.name)
		}
		entries, rest, last = append(entries, e), rest[n:], e.name
	}
	if err := checkExtensions(rest); err != nil {
		return nil, err
	}
	if !slices.IsSortedFunc(entries, compareEntries) {
		return nil, errShortIndex
	}
	return entries, nil
}

func compareEntries(a, b indexEntry) int { return cmp.Compare(a.name, b.name) }

func decodeEntry(b []byte, version uint32, last string) (indexEntry, int, error) {
	var e indexEntry
	if len(b) < indexEntryHeader {
		return e, 0, errShortIndex
	}
	for i := range e.stat {
		e.stat[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	copy(e.hash[:], b[40:60])
	e.flags = binary.BigEndian.Uint16(b[60:])
	n := indexEntryHeader
	if e.flags&flagExtended != 0 {
		if version < 3 || len(b) < n+2 {
			return e, 0, errShortIndex
		}
		e.ext = binary.BigEndian.Uint16(b[n:])
		n += 2
	}
	prefix := ""
	if version == 4 {
		strip, size := decodeOffset(b[n:])
		if size == 0 || strip > len(last) {
			return e, 0, errShortIndex
		}
		prefix, n = last[:len(last)-strip], n+size
	}
	end := bytes.IndexByte(b[n:], 0)
	if end < 0 {
		return e, 0, errShortIndex
	}
	e.name = prefix + string(b[n:n+end])
	n += end + 1
	if version != 4 {
		n += -n & 7 // entries are padded with NULs to a multiple of eight bytes
	}
	if n > len(b) {
		return e, 0, errShortIndex
	}
	return e, n, nil
}

// decodeOffset decodes a variable-width number, as of pack offsets. Version 4 of the index
// encodes the number of bytes to strip from the previous name like this.
func decodeOffset(b []byte) (value, size int) {
	for i, c := range b {
		if i > 4 {
			return 0, 0
		}
		if i > 0 {
			value = (value + 1) << 7
		}
		value |= int(c & 0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// checkExtensions returns an error for extensions that change the meaning of the entries. Others
// are caches, which git creates again.
func checkExtensions(b []byte) error {
	for len(b) >= 8 {
		name, size := string(b[:4]), binary.BigEndian.Uint32(b[4:])
		switch {
		case int64(size) > int64(len(b)-8):
			return errShortIndex
		case name == "link":
			return fmt.Errorf("%w: a split index: run \"git update-index --no-split-index\"", ErrUnsupported)
		case name == "sdir":
			return fmt.Errorf("%w: a sparse index: run \"git sparse-checkout reapply --no-sparse-index\"", ErrUnsupported)
		case name[0] < 'A' || name[0] > 'Z':
			return fmt.Errorf("%w: the index has the extension %q", ErrUnsupported, name)
		}
		b = b[8+size:]
	}
	return nil
}

// encodeIndex encodes entries as version 2, or 3 if an entry needs it.
func encodeIndex(entries []indexEntry) []byte {
	version := uint32(2)
	size := 12 + sha1.Size
	for _, e := range entries {
		if e.ext != 0 {
			version = 3
		}
		size += indexEntryHeader + len(e.name) + 10
	}
	b := make([]byte, 0, size)
	b = append(b, "DIRC"...)
	b = binary.BigEndian.AppendUint32(b, version)
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	for _, e := range entries {
		b = appendEntry(b, e)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

func appendEntry(b []byte, e indexEntry) []byte {
	start := len(b)
	for _, v := range e.stat {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	b = append(b, e.hash[:]...)
	flags := e.flags&^(flagName|flagExtended) | uint16(min(len(e.name), flagName))
	if e.ext != 0 {
		flags |= flagExtended
	}
	b = binary.BigEndian.AppendUint16(b, flags)
	if e.ext != 0 {
		b = binary.BigEndian.AppendUint16(b, e.ext)
	}
	b = append(b, e.name...)
	for pad := 8 - (len(b)-start)%8; pad > 0; pad-- {
		b = append(b, 0)
	}
	return b
}

// find returns the entry of a path.
func (x index) find(name string) (indexEntry, bool) {
	i, ok := slices.BinarySearchFunc(x.entries, name, func(e indexEntry, name string) int { return cmp.Compare(e.name, name) })
	if !ok {
		return indexEntry{}, false
	}
	return x.entries[i], true
}

// below returns the entries in a folder.
func (x index) below(dir string) []indexEntry {
	from, _ := slices.BinarySearchFunc(x.entries, dir+"/", func(e indexEntry, name string) int { return cmp.Compare(e.name, name) })
	to := from
	for to < len(x.entries) && len(x.entries[to].name) > len(dir) && x.entries[to].name[:len(dir)+1] == dir+"/" {
		to++
	}
	return x.entries[from:to]
}

// racy reports whether a file may have changed after its entry was written without a
// difference in time.
func (x index) racy(e indexEntry) bool {
	return int64(e.stat[statMtime]) >= x.written.Unix()
}

// edited returns the entries after a set of replacements (nil deletes). Entries
// that were racily clean and aren't clean lose their size, as with git's
// ce_smudge_racily_clean_entry: the newer index would hide their change.
func (x index) edited(set map[string]*indexEntry, clean func(indexEntry) bool) []indexEntry {
	out := make([]indexEntry, 0, len(x.entries)+len(set))
	for _, e := range x.entries {
		if _, changed := set[e.name]; changed {
			continue
		}
		if x.racy(e) && !clean(e) {
			e.stat[statSize] = 0
		}
		out = append(out, e)
	}
	for _, e := range set {
		if e != nil {
			out = append(out, *e)
		}
	}
	sorting.Func(out, compareEntries)
	return out
}
