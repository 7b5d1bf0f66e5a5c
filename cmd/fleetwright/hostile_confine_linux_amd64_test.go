//go:build hostile

package main

import "golang.org/x/sys/unix"

// forks are the system calls that fork, but for clone.
var forks = []uintptr{unix.SYS_FORK, unix.SYS_VFORK}

// plainOpens are the system calls that open a path which is their first argument.
var plainOpens = []uintptr{unix.SYS_OPEN, unix.SYS_CREAT}
