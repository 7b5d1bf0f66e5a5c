package testuser

import (
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// run runs a command without root's capability to ignore the permissions of files. It needs no other user, as a container
// may not have one.
func run(t *testing.T, cmd *exec.Cmd) (out []byte, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread, which has lost the capability, ends with the goroutine
		if err = drop(unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH); err == nil {
			out, err = cmd.CombinedOutput()
		}
	}()
	<-done
	return out, err
}

// drop removes capabilities from the programs that this thread starts.
// Source: capabilities(7), "Transformation of capabilities during execve()".
func drop(capabilities ...uint) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return err
	}
	for _, c := range capabilities {
		sets[0].Inheritable &^= 1 << c
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil {
			return err
		}
	}
	return unix.Capset(&header, &sets[0])
}
