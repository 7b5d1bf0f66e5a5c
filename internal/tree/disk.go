package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
)

// The files of a write in progress. Their folder is removed when the write is done. The name of the
// folder keeps a stranger's journal out: git adds, commits, packs and checks out no path with
// ".git" in it, at any depth and under any of its other names, and neither do archives of a commit
// contain one. So no repository can contain a journal, whether the folder is in a repository or
// not. This needs no state on the machine, as a secret would, and does not depend on the file
// system, as inode numbers would.
const (
	workFolder   = ownFolder + "/.git"
	lockFile     = workFolder + "/lock"
	stageFolder  = workFolder + "/new"
	journalFile  = workFolder + "/journal"
	journalDraft = workFolder + "/journal.draft"
)

// fsys contains every operation with which the package changes a folder. Tests end the process
// at each of its calls. Paths are relative to the folder, with forward slashes.
type fsys interface {
	// mkdir creates one folder.
	mkdir(dir string, perm fs.FileMode) error
	// write creates or replaces a file in place. If exact is set, the file has exactly these permissions, and otherwise the
	// umask is applied.
	write(file string, content []byte, perm fs.FileMode, exact bool) error
	rename(from, to string) error
	// exchange swaps two files atomically; it returns errors.ErrUnsupported if the file
	// system cannot.
	exchange(a, b string) error
	// renameNew renames a file; it returns fs.ErrExist if the new name exists.
	renameNew(from, to string) error
	// remove removes a file or an empty folder.
	remove(file string) error
	// syncAll syncs the content of files to disk; syncDirs syncs the entries of folders.
	syncAll(files []string) error
	syncFile(file string) error
	syncDirs(dirs ...string) error
	// lock creates the file, if it is missing, and locks it until unlock, which removes it, or
	// until the process ends. It returns ErrLocked immediately if another process has the lock.
	lock(file string) (unlock func() error, err error)
}

// disk is the fsys of a real folder. It accesses nothing outside of the folder.
type disk struct{ root *os.Root }

var _ fsys = disk{}

func (d disk) mkdir(dir string, perm fs.FileMode) error { return d.root.Mkdir(dir, perm) }

func (d disk) write(file string, content []byte, perm fs.FileMode, exact bool) error {
	f, err := d.root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && exact {
		err = f.Chmod(perm)
	}
	return errors.Join(err, f.Close())
}

func (d disk) rename(from, to string) error { return d.root.Rename(from, to) }

// linkNew renames a file by a hard link, which cannot be created if the new name exists.
func (d disk) linkNew(from, to string) error {
	err := d.root.Link(from, to)
	switch {
	case err == nil:
		return d.root.Remove(from)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return err
	}
	// The file system has no hard links.
	if _, err := d.root.Lstat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	}
	return d.root.Rename(from, to)
}

func (d disk) remove(file string) error { return d.root.Remove(file) }

func (d disk) syncFile(file string) error {
	f, err := d.root.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d disk) lock(file string) (func() error, error) {
	// The previous holder may remove the file after we opened and before we locked it: then the
	// locked file no longer exists, and we start again.
	for range 100 {
		if info, err := d.root.Lstat(file); err == nil && !info.Mode().IsRegular() {
			return nil, &BlockedError{Path: file, At: file, What: whatIs(info.Mode())}
		}
		f, err := d.root.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		if err := TryLock(f); err != nil {
			_ = f.Close()
			return nil, err
		}
		mine, err := f.Stat()
		there, errThere := d.root.Lstat(file)
		if err == nil && errThere == nil && os.SameFile(mine, there) {
			return func() error {
				return errors.Join(d.root.Remove(file), f.Close())
			}, nil
		}
		_ = f.Close()
	}
	return nil, ErrLocked
}

// ErrLocked is returned if another process is writing to the same folder.
var ErrLocked = errors.New("another fleetwright is writing to this folder: wait until it ends, then run the command again")

// session is a locked folder during a write.
type session struct {
	dir    string // for messages
	root   *os.Root
	fs     fsys
	unlock func() error
}

// opener returns the fsys of a folder.
type opener func(*os.Root) fsys

func newDisk(root *os.Root) fsys { return disk{root} }

// openSession locks an existing folder.
func openSession(dir string, open opener) (*session, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening folder %q: %w", dir, err)
	}
	s := &session{dir: dir, root: root, fs: open(root)}
	if err := s.enter(); err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("cannot write to folder %q: %w", dir, err)
	}
	return s, nil
}

// enter creates the working folder and locks it.
func (s *session) enter() error {
	var err error
	// A process that ends removes the working folder, perhaps while we enter it.
	for range 100 {
		if err = s.makeFolder(ownFolder, 0o755); err != nil {
			return err
		}
		if err = s.makeFolder(workFolder, 0o700); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		s.unlock, err = s.fs.lock(lockFile)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// makeFolder creates a folder of our own; it refuses a symbolic link in its place.
func (s *session) makeFolder(dir string, perm fs.FileMode) error {
	err := s.fs.mkdir(dir, perm)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := s.root.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &BlockedError{Path: dir, At: dir, What: whatIs(info.Mode())}
	}
	return nil
}

// leave unlocks the folder and keeps its content for Recover.
func (s *session) leave() error {
	return errors.Join(s.unlock(), s.root.Close())
}

// finish removes our files from the folder and unlocks it. It removes the journal first: without
// it, nothing remains to be done.
func (s *session) finish() error {
	if err := s.clean(); err != nil {
		return errors.Join(err, s.leave())
	}
	err := s.unlock()
	// Another process may have entered by now: a folder in use is not removed.
	for _, dir := range []string{workFolder, ownFolder} {
		if s.fs.remove(dir) != nil {
			break
		}
	}
	return errors.Join(err, s.root.Close())
}

// clean removes the files that a write leaves behind.
func (s *session) clean() error {
	for _, file := range []string{journalFile, journalDraft} {
		if err := s.removeFile(file); err != nil {
			return err
		}
	}
	names, err := s.names(stageFolder)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := s.removeFile(path.Join(stageFolder, name)); err != nil {
			return err
		}
	}
	return s.removeFile(stageFolder)
}

func (s *session) removeFile(file string) error {
	if err := s.fs.remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// names returns the names in a folder. If it is missing or not a folder, such as a link to one, it
// returns none.
func (s *session) names(dir string) ([]string, error) {
	info, err := s.root.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := s.root.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}
