package disk_test

import (
	"path/filepath"
	"testing"

	"github.com/warptune/warptune/tuner/store/disk"
)

// A directory is on something of a size, and one that is not there on nothing.
func TestStat(t *testing.T) {
	dir := t.TempDir()
	d, err := disk.Stat(dir)
	if err != nil {
		t.Skip(err)
	}
	if d.Kind == "" || d.Size == 0 || d.Free > d.Size {
		t.Errorf("%s is on %+v", dir, d)
	}
	if d, err := disk.Stat(filepath.Join(dir, "none")); err == nil || d != (disk.Disk{}) {
		t.Errorf("no directory is on %+v, %v", d, err)
	}
}
