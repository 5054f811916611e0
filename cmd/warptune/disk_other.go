//go:build !linux

package main

import "errors"

// disk is what a directory is on.
type disk struct {
	kind              string
	network, volatile bool
	size, free        uint64
}

// statDisk is for Linux only.
func statDisk(string) (disk, error) {
	return disk{}, errors.New("it is found out on Linux only")
}
