// Package disk says what kind of file system a directory is on, and how full it is.
package disk

// Disk is what a directory is on.
type Disk struct {
	Kind     string // ext4, NFS, …
	Network  bool   // flock and fsync do not mean there what bbolt needs
	Volatile bool   // in memory: lost when the machine restarts
	// Size and Free are bytes; Free is for who asks.
	Size, Free uint64
}
