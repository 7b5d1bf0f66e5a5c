package gitrepo

import (
	"io/fs"
	"syscall"
)

// fillStat sets the fields of a stat that depend on the operating system.
func fillStat(stat *[10]uint32, info fs.FileInfo) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	stat[statCtime], stat[statCtimeNano] = uint32(sys.Ctim.Sec), uint32(sys.Ctim.Nsec)
	stat[statDev], stat[statIno] = uint32(sys.Dev), uint32(sys.Ino)
	stat[statUID], stat[statGID] = sys.Uid, sys.Gid
}
