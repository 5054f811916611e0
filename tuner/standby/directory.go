package standby

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// directory is an Arbiter in a directory that both nodes see. The record is the name
// of the only file in a directory in it:
//
//	DIR/warptune.lease/17.alpha_x7k2.beta_9d3f.QW12ER56
//
// A swap renames the file, which the file system does for one of two who try, since
// the old name is there for one only; over NFS the server does it. What a client's
// cache shows may be old: then its swap fails. The first record comes into being with
// its directory, by a rename that fails where there is one that is not empty.
type directory struct{ dir string }

// recordDir is the name of the directory with the record.
const recordDir = "warptune.lease"

// Directory returns the arbiter in a directory, which must exist: its volume may not
// be there.
func Directory(dir string) Arbiter { return directory{dir} }

// glances is how often a directory is read that shows no record, as one does while
// its file is renamed, on some file systems.
const glances = 5

// Read is in Arbiter.
func (d directory) Read(context.Context) (Record, error) {
	at := filepath.Join(d.dir, recordDir)
	for n := 1; ; n++ {
		entries, err := os.ReadDir(at)
		if errors.Is(err, fs.ErrNotExist) {
			if info, err := os.Stat(d.dir); err != nil {
				return Record{}, tuner.Errorf(tuner.NotFound, "read the lease", "%w: is its volume there? Make the directory, on a volume that both coordinators see", err)
			} else if !info.IsDir() {
				return Record{}, tuner.Errorf(tuner.Invalid, "read the lease", "%s is no directory", d.dir)
			}
			return Record{}, nil
		} else if err != nil {
			return Record{}, err
		}
		var newest Record
		for _, e := range entries {
			if r, ok := ParseRecord(e.Name()); ok && r.Term > newest.Term { // two names of one file, say
				newest = r
			}
		}
		if newest.Term > 0 {
			return newest, nil
		}
		if n == glances {
			return Record{}, tuner.Errorf(tuner.Damaged, "read the lease", "%s has no file that is a record: stop both coordinators; remove it, and the one with the newest database makes it anew by \"coordinator promote\"", at)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Create is in Arbiter.
func (d directory) Create(_ context.Context, first Record) (bool, error) {
	made, err := os.MkdirTemp(d.dir, ".lease-*")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(made)
	if err := os.Chmod(made, 0o755); err != nil {
		return false, err
	}
	f, err := os.OpenFile(filepath.Join(made, first.String()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return false, err
	}
	if err := errors.Join(f.Sync(), f.Close(), store.SyncDir(made)); err != nil {
		return false, err
	}
	err = os.Rename(made, filepath.Join(d.dir, recordDir))
	switch {
	case err == nil:
		return true, store.SyncDir(d.dir)
	case errors.Is(err, fs.ErrExist): // or is not empty
		return false, nil
	}
	return false, err
}

// Swap is in Arbiter.
func (d directory) Swap(ctx context.Context, old, next Record) (bool, error) {
	at := filepath.Join(d.dir, recordDir)
	err := os.Rename(filepath.Join(at, old.String()), filepath.Join(at, next.String()))
	if errors.Is(err, fs.ErrNotExist) {
		// It was done, if a server's answer was lost and the client asked again.
		now, err := d.Read(ctx)
		if err != nil || now != next {
			return false, err
		}
	} else if err != nil {
		return false, err
	}
	return true, store.SyncDir(at)
}
