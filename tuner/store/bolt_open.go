package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/boltfile"
	"github.com/warptune/warptune/tuner/store/disk"
)

// statDisk is exchanged by a test.
var statDisk = disk.Stat

// schemaVersion is the version of the layout that this program writes.
const schemaVersion = 6

// OpenOptions say how Open opens a file; the zero value is for a coordinator.
type OpenOptions struct {
	// Wait is how long to wait for another process to let go; 2 s.
	Wait time.Duration
	// MaxSize bounds the file's size in bytes; 0: the disk does.
	MaxSize int
	// AnyFileSystem allows network file systems, on which neither locks nor
	// syncs can be relied on.
	AnyFileSystem bool
	// Existing makes it an error if there is no file.
	Existing bool
	// Salvage opens a store in which records of sweeps, or bests, are damaged, and
	// nothing else that a store needs: for SalvageSweeps.
	Salvage bool
	// uncounted leaves it to the caller to look whether results are complete.
	uncounted bool
	// asStored refuses an older schema, with ErrOlder, instead of upgrading it.
	asStored bool
}

// ErrOlder says that a file's schema is older than what this program writes.
var ErrOlder = errors.New("this program upgrades it when it opens it to use it")

// Open opens the store in the file at path, or makes one. The file is checked
// before it is used: a damaged one is refused, and left as it is.
func Open(path string, opts OpenOptions) (_ *Bolt, err error) {
	const op = "open store"
	if opts.Wait <= 0 {
		opts.Wait = 2 * time.Second
	}
	defer func() {
		if err != nil {
			err = openError(path, err)
		}
	}()
	if _, err := os.Stat(path); opts.Existing && errors.Is(err, fs.ErrNotExist) {
		return nil, tuner.Errorf(tuner.NotFound, op, "there is no file %s", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	file, err := follow(path)
	if err != nil {
		return nil, err
	}
	if !opts.AnyFileSystem {
		if d, err := statDisk(filepath.Dir(file)); err == nil && d.Network {
			return nil, tuner.Errorf(tuner.Conflict, op, "%s is on %s, where locks and syncs cannot be relied on: use a local disk", path, d.Kind)
		}
	}
	lock, err := boltfile.Lock(file, opts.Wait)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = lock.Close()
		}
	}()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, tuner.Errorf(tuner.Invalid, op, "it is no regular file")
	} else if errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, err
		}
	}
	if err := boltfile.Verify(path); err != nil {
		return nil, err
	}
	b := &Bolt{path: path, lock: lock, salvage: opts.Salvage, log: actLog{most: maxActs, mostBytes: maxActBytes}}
	var opened *os.File
	if err := b.open(opts, &opened); err != nil {
		abandon(opened)
		return nil, err
	}
	if b.file, err = opened.Stat(); err != nil {
		_ = b.db.Close()
		return nil, err
	}
	return b, nil
}

// follow returns the file that a path with symbolic links leads to: whatever it is
// called by, it has one lock. A link to nothing, to a disk that is not there, say,
// is no place for a new file.
func follow(path string) (string, error) {
	file, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	if to, err := os.Readlink(path); err == nil {
		return "", tuner.Errorf(tuner.NotFound, "open store", "it is a link to %s, which does not exist: is its disk there?", to)
	}
	return path, nil
}

// openError says which file could not be opened, and keeps the kind.
func openError(path string, err error) error {
	var known *tuner.Error
	if errors.As(err, &known) {
		return &tuner.Error{Kind: known.Kind, Op: "open " + path, Err: known}
	}
	if errors.Is(err, bolterrors.ErrTimeout) {
		return tuner.Errorf(tuner.Locked, "open "+path, "another process uses the file, by another name: stop it, or use another file")
	}
	kind := tuner.KindOf(translate("", err))
	if errors.Is(err, fs.ErrPermission) {
		kind = tuner.Denied
	}
	return &tuner.Error{Kind: kind, Op: "open store", Err: err}
}

// boltOptions are the same for every file. The free list is rebuilt when the
// file is opened instead of being written with each commit, which otherwise
// grows without bound while a reader is open.
func boltOptions(opts OpenOptions) *bolt.Options {
	return &bolt.Options{
		Timeout: opts.Wait, FreelistType: bolt.FreelistMapType, NoFreelistSync: true, InitialMmapSize: 64 << 20, MaxSize: opts.MaxSize,
	}
}

// abandon lets go of a file over which bbolt may have panicked, and which it may
// have left open, mapped and locked: a lock goes with the mapping otherwise.
func abandon(file *os.File) {
	if file != nil {
		_ = syscall.Flock(int(file.Fd()), syscall.LOCK_UN)
		_ = file.Close()
	}
}

// open opens the file with bbolt; file is what it has opened, also after an
// error.
func (b *Bolt) open(opts OpenOptions, file **os.File) (err error) {
	defer guard("open", &err)()
	with := boltOptions(opts)
	with.OpenFile = func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
		*file, err = os.OpenFile(name, flag, mode)
		return *file, err
	}
	db, err := bolt.Open(b.path, 0o600, with)
	if err != nil {
		return err
	}
	b.db = db
	if err = b.upgrade(migrations, opts.asStored); err == nil && !opts.uncounted {
		err = b.verifyCounts()
	}
	if err != nil {
		_ = db.Close()
		return err
	}
	boltfile.Release(db)
	return nil
}

// create makes an empty store under another name and moves it to path, so that
// a file of that name is complete at any moment.
func create(path string) error {
	temp := fmt.Sprintf("%s.new-%d", path, os.Getpid())
	_ = os.Remove(temp)
	db, err := bolt.Open(temp, 0o600, boltOptions(OpenOptions{Wait: time.Second}))
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range allBuckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		if _, err := indexRoot(tx); err != nil {
			return err
		}
		return putSchema(tx.Bucket(schemaBucket), rand.Text(), strconv.Itoa(schemaVersion))
	})
	if err = errors.Join(err, db.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes a rename in a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
