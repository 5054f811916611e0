package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/disk"
)

// A directory on a network file system is refused by that file system's name,
// unless it is asked for.
func TestNetworkFileSystemsAreRefused(t *testing.T) {
	dir := t.TempDir()
	was := statDisk
	defer func() { statDisk = was }()
	statDisk = func(asked string) (disk.Disk, error) {
		if asked != dir {
			t.Errorf("asked of %s, not %s", asked, dir)
		}
		return disk.Disk{Kind: "a file system of this test", Network: true}, nil
	}
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
