package faults

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner/tunertest"
)

// disk is a file system of its own in a file. The kernel writes to the file
// what is synced; what is not stays in memory for as long as it can.
type disk struct {
	image, dir string
}

// newDisk makes a disk, or skips the test where that is not permitted.
func newDisk(t *testing.T, megabytes int64) *disk {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("a disk of its own needs loop mounts: run as root on Linux")
	}
	for _, tool := range []string{"mkfs.ext4", "e2fsck", "mount", "umount", "cp"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("a disk of its own needs e2fsprogs and mount: ", err)
		}
	}
	d := &disk{image: filepath.Join(t.TempDir(), "disk")}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, megabytes<<20); err != nil {
		t.Fatal(err)
	}
	command(t, "mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", d.image)
	d.mount(t)
	return d
}

// mount mounts the disk until the test's end.
func (d *disk) mount(t *testing.T) {
	t.Helper()
	d.dir = t.TempDir()
	if out, err := exec.Command("mount", "-o", "loop,commit=1000", d.image, d.dir).CombinedOutput(); err != nil {
		t.Skipf("loop mounts are not permitted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if d.dir != "" { // also while somebody uses it, if the test has failed
			command(t, "umount", "-l", d.dir)
		}
	})
}

func (d *disk) unmount(t *testing.T) {
	command(t, "umount", d.dir)
	d.dir = ""
}

// cut returns the disk as it is after a power cut now: what was not synced is
// lost, and the file system is repaired as at a start.
func (d *disk) cut(t *testing.T) *disk {
	t.Helper()
	c := &disk{image: filepath.Join(t.TempDir(), "disk")}
	command(t, "cp", "--sparse=always", d.image, c.image)
	var exit *exec.ExitError
	out, err := exec.Command("e2fsck", "-fp", c.image).CombinedOutput()
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1: errors corrected
		t.Fatalf("e2fsck: %v: %s", err, out)
	}
	c.mount(t)
	return c
}

func (d *disk) store() string { return filepath.Join(d.dir, "sweeps.db") }

func command(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// While the disk is full nothing is acknowledged and the sweep pauses; when
// there is space it goes on by itself, in the same process.
func TestDiskFull(t *testing.T) {
	d := newDisk(t, 32)
	s := newSweep(t, d.store(), tunertest.Bundle{Size: int64(12000 * tunertest.Times(1, 10)), Batch: 40})
	s.took = 20 * time.Millisecond // the file has room for some 1,000 to 2,000 results without taking more of the disk
	f := s.fleet(t, never, func() (role, []string) { return s.coordinator(), nil })
	p := f.up(t)
	for range tunertest.Times(1, 10) {
		ballast, err := os.Create(filepath.Join(d.dir, "ballast"))
		for piece := make([]byte, 1<<20); err == nil; {
			_, err = ballast.Write(piece)
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		p.says(t, "no space left on device")
		time.Sleep(500 * time.Millisecond) // calls are refused meanwhile
		ballast.Close()
		if err := os.Remove(ballast.Name()); err != nil {
			t.Fatal(err)
		}
		p.says(t, "the store takes changes again")
	}
	s.calm()
	f.wait(t)
	if n := f.coordinator.died(); n != 0 {
		t.Errorf("the coordinator died %d times", n)
	}
	s.verdict(t)
}
