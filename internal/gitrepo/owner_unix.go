//go:build unix

package gitrepo

import (
	"os"
	"strconv"
	"syscall"
)

// userID returns the effective user id; tests replace it.
var userID = os.Geteuid

// ownedByUser reports whether a file belongs to the user. If root was started through sudo, files
// of the user who called sudo also count.
// Source: git's compat/../git-compat-util.h, is_path_owned_by_current_uid.
func ownedByUser(path string, env func(string) string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	user := userID()
	if user == 0 && stat.Uid == 0 {
		return true
	}
	if user == 0 {
		if id, err := strconv.ParseUint(env("SUDO_UID"), 10, 32); err == nil {
			user = int(id)
		}
	}
	return int64(stat.Uid) == int64(user)
}
