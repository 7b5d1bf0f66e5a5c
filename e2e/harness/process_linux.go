package harness

import (
	"os/exec"
	"syscall"
)

// endsWithParent ends the process when this one is killed.
func endsWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
