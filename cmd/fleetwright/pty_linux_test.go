package main

import (
	"fmt"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal returns the terminal's side of a new pseudo-terminal, and a function that closes it
// and returns what was written to it.
func onTerminal(t *testing.T) (*os.File, func() string) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	ours := os.NewFile(uintptr(fd), "ptmx")
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		got, _ := io.ReadAll(ours) // it ends with an error once the other side is closed
		text <- string(got)
	}()
	return terminal, func() string {
		_ = terminal.Close()
		defer ours.Close()
		return <-text
	}
}
