//go:build amd64 || arm64

package bounds

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The Landlock access rights: to read files and folders, and to change them.
// Source: https://docs.kernel.org/userspace-api/landlock.html, "Filesystem flags".
const (
	reading  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	changing = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	ofFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE
	// referTruncate is the first version of Landlock that knows all of these rights.
	referTruncate = 3
)

// restrict limits the calling thread to the files that a confinement names and those of its own program. A
// command that changes no files needs no rules for that: the filter of system calls refuses all changes.
func restrict(c Confinement) error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	var handled unix.LandlockRulesetAttr
	if c.Reads != nil {
		handled.Access_fs |= reading
	}
	if len(c.Changes) > 0 {
		if version < referTruncate {
			return fmt.Errorf("landlock: version %d knows no rules for what is renamed", version)
		}
		handled.Access_fs |= changing
	}
	if handled.Access_fs == 0 {
		return nil
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&handled)), unsafe.Sizeof(handled.Access_fs), 0) //nolint:gosec // as landlock_create_ruleset(2) takes it
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	rules := ruleset{fd: fd, handled: handled.Access_fs}
	defer func() { _ = unix.Close(int(fd)) }()
	for _, path := range slices.Concat(programFiles(), systemFiles, c.Reads) {
		if err := rules.allow(path, reading); err != nil {
			return err
		}
	}
	for _, path := range c.Changes {
		if err := rules.allow(path, reading|changing); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

// ruleset is a Landlock ruleset, and the access rights that it refuses unless a rule allows them.
type ruleset struct {
	fd      uintptr
	handled uint64
}

// allow adds a rule for a file, or for a folder and everything below it. A file that does not exist, or that
// the process cannot read anyway, needs no rule.
func (r ruleset) allow(path string, access uint64) error {
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return err
	}
	if access &= r.handled; info.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= ofFiles
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)} //nolint:gosec // a file descriptor
	if access == 0 {
		return nil
	}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, r.fd, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 { //nolint:gosec // as landlock_add_rule(2) takes it
		return fmt.Errorf("landlock: %s: %w", path, errno)
	}
	return nil
}

// systemFiles are the system's files that a program reads for the local time.
var systemFiles = []string{"/etc/localtime", "/usr/share/zoneinfo"}

// programFiles returns the files of this program: the process starts it again. A dynamically linked
// program also has libraries, and the system's list of them.
func programFiles() []string {
	files := map[string]bool{executable: true}
	mapped, _ := os.ReadFile("/proc/self/maps") // without it, a static program starts again all the same
	for line := range strings.Lines(string(mapped)) {
		if at := strings.IndexByte(line, '/'); at >= 0 {
			files[strings.TrimSuffix(line[at:], "\n")] = true
		}
	}
	if len(files) > 2 {
		files["/etc/ld.so.cache"] = true
	}
	return slices.Sorted(maps.Keys(files))
}
