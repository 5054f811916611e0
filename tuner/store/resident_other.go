//go:build !linux

package store

import bolt "go.etcd.io/bbolt"

// release does nothing where it is not known how.
func release(*bolt.DB) {}
