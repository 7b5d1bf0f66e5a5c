package builds

import (
	"io/fs"
	"path"
	"time"
)

// FS returns the folder of a source as a file system, only for matching patterns.
func (f *Files) FS() fs.FS { return tree{f} }

// tree is a source as a file system, for matching patterns only.
type tree struct{ files *Files }

// Open returns an error: the file system only lists folders.
func (tree) Open(name string) (fs.File, error) { return nil, notExist("open", name) }

// ReadDir lists a folder.
func (t tree) ReadDir(name string) ([]fs.DirEntry, error) {
	names, ok := t.files.Repo.ReadDir(path.Join(t.files.Base, name))
	if !ok {
		return nil, notExist("open", name)
	}
	entries := make([]fs.DirEntry, 0, len(names))
	for _, child := range names {
		_, dir := t.files.Repo.ReadDir(path.Join(t.files.Base, name, child))
		entries = append(entries, fs.FileInfoToDirEntry(info{child, dir}))
	}
	return entries, nil
}

// Stat returns the info of a file or folder, and an error if it does not exist.
func (t tree) Stat(name string) (fs.FileInfo, error) {
	at := path.Join(t.files.Base, name)
	_, dir := t.files.Repo.ReadDir(at)
	if !dir && !t.files.Repo.Visible(at) {
		return nil, notExist("stat", name)
	}
	return info{path.Base(name), dir}, nil
}

func notExist(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// info describes a file or folder to fs.Glob: its name, and whether it is a folder.
type info struct {
	name string
	dir  bool
}

func (i info) Name() string { return i.name }

func (info) Size() int64 { return 0 }

func (info) ModTime() time.Time { return time.Time{} }

func (i info) IsDir() bool { return i.dir }

func (info) Sys() any { return nil }

func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
