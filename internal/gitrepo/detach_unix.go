//go:build unix

package gitrepo

import (
	"os"
	"os/exec"
	"syscall"
)

// detach lets a process end its work when this one is interrupted: it is in another process group, and holds the lock.
func detach(c *exec.Cmd, lock *os.File) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.ExtraFiles = []*os.File{lock}
}
