package harness

import (
	"os/exec"
	"syscall"
)

// endsWithParent lets the process end when this one is killed.
func endsWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
