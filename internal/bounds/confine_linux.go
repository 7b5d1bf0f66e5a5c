//go:build linux && (amd64 || arm64)

package bounds

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in the data that a filter of seccomp(2) sees, on machines that write the lower bytes of a
// number first. Source: struct seccomp_data in linux/seccomp.h.
const (
	offsetNumber       = 0
	offsetArchitecture = 4
	offsetArguments    = 16
	argumentSize       = 8
)

// confine permanently denies the calling thread what a command does not need: network connections, other processes and
// their memory, changes to files, and reads of files that it need not read. Files that are already open stay open.
// The kernel refuses these operations with EPERM or EACCES; if it cannot, confine returns an error.
// A program that the thread starts with execve(2) is confined in the same way.
func confine(c Confinement) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	return errors.Join(restrict(c), filter(c))
}

// filter installs the filter of system calls.
func filter(c Confinement) error {
	assembled, err := bpf.Assemble(program(c))
	if err != nil {
		return err
	}
	raw := make([]unix.SockFilter, len(assembled))
	for i, f := range assembled {
		raw[i] = unix.SockFilter{Code: f.Op, Jt: f.Jt, Jf: f.Jf, K: f.K}
	}
	all := unix.SockFprog{Len: uint16(len(raw)), Filter: &raw[0]}                                                                  //nolint:gosec // a few hundred
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&all))); errno != 0 { //nolint:gosec // as seccomp(2) takes it
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// refuse and allow are the results of the filter for a system call.
var (
	refuse = bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	// absent makes a caller fall back to the older system call, whose arguments the filter sees.
	absent = bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
	allow  = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
)

// program returns the instructions of the filter.
func program(c Confinement) []bpf.Instruction {
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArchitecture, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: architecture, SkipTrue: 1},
		refuse,
		bpf.LoadAbsolute{Off: offsetNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: foreignCalls, SkipTrue: 1},
		refuse,
	}
	// A new thread belongs to this process.
	p = append(p, argument(unix.SYS_CLONE, 0, unix.CLONE_THREAD, allow, refuse)...)
	p = append(p, call(unix.SYS_CLONE3, absent)...)
	refused := processes
	if !c.Connects {
		refused = append(connections, refused...)
	}
	for _, number := range refused {
		p = append(p, call(number, refuse)...)
	}
	if len(c.Changes) == 0 {
		const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
		p = append(p, argument(unix.SYS_OPENAT, 2, writing, refuse, allow)...)
		p = append(p, call(unix.SYS_OPENAT2, absent)...)
		p = append(p, opens(writing)...)
		for _, number := range append(changes, olderChanges...) {
			p = append(p, call(number, refuse)...)
		}
	}
	return append(p, allow)
}

// call returns the filter's instructions for one system call: the filter always answers it with the same result.
func call(number uint32, with bpf.RetConstant) []bpf.Instruction {
	return []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpEqual, Val: number, SkipFalse: 1}, with}
}

// argument returns the filter's instructions for one system call whose result depends on an argument: the result is set if
// any of the bits are set in the argument's lower half, and unset otherwise.
func argument(number uint32, index, bits uint32, set, unset bpf.RetConstant) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: number, SkipFalse: 4},
		bpf.LoadAbsolute{Off: offsetArguments + index*argumentSize, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: bits, SkipFalse: 1},
		set,
		unset,
	}
}

// connections are the system calls that create sockets, or that avoid the calls that the filter sees.
var connections = []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_IO_URING_SETUP}

// processes are the system calls that start other processes, or access their memory.
var processes = append([]uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_BPF, unix.SYS_ADD_KEY, unix.SYS_KEYCTL, unix.SYS_REQUEST_KEY,
}, olderProcesses...)

// changes are the system calls that change files.
var changes = []uint32{
	unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR,
}
