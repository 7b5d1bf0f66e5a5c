package bounds

import (
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	architecture = unix.AUDIT_ARCH_AARCH64
	// foreignCalls is the first number that is no system call of this architecture.
	foreignCalls = 0x40000000
)

// The architecture has no older system calls.
var (
	olderProcesses []uint32
	olderChanges   []uint32
)

func opens(uint32) []bpf.Instruction { return nil }
