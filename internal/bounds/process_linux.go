package bounds

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// executable is the running program, even where its file was replaced meanwhile.
const executable = "/proc/self/exe"

// thread is the calling thread.
func thread() int { return unix.Gettid() }

// threadTime is the CPU time of a thread of this process, 0 where it has ended. The number of its
// clock is made as clock_gettime(2) and linux/posix-timers.h say.
func threadTime(thread int) time.Duration { return clock(int32(^thread)<<3 | 6) }

// processTime is the CPU time of the process, of all its images.
func processTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// timeKept is the CPU time that the next image begins with.
func timeKept() time.Duration { return processTime() }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// replaceProcess starts the program again in place of this image, with the input that was read
// already. It is confined before: the thread that becomes the next image hands down what it may not do. It
// returns only errors.
func replaceProcess(read []byte, environment []string, confine func()) error {
	if len(read) > 0 {
		// A file in memory: the input may hold secrets, which no temporary folder may.
		fd, err := unix.MemfdCreate("stdin", 0)
		if err != nil {
			return fmt.Errorf("stdin cannot be read again: %w", err)
		}
		file := os.NewFile(uintptr(fd), "stdin")
		if _, err := file.Write(read); err != nil {
			return err
		}
		if _, err := file.Seek(0, 0); err != nil {
			return err
		}
		if err := unix.Dup3(fd, 0, 0); err != nil {
			return err
		}
	}
	runtime.LockOSThread()
	confine()
	return syscall.Exec(executable, os.Args, environment)
}
