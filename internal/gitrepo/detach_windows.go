package gitrepo

import (
	"os"
	"os/exec"
	"syscall"
)

// detach lets a process end its work when this one is interrupted: it is in another process group.
func detach(c *exec.Cmd, _ *os.File) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
