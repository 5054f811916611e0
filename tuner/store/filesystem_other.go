//go:build !linux

package store

// networkFileSystem cannot tell on this system.
func networkFileSystem(string) string { return "" }
