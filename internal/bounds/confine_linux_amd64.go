package bounds

import (
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	architecture = unix.AUDIT_ARCH_X86_64
	// foreignCalls is the first number of system calls in another convention, x32.
	foreignCalls = 0x40000000
)

// System calls that newer architectures do not have.
var (
	olderProcesses = []uint32{unix.SYS_FORK, unix.SYS_VFORK}
	olderChanges   = []uint32{
		unix.SYS_CREAT, unix.SYS_MKDIR, unix.SYS_MKNOD, unix.SYS_LINK, unix.SYS_SYMLINK, unix.SYS_UNLINK, unix.SYS_RMDIR, unix.SYS_RENAME,
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
	}
)

// opens returns the instructions for open(2), the older system call that opens files.
func opens(writing uint32) []bpf.Instruction {
	return argument(unix.SYS_OPEN, 1, writing, refuse, allow)
}
