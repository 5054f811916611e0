package rpc

import (
	"io/fs"
	"syscall"
)

// private reports whether nobody but this process' user may read a file; or,
// for a file of root's, its group, which is how Kubernetes hands a secret to a
// process that is not root.
func private(info fs.FileInfo) bool {
	perm := info.Mode().Perm()
	if perm&0o077 == 0 {
		return true
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && perm&0o037 == 0
}
