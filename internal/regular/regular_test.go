//go:build unix

package regular_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fleetwright/fleetwright/internal/regular"
)

// TestRead: what is not a regular file is refused at once, whichever way it is named.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unix.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700), os.Symlink("pipe", at("to-pipe")), os.Symlink("file", at("to-file"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // the address of a socket is short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for _, name := range []string{"file", "to-file"} {
		for _, read := range []func(string) ([]byte, error){
			func(p string) ([]byte, error) { return regular.Read(at(p), 4) },
			func(p string) ([]byte, error) { return regular.ReadIn(root, p, 4) },
		} {
			if data, err := read(name); err != nil || string(data) != "text" {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		}
	}
	for _, name := range []string{"pipe", "to-pipe", "folder", "socket"} {
		if _, err := regular.Read(at(name), 4); err == nil {
			t.Errorf("%s is read", name)
		}
		if _, err := regular.ReadIn(root, name, 4); err == nil {
			t.Errorf("%s is read below the folder", name)
		}
	}
	if _, err := regular.Read("/dev/zero", 4); !errors.Is(err, regular.ErrNotRegular) {
		t.Error(err)
	}
	if _, err := regular.Read(at("missing"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := regular.Read(at("file"), 3); err == nil {
		t.Error("a file above the limit is read")
	}
}
