package boltfile

import (
	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// Release lets go of the file's pages that the process has mapped; they stay
// in the page cache. bbolt reads through the mapping, and with time all of the
// file would count as the process' memory.
func Release(db *bolt.DB) {
	_ = db.View(func(tx *bolt.Tx) error { // the mapping stays where it is meanwhile
		info := db.Info()
		if info.Data != 0 {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, info.Data, uintptr(tx.Size()), unix.MADV_DONTNEED)
		}
		return nil
	})
}
