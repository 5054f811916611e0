package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/warptune/warptune/tuner"
)

// A directory on a network file system is refused by that file system's name,
// unless it is asked for.
func TestNetworkFileSystemsAreRefused(t *testing.T) {
	dir := t.TempDir()
	var s syscall.Statfs_t
	must(t, syscall.Statfs(dir, &s))
	kind := int64(uint32(s.Type))
	old, was := networkFileSystems[kind]
	networkFileSystems[kind] = "a file system of this test"
	defer func() {
		delete(networkFileSystems, kind)
		if was {
			networkFileSystems[kind] = old
		}
	}()
	path := filepath.Join(dir, "sweeps.db")
	if _, err := Open(path, OpenOptions{}); tuner.KindOf(err) != tuner.Conflict || !strings.Contains(err.Error(), "is on a file system of this test") {
		t.Errorf("it gives %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("it leaves %v", left)
	}
	b, err := Open(path, OpenOptions{AnyFileSystem: true})
	must(t, err)
	must(t, b.Close())
}
