package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
)

// journal lists the operations of a write. Once the file has its final name, all operations are
// performed, by this process or the next.
type journal struct {
	Version    int         `json:"version"`
	Operations []operation `json:"operations"`
}

// operation is one file that is written or removed. Old and New are the results of Digest; Old is empty for a new file,
// New for a removed one. The new bytes are in the staging folder, in a file named by the operation's index.
type operation struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

const (
	journalVersion = 1
	maxJournal     = 256 << 20
)

// Hints for a journal that cannot be carried out.
const (
	hintOtherVersion = "finish the write with the version of fleetwright that began it"
	hintAbandon      = "remove the folder " + workFolder + " and render again: the unfinished files show as changes or conflicts, and none of your files is overwritten"
)

// staged returns the path of an operation's new bytes.
func staged(index int) string { return path.Join(stageFolder, strconv.Itoa(index)) }

func (j *journal) encode() ([]byte, error) {
	content, err := json.Marshal(j)
	if err != nil {
		return nil, fmt.Errorf("encoding the journal: %w", err)
	}
	return append(content, '\n'), nil
}

// decodeJournal decodes a journal. It trusts nothing in it, although no repository can
// contain one: paths must be inside of the folder and outside of .git, and the
// digests, which are checked again before each operation, must be of bytes that are already in the
// folder. Errors are of type *FileError.
func decodeJournal(content []byte) (*journal, error) {
	fail := func(hint, format string, args ...any) error {
		return &FileError{File: journalFile, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(content, &version); err != nil {
		return nil, fail(hintAbandon, "the journal of an interrupted write is damaged: %v", err)
	}
	if version.Version != journalVersion {
		return nil, fail(hintOtherVersion, "the journal of an interrupted write has version %d: this version knows %d", version.Version, journalVersion)
	}
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.DisallowUnknownFields()
	j := &journal{}
	if err := dec.Decode(j); err != nil {
		return nil, fail(hintAbandon, "the journal of an interrupted write is damaged: %v", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fail(hintAbandon, "the journal of an interrupted write has content after its end")
	}
	seen := make(map[string]bool, len(j.Operations))
	for i, op := range j.Operations {
		if err := op.check(); err != nil {
			return nil, fail(hintAbandon, "operation %d of an interrupted write: %v", i, err)
		}
		if seen[op.Path] {
			return nil, fail(hintAbandon, "operation %d of an interrupted write: %q is listed twice", i, op.Path)
		}
		seen[op.Path] = true
	}
	return j, nil
}

func (op operation) check() error {
	if op.Path != InventoryPath {
		if err := checkGenerated(op.Path); err != nil {
			return err
		}
	}
	if op.Old == "" && op.New == "" {
		return fmt.Errorf("%q has neither an old nor a new digest", op.Path)
	}
	for _, digest := range []string{op.Old, op.New} {
		if digest != "" && !validDigest(digest) {
			return fmt.Errorf("%q has the digest %q: want %s and 64 hexadecimal digits", op.Path, digest, digestPrefix)
		}
	}
	return nil
}
