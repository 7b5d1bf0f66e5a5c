//go:build unix

package tree

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// asNobody runs one test in a process whose user is not root, because root may
// write to any folder. It returns the output.
func asNobody(t *testing.T, dir, test, env string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), env)
	if os.Getuid() == 0 {
		const nobody = 65534
		giveTo(t, dir, nobody)
		cmd.Path = filepath.Join(filepath.Dir(dir), "tree.test")
		copyFile(t, os.Args[0], cmd.Path)
		for name := filepath.Dir(dir); len(name) > len(os.TempDir()); name = filepath.Dir(name) {
			if err := os.Chmod(name, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// giveTo changes the owner of a folder and of all that is in it.
func giveTo(t *testing.T, dir string, uid int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, uid, uid)
	})
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EPERM) {
		t.Skip("there is no other user in this container")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(to) })
}
