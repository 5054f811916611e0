//go:build !linux

package disk

import "errors"

// Stat is for Linux only.
func Stat(string) (Disk, error) {
	return Disk{}, errors.New("it is found out on Linux only")
}
