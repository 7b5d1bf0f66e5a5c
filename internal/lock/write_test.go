package lock

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if l, err := Read(dir); err != nil || len(l.Charts) > 0 {
		t.Errorf("without a lock: %v, %v", l, err)
	}
	l := &Lock{}
	for _, c := range entries() {
		l.Put(c)
		if err := l.Write(dir); err != nil {
			t.Fatal(err)
		}
		if again, err := Read(dir); err != nil || !reflect.DeepEqual(again, l) {
			t.Errorf("%v, %v", again, err)
		}
	}
	files, err := os.ReadDir(filepath.Join(dir, ".fleetwright"))
	if err != nil || len(files) != 1 {
		t.Errorf("the folder has %v, %v", files, err)
	}
}

// A repository may hold links in the place of the lock.
func TestWriteFollowsNoLinkOut(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "lock.yaml")
	if err := os.WriteFile(secret, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, link := range map[string]func(dir string) error{
		"the folder": func(dir string) error { return os.Symlink(outside, filepath.Join(dir, ".fleetwright")) },
		"the file": func(dir string) error {
			if err := os.Mkdir(filepath.Join(dir, ".fleetwright"), 0o700); err != nil {
				return err
			}
			return os.Symlink(secret, filepath.Join(dir, ".fleetwright", "lock.yaml"))
		},
	} {
		dir := t.TempDir()
		if err := link(dir); err != nil {
			t.Skip(err)
		}
		if _, err := Read(dir); err == nil {
			t.Errorf("%s: a lock outside is read", name)
		}
		_ = (&Lock{}).Write(dir) // it fails, or replaces the link
		if text, err := os.ReadFile(secret); err != nil || string(text) != "mine" {
			t.Errorf("%s: the file outside is %q, %v", name, text, err)
		}
	}
}
