package store

import "syscall"

// networkFileSystems are the magic numbers of statfs(2) of file systems on
// which flock and fsync do not mean what bbolt needs.
var networkFileSystems = map[int64]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xff534d42: "CIFS",
	0xfe534d42: "SMB2",
	0x0bd00bd0: "Lustre",
	0x47504653: "GPFS",
	0x01021997: "9P",
	0x5346414f: "AFS",
	0x00c36400: "Ceph",
}

// networkFileSystem returns the name of the network file system that a
// directory is on, or "".
func networkFileSystem(dir string) string {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return ""
	}
	return networkFileSystems[int64(uint32(s.Type))]
}
