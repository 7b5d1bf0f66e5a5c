package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/fleetwright/fleetwright/internal/regular"
)

// Reader reads the files with which a rendered tree is compared: those of a folder, a git
// revision, or the items of a KRM function.
type Reader interface {
	// ReadFile returns the bytes of the regular file at a path (relative, clean, forward slashes).
	// The error wraps fs.ErrNotExist if nothing is at the path and only folders are above it. It is
	// or wraps a *BlockedError if something other than a regular file is at the path, or other than
	// a folder above it. ReadFile does not follow symbolic links. The caller must not change the
	// bytes.
	ReadFile(path string) ([]byte, error)
}

// BlockedError is returned if something blocks the path of a file.
type BlockedError struct {
	// Path is the file that cannot be read or written.
	Path string
	// At is the blocking path: Path itself or one above it.
	At string
	// What describes the object at that path, with its article: "a symbolic link", "a folder".
	What string
}

func (e *BlockedError) Error() string {
	return fmt.Sprintf("%q is %s", e.At, e.What)
}

// The things that may block a file, as BlockedError names them.
const (
	ASymlink = "a symbolic link"
	AFolder  = "a folder"
	AFile    = "a file"
	aDevice  = "not a regular file"
)

// Memory is a Reader of files in memory, by path.
type Memory map[string][]byte

var _ Reader = Memory(nil)

// ReadFile returns the bytes at a path. A file above the path blocks it. A file below the path
// would also block it, but is not searched: a map of paths has no folders.
func (m Memory) ReadFile(p string) ([]byte, error) {
	if content, ok := m[p]; ok {
		return content, nil
	}
	for dir := range parents(p) {
		if _, ok := m[dir]; ok {
			return nil, &BlockedError{Path: p, At: dir, What: AFile}
		}
	}
	return nil, &fs.PathError{Op: "read", Path: p, Err: fs.ErrNotExist}
}

// maxRead is the maximum size of a file that a Folder reads. The largest generated file, Flux's
// install manifests, has less than 1 MB.
const maxRead = 16 << 20

// Folder is a Reader of a folder on disk. It follows no symbolic link, and reads nothing outside of
// the folder and no file of more than 16 MiB. It caches information about folders, so it must be
// opened again after a write. It is not safe for concurrent use.
type Folder struct {
	root  *os.Root // nil if the folder does not exist
	limit int64    // maximum size of a file
	dirs  map[string]error
	// Files are mostly read in the order of their paths: the last folder stays open.
	last     *os.Root
	lastPath string
}

var _ Reader = (*Folder)(nil)

// OpenFolder opens a folder for reading. A folder that does not exist counts as empty.
func OpenFolder(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return newFolder(nil, maxRead), nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening folder %q: %w", dir, err)
	}
	return newFolder(root, maxRead), nil
}

func newFolder(root *os.Root, limit int64) *Folder {
	return &Folder{root: root, limit: limit, dirs: map[string]error{}}
}

// Close closes the folder.
func (f *Folder) Close() error {
	f.closeLast()
	if f.root == nil {
		return nil
	}
	return f.root.Close()
}

func (f *Folder) closeLast() {
	if f.last != nil {
		_ = f.last.Close() // opened for reading, so nothing can be lost
		f.last, f.lastPath = nil, ""
	}
}

// ReadFile reads a file as Reader requires. A file of more than 16 MiB is blocked.
func (f *Folder) ReadFile(p string) ([]byte, error) {
	dir, info, err := f.stat(p)
	if err != nil {
		return nil, err
	}
	file, err := regular.OpenIn(dir, path.Base(p))
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", p, err)
	}
	defer file.Close()
	content := slices.Grow([]byte(nil), int(info.Size())+1)
	for {
		n, err := file.Read(content[len(content):cap(content)])
		content = content[:len(content)+n]
		if errors.Is(err, io.EOF) {
			return content, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %q: %w", p, err)
		}
		if int64(len(content)) > f.limit {
			return nil, f.tooLarge(p)
		}
		if len(content) == cap(content) {
			content = slices.Grow(content, 4096)
		}
	}
}

// stat returns the folder and info of a regular file that is not too large.
func (f *Folder) stat(p string) (*os.Root, fs.FileInfo, error) {
	if f.root == nil {
		return nil, nil, &fs.PathError{Op: "read", Path: p, Err: fs.ErrNotExist}
	}
	dir, err := f.open(path.Dir(p), p)
	if err != nil {
		return nil, nil, err
	}
	info, err := dir.Lstat(path.Base(p))
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("reading %q: %w", p, err)
	case info.Mode().IsRegular() && info.Size() > f.limit:
		return nil, nil, f.tooLarge(p)
	case !info.Mode().IsRegular():
		return nil, nil, &BlockedError{Path: p, At: p, What: whatIs(info.Mode())}
	}
	return dir, info, nil
}

func (f *Folder) tooLarge(p string) error {
	return &BlockedError{Path: p, At: p, What: fmt.Sprintf("a file of more than %d MiB", f.limit>>20)}
}

func whatIs(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return ASymlink
	case mode.IsDir():
		return AFolder
	case mode.IsRegular():
		return AFile
	}
	return aDevice
}

// open opens the folder of a file, if nothing blocks a path above it.
func (f *Folder) open(dir, file string) (*os.Root, error) {
	if dir == "." {
		return f.root, nil
	}
	if f.last != nil && f.lastPath == dir {
		return f.last, nil
	}
	if err := f.dir(dir); err != nil {
		var blocked *BlockedError
		if errors.As(err, &blocked) {
			return nil, &BlockedError{Path: file, At: blocked.At, What: blocked.What}
		}
		return nil, fmt.Errorf("reading %q: %w", file, err)
	}
	f.closeLast()
	opened, err := f.root.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", file, err)
	}
	f.last, f.lastPath = opened, dir
	return opened, nil
}

// dir returns nil if a path and all paths above it are folders; otherwise it returns the same error
// as ReadFile.
func (f *Folder) dir(dir string) error {
	if dir == "." {
		return nil
	}
	if err, known := f.dirs[dir]; known {
		return err
	}
	err := f.dir(path.Dir(dir))
	if err == nil {
		var info fs.FileInfo
		info, err = f.root.Lstat(dir)
		if err == nil && !info.IsDir() {
			err = &BlockedError{Path: dir, At: dir, What: whatIs(info.Mode())}
		}
	}
	f.dirs[dir] = err
	return err
}
