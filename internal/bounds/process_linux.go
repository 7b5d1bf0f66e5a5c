package bounds

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// executable is the path of the running program, even if its file has been replaced.
const executable = "/proc/self/exe"

// thread returns the id of the calling thread.
func thread() int { return unix.Gettid() }

// threadTime returns the CPU time of a thread of this process, or 0 if it has ended. The clock's
// number is computed as in clock_gettime(2) and linux/posix-timers.h.
func threadTime(thread int) time.Duration { return clock(int32(^thread)<<3 | 6) }

// processTime returns the CPU time of all images of the process.
func processTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

// timeKept returns the CPU time with which the next image starts.
func timeKept() time.Duration { return processTime() }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// replaceProcess starts the program again in place of this image and passes on the input that was already
// read. It first calls confine: the next image inherits the restrictions of this thread. It
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
