package bounds

import (
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	architecture = unix.AUDIT_ARCH_AARCH64
	// foreignCalls are no calls of this architecture.
	foreignCalls = 0x40000000
)

// The architecture has no older calls.
var (
	olderProcesses []uint32
	olderChanges   []uint32
)

func opens(uint32) []bpf.Instruction { return nil }
