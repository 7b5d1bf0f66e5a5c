//go:build hostile

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confinedSocket is the file descriptor at which a confined test process sends the one that
// tells of its calls.
const confinedSocket = 3

// confined becomes the program of confinedEnv. The kernel kills it when it starts a process
// or opens a socket, and tells of each file that it opens. It returns only errors.
func confined() error {
	// A filter is a thread's, and the program starts from this one.
	runtime.LockOSThread()
	path, err := unix.BytePtrFromString(os.Getenv(confinedEnv))
	if err != nil {
		return err
	}
	filter, err := filterBut(uintptr(unsafe.Pointer(path)))
	if err != nil {
		return err
	}
	arguments, err := syscall.SlicePtrFromStrings(append([]string{"fleetwright"}, os.Args[1:]...))
	if err != nil {
		return err
	}
	environment, err := syscall.SlicePtrFromStrings(append(strangerEnv(), "PATH=/usr/bin:/bin"))
	if err != nil {
		return err
	}
	// So that the machine holds where the program doesn't.
	for resource, most := range map[int]uint64{unix.RLIMIT_CPU: strangerCores * 2 * uint64(mostTime/time.Second), unix.RLIMIT_AS: 8 << 30} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if err := unix.Sendmsg(confinedSocket, []byte{0}, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return err
	}
	unix.CloseOnExec(confinedSocket)
	_, _, errno = unix.Syscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&arguments[0])), uintptr(unsafe.Pointer(&environment[0])))
	return fmt.Errorf("execve: %w", errno)
}

// filterBut is a seccomp filter that kills a process which forks, starts a program or opens a socket, and reports the files that
// it opens. Only the program whose path is at an address may be started: the command itself.
func filterBut(program uintptr) ([]unix.SockFilter, error) {
	arch := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if arch == 0 {
		return nil, errors.New("no filter for this architecture")
	}
	const number, archOffset, argument = 0, 4, 16 // in struct seccomp_data
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	jump := func(test uint16, value uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value, Jt: yes, Jf: no}
	}
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	kill := end(unix.SECCOMP_RET_KILL_PROCESS)
	filter := []unix.SockFilter{load(archOffset), jump(unix.BPF_JEQ, arch, 1, 0), kill, load(number)}
	for _, watched := range slices.Concat(plainOpens, []uintptr{unix.SYS_OPENAT, unix.SYS_OPENAT2}) {
		filter = append(filter, jump(unix.BPF_JEQ, uint32(watched), 0, 1), end(unix.SECCOMP_RET_USER_NOTIF))
	}
	for _, forbidden := range slices.Concat(forks, []uintptr{
		unix.SYS_EXECVEAT, unix.SYS_CLONE3, unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND,
		unix.SYS_PTRACE, unix.SYS_MOUNT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_IO_URING_SETUP,
	}) {
		filter = append(filter, jump(unix.BPF_JEQ, uint32(forbidden), 0, 1), kill)
	}
	return append(filter,
		jump(unix.BPF_JEQ, unix.SYS_EXECVE, 0, 5),
		load(argument), jump(unix.BPF_JEQ, uint32(program), 0, 2),
		load(argument+4), jump(unix.BPF_JEQ, uint32(uint64(program)>>32), 5, 0),
		kill,
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 3),
		load(argument), jump(unix.BPF_JSET, unix.CLONE_THREAD, 1, 0),
		kill,
		end(unix.SECCOMP_RET_ALLOW),
	), nil
}

// runConfined runs a confined command and returns the files that it opened, and the most memory, in bytes, that it was seen to
// hold. The error is that of the command, or says why it could not be confined.
func runConfined(cmd *exec.Cmd) (files []opened, peak int64, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, 0, err
	}
	ours, theirs := pair[0], os.NewFile(uintptr(pair[1]), "confined")
	defer func() { _ = unix.Close(ours) }()
	cmd.ExtraFiles = []*os.File{theirs} // the first becomes confinedSocket
	var complaint bytes.Buffer
	if cmd.Stderr == nil {
		cmd.Stderr = &complaint
	}
	err = errors.Join(cmd.Start(), theirs.Close())
	if err != nil {
		return nil, 0, err
	}
	listener, err := receiveFile(ours)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w: %s", err, cmd.Wait(), &complaint)
	}
	var over atomic.Bool
	watched := make(chan error)
	go func() {
		var err error
		files, err = watchOpens(listener, &over)
		watched <- errors.Join(err, unix.Close(listener))
	}()
	measured := make(chan int64)
	go func() {
		most := int64(0)
		for ; !over.Load(); time.Sleep(5 * time.Millisecond) {
			most = max(most, peakMemory(cmd.Process.Pid))
		}
		measured <- most
	}()
	err = cmd.Wait()
	over.Store(true)
	return files, <-measured, errors.Join(err, <-watched)
}

func receiveFile(socket int) (int, error) {
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(socket, make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil {
		return 0, err
	}
	if len(messages) == 0 {
		return 0, errors.New("the process ended before it was confined")
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return 0, err
	}
	return files[0], nil
}

// notification and answer are struct seccomp_notif and seccomp_notif_resp of linux/seccomp.h.
type notification struct {
	id           uint64
	pid, flags   uint32
	number, arch int32
	at           uint64
	arguments    [6]uint64
}

type answer struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// watchOpens lets every call pass that the listener tells of, until the process is over.
func watchOpens(listener int, over *atomic.Bool) ([]opened, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// Newer kernels can switch to the other side at once.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	var files []opened
	for {
		poll := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		ended := over.Load()
		n, err := unix.Poll(poll, 50)
		switch {
		case err == unix.EINTR, err == nil && n == 0 && !ended:
			continue
		case err != nil || poll[0].Revents&unix.POLLIN == 0:
			return files, err
		}
		var call notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&call))); errno != 0 {
			if errno == unix.ENOENT || errno == unix.EINTR {
				continue // the thread is gone
			}
			return files, errno
		}
		file := call.opens()
		// Where the thread has ended meanwhile, the call opens nothing, and what was read of its memory
		// may be anything.
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_ID_VALID, uintptr(unsafe.Pointer(&call.id))); errno != 0 {
			if errno == unix.ENOENT || errno == unix.EINTR {
				continue
			}
			return files, errno
		}
		files = append(files, file)
		pass := answer{id: call.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&pass))); errno != 0 && errno != unix.ENOENT {
			return files, errno
		}
	}
}

// opens is the file that a call opens.
func (n *notification) opens() opened {
	path, flags, dir := n.arguments[1], n.arguments[2], fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(n.arguments[0]))
	switch {
	case slices.Contains(plainOpens, uintptr(n.number)):
		path, flags, dir = n.arguments[0], n.arguments[1], fmt.Sprintf("/proc/%d/cwd", n.pid)
		if n.number == int32(plainOpens[1]) { // creat
			flags = unix.O_WRONLY
		}
	case n.number == unix.SYS_OPENAT2:
		flags = binary.NativeEndian.Uint64(append(n.memory(flags, 8), make([]byte, 8)...))
	}
	if int32(n.arguments[0]) == unix.AT_FDCWD {
		dir = fmt.Sprintf("/proc/%d/cwd", n.pid)
	}
	text, _, _ := strings.Cut(string(n.memory(path, unix.PathMax)), "\x00")
	follow := flags&unix.O_NOFOLLOW == 0
	if !filepath.IsAbs(text) {
		at, err := os.Readlink(dir)
		if err != nil {
			at = dir
		}
		if !follow && !strings.Contains(text, "/") && text != ".." {
			return opened{filepath.Join(at, text), written(flags)}
		}
		text = at + "/" + text
	}
	return opened{followed(text, follow), written(flags)}
}

func written(flags uint64) bool { return flags&(unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT) != 0 }

// followed is where a path leads, its links followed; what it ends in may be left.
func followed(path string, all bool) string {
	if strings.HasPrefix(path, "/proc/") { // its links differ from process to process
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && all {
		return real
	}
	dir, name := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil && name != ".." {
		return filepath.Join(real, name)
	}
	return filepath.Clean(path)
}

// memory reads up to size bytes of the calling process.
func (n *notification) memory(address uint64, size int) []byte {
	var data []byte
	for len(data) < size { // a page at a time, as the next may not be there
		part := make([]byte, min(size-len(data), 4096-int(address%4096)))
		remote := []unix.RemoteIovec{{Base: uintptr(address), Len: len(part)}}
		got, err := unix.ProcessVMReadv(int(n.pid), []unix.Iovec{{Base: &part[0], Len: uint64(len(part))}}, remote, 0)
		if err != nil || got <= 0 {
			break
		}
		data = append(data, part[:got]...)
		if bytes.IndexByte(part[:got], 0) >= 0 && size > 8 {
			break
		}
		address += uint64(got)
	}
	return data
}

// wasKilled says whether the kernel ended a confined process.
func wasKilled(state *os.ProcessState) bool {
	return state.Sys().(syscall.WaitStatus).Signal() == unix.SIGSYS
}

// peakMemory returns the most memory, in bytes, that a process has held so far, 0 if it has ended. What the kernel reports when
// it ends also counts the process that started it.
func peakMemory(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kB int64
	_, _ = fmt.Sscan(string(rest), &kB)
	return kB << 10
}
