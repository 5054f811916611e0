package rpc

import (
	"io/fs"
	"syscall"
	"testing"
	"time"
)

type file struct {
	mode fs.FileMode
	uid  uint32
}

func (file) Name() string        { return "key" }
func (file) Size() int64         { return 1 }
func (f file) Mode() fs.FileMode { return f.mode }
func (file) ModTime() time.Time  { return time.Time{} }
func (file) IsDir() bool         { return false }
func (f file) Sys() any          { return &syscall.Stat_t{Uid: f.uid} }

func TestPrivate(t *testing.T) {
	for f, want := range map[file]bool{
		{0o600, 1000}: true, {0o400, 1000}: true, {0o640, 1000}: false, {0o440, 1000}: false, {0o604, 1000}: false,
		{0o600, 0}: true, {0o440, 0}: true, {0o640, 0}: true, {0o660, 0}: false, {0o444, 0}: false, {0o644, 0}: false, {0o450, 0}: false,
	} {
		if got := private(f); got != want {
			t.Errorf("mode %v of user %d: %v, want %v", f.mode, f.uid, got, want)
		}
	}
}
