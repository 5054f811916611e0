//go:build !linux

package boltfile

import bolt "go.etcd.io/bbolt"

// Release does nothing where it is not known how.
func Release(*bolt.DB) {}
